package gateway

import (
	"context"
	"errors"
	"iter"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/archive/replay"
	"github.com/fetch1738/fetch1738/fetch"
)

// TestArchive tests the first page for an archive and that of a search.
func TestArchive(t *testing.T) {
	s := start(t, func(h *Handler) {
		h.Prefix = "/net"
		h.Archive = &Archive{
			About: "The captures as of 1994-12-01.",
			Sites: []Site{
				{"ftp://ftp.example.org/", []string{"ftp://ftp.example.org/"}}, {"gopher://gopher.example.org:7070/", nil},
				{"http://www.example.org/", []string{"http://www.example.org/"}}, {"news:", []string{"news:*", "news:comp.lang.c"}},
				{"nntp://news.example.org/", []string{"nntp://news.example.org/comp.lang.c"}},
			},
			Search: func(_ context.Context, _ time.Time, words string) iter.Seq2[Hit, error] {
				return func(yield func(Hit, error) bool) {
					captured := time.Date(1994, 12, 1, 0, 0, 0, 0, time.UTC)
					switch words {
					case "many":
						for i := 0; yield(Hit{URL: "ftp://h.example/" + strconv.Itoa(i), Time: captured}, nil); i++ {
						}
					case "<b>":
						_ = yield(Hit{URL: "gopher://h.example/0x", Title: "\x1b<b>", Time: captured}, nil) &&
							yield(Hit{URL: "http://h.example/", Title: "A page", Time: captured}, nil) &&
							yield(Hit{}, errors.New("a <broken> index"))
					}
				}
			},
		}
	})
	for _, path := range []string{"", "?q=%3Cb%3E", "?q=nothing"} {
		res, body := get(t, s, "/net/"+path)
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, res.Status)
		}
		goldenPage(t, "archive/first"+strings.NewReplacer("?q=", "-", "%3Cb%3E", "b").Replace(path)+".html", body)
	}
	if _, body := get(t, s, "/net/?q=many"); strings.Count(body, "<time") != maxArchiveHits || !strings.Contains(body, "There are more") {
		t.Errorf("%d hits", strings.Count(body, "<time"))
	}
	for path, want := range map[string]string{"/net/open?url=http%3A%2F%2Fwww.example.org%2F": "have pages here", "/net/mailto/a@b": "not send mail"} {
		if _, body := get(t, s, path); !strings.Contains(body, want) || strings.Contains(body, `href="http`) {
			t.Errorf("%s:\n%s", path, body)
		}
	}
}

// TestArchiveNeverConnects tests that the pages of an archive come from it, lead to no server of
// today, and need no connection.
func TestArchiveNeverConnects(t *testing.T) {
	a := captured(t, []record{
		{url: "gopher://h.example/", mediaType: "application/gopher-menu", content: "0A text\t/text\th.example\t70\r\nhA page\tURL:http://h.example/\th.example\t70\r\n" +
			"1Lost\t/lost\tlost.example\t70\r\n"},
		{url: "gopher://h.example/0/text", content: "see http://h.example/ and ftp://h.example/dir/\r\n"},
		{url: "ftp://h.example/dir/", content: "-rw-r--r-- 1 ftp ftp 5 Dec  1  1994 file\r\n-rw-r--r-- 1 ftp ftp 5 Dec  1  1994 lost\r\n"},
		{url: "ftp://h.example/dir/file", content: "12345"},
		{url: "ftp://h.example/whole/", content: "-rw-r--r-- 1 ftp ftp 5 Dec  1  1994 file\r\n"},
		{url: "ftp://h.example/whole/file", content: "12345"},
		{url: "gophers://10.0.0.1:7070/0text", content: "of a private address\r\n"},
	})
	past, err := replay.New(a, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	defer past.Close()
	resolver := past.Resolver()
	resolver.Env.Limits = Limits()
	resolver.Env.Dial = func(_ context.Context, network, address string) (net.Conn, error) {
		t.Errorf("a connection to %s %s", network, address)
		return nil, &fetch.Error{Kind: fetch.ErrUnreachable}
	}
	s := start(t, func(h *Handler) { h.Resolver, h.Archive = resolver, new(Archive) })
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/gopher/h.example/":               {200, `href="/gopher/h.example/0/text"`},
		"/gopher/h.example/0/text":         {200, `href="/ftp/h.example/dir/"`},
		"/gopher/h.example/0/none":         {404, "The archive has no capture of"},
		"/gopher/lost.example/1/lost":      {404, "The archive has nothing of this server."},
		"/ftp/h.example/dir/":              {200, `href="./file"`},
		"/ftp/h.example/dir/file":          {200, "12345"},
		"/ftp/h.example/dir/lost":          {404, "The archive has no capture of"},
		"/ftp/h.example/whole/?tar":        {200, "12345"},
		"/gophers/10.0.0.1:7070/0text":     {200, "of a private address"},
		"/gopher/h.example/?explain":       {200, "h.example"},
		"/telnet/h.example/":               {200, "does not connect"},
		"/file/etc/passwd":                 {403, "refuses"},
		"/url?u=http%3A%2F%2Fh.example%2F": {400, "Only URLs of ftp"},
	} {
		res, body := get(t, s, path)
		if res.StatusCode != want.status || !strings.Contains(body, want.text) || strings.Contains(body, `href="http`) {
			t.Errorf("%s: %s, want %d and %q\n%s", path, res.Status, want.status, want.text, body)
		}
	}
}
