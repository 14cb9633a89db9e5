package gateway

import (
	"context"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	captures "github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/replay"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/fetch"
)

// TestArchive tests the first page for an archive and that of a search.
func TestArchive(t *testing.T) {
	s := start(t, func(h *Handler) {
		h.Prefix = "/net"
		h.Archive = &Archive{
			About: "The captures as of 1994-12-01.",
			Sites: []string{"ftp://ftp.example.org/", "gopher://gopher.example.org:7070/", "http://www.example.org/"},
			Search: func(_ context.Context, words string) iter.Seq2[Hit, error] {
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
	dir := t.TempDir()
	w, err := warc.Create(dir, warc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for url, content := range map[string][2]string{
		"gopher://h.example/": {"application/gopher-menu", "0A text\t/text\th.example\t70\r\nhA page\tURL:http://h.example/\th.example\t70\r\n" +
			"1Lost\t/lost\tlost.example\t70\r\n"},
		"gopher://h.example/0/text":     {"text/plain", "see http://h.example/ and ftp://h.example/dir/\r\n"},
		"ftp://h.example/dir/":          {"text/plain", "-rw-r--r-- 1 ftp ftp 5 Dec  1  1994 file\r\n-rw-r--r-- 1 ftp ftp 5 Dec  1  1994 lost\r\n"},
		"ftp://h.example/dir/file":      {"text/plain", "12345"},
		"ftp://h.example/whole/":        {"text/plain", "-rw-r--r-- 1 ftp ftp 5 Dec  1  1994 file\r\n"},
		"ftp://h.example/whole/file":    {"text/plain", "12345"},
		"gophers://10.0.0.1:7070/0text": {"text/plain", "of a private address\r\n"},
	} {
		block := warc.NewBlock()
		defer block.Close()
		io.WriteString(block, content[1])
		err := w.Write(warc.Draft{Block: block, Header: warc.Header{{Name: warc.FieldType, Value: "resource"}, {Name: warc.FieldTargetURI, Value: url}, {Name: warc.FieldContentType, Value: content[0]}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := captures.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
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
		"/gopher/h.example/0/none":         {404, "the archive has no capture of it"},
		"/gopher/lost.example/1/lost":      {404, "the archive has no capture of a server at gopher://lost.example:70"},
		"/ftp/h.example/dir/":              {200, `href="./file"`},
		"/ftp/h.example/dir/file":          {200, "12345"},
		"/ftp/h.example/dir/lost":          {404, "The archive has no capture of it."},
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
