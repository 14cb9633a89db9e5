package replay_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/replay"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/testserver"
)

// A record is a capture to be written. That of http has its head in the body.
type capture struct{ url, mediaType, body, truncated, date string }

// writeArchive writes captures to a folder.
func writeArchive(t testing.TB, captures ...capture) string {
	t.Helper()
	dir := t.TempDir()
	w, err := warc.Create(dir, warc.Options{Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range captures {
		block := warc.NewBlock()
		defer block.Close()
		h := warc.Header{{Name: warc.FieldType, Value: "resource"}, {Name: warc.FieldTargetURI, Value: c.url}, {Name: warc.FieldContentType, Value: c.mediaType},
			{Name: warc.FieldTruncated, Value: c.truncated}, {Name: warc.FieldDate, Value: c.date}}
		if head, body, ok := strings.Cut(c.body, "\r\n\r\n"); ok && strings.HasPrefix(c.url, "http") {
			h.Set(warc.FieldType, "response")
			h.Set(warc.FieldContentType, "application/http;msgtype=response")
			io.WriteString(block, head+"\r\n\r\n")
			block.StartPayload()
			c.body = body
		}
		io.WriteString(block, c.body)
		if err := w.Write(warc.Draft{Header: h, Block: block}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

const gopherMenu = "application/gopher-menu"

// bodyOf returns what a URL has.
func bodyOf(t testing.TB, r *fetch1738.Resolver, url string) (string, error) {
	t.Helper()
	res, err := r.Get(t.Context(), url)
	if err != nil {
		return "", err
	}
	defer res.Close()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

// TestReplayBreaksOff tests that a capture that is not complete, or was damaged, is never a document
// with a clean end, and that all octets that there are of an incomplete one are sent.
func TestReplayBreaksOff(t *testing.T) {
	const head = "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\n"
	urls := []string{"ftp://h.example/file", "gopher://h.example/9file", "gopher://h.example/0file", "gopher://h.example/9file%09%09+", "http://h.example/file"}
	var cut, whole []capture
	for _, u := range urls {
		c := capture{url: u, mediaType: "text/plain", body: "0123456789abcdef\r\n"}
		if strings.HasPrefix(u, "http") {
			c.body = head + c.body
		}
		whole = append(whole, c)
		c.truncated = "disconnect"
		cut = append(cut, c)
	}
	_, r := openReplay(t, writeArchive(t, cut...))
	for _, u := range urls {
		body, err := bodyOf(t, r, u)
		if err == nil || !strings.HasPrefix("0123456789abcdef\r\n", body) {
			t.Errorf("incomplete %s: %q, %v", u, body, err)
		}
	}
	dir := writeArchive(t, whole...)
	names, err := filepath.Glob(filepath.Join(dir, "*.warc"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(names[0], []byte(strings.ReplaceAll(string(data), "9abcdef", "9abcdeX")), 0o600); err != nil {
		t.Fatal(err)
	}
	_, r = openReplay(t, dir)
	for _, u := range urls {
		if body, err := bodyOf(t, r, u); err == nil || strings.Contains(body, "X\r\n") {
			t.Errorf("damaged %s: %q, %v", u, body, err)
		}
	}
}

// TestReplayErrors tests what the errors for what the archive does not have say.
func TestReplayErrors(t *testing.T) {
	_, r := openReplay(t, writeArchive(t,
		capture{url: "ftp://h.example/pub/file", mediaType: "text/plain", body: "x"},
		capture{url: "gopher://h.example/0file", mediaType: "text/plain", body: "x"},
		capture{url: "http://h.example/file", body: "HTTP/1.0 200 OK\r\n\r\nx"}))
	for u, want := range map[string]string{
		"ftp://h.example/none":            "The archive has no capture of it.",
		"ftp://h.example:2121/pub/file":   "the archive has no capture of a server at ftp://h.example:2121",
		"gopher://h.example/0none":        "the archive has no capture of it",
		"gopher://h.example/0none%09%09+": "the archive has no capture of it",
		"gopher://h.example/0file%09%09!": "the archive has no attributes of it",
		"gopher://other.example/":         "the archive has no capture of a server at gopher://other.example:70",
		"http://h.example/none":           "404",
		"http://127.0.0.1/":               "the archive has no capture of a server at http://127.0.0.1:80",
	} {
		if body, err := bodyOf(t, r, u); !errors.Is(err, fetch.ErrNotFound) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", u, body, err)
		}
	}
	for _, u := range []string{"file:///etc/passwd", "telnet://h.example/", "mailto:a@h.example"} {
		if _, err := bodyOf(t, r, u); !errors.Is(err, fetch.ErrUnsupported) {
			t.Errorf("%s: %v", u, err)
		}
	}
}

// TestReplayAt tests that each time has its captures, in each way in which URLs are written.
func TestReplayAt(t *testing.T) {
	a := openArchive(t, writeArchive(t,
		capture{url: "gopher://H.example/0file", mediaType: "text/plain", body: "first", date: "1994-12-01T00:00:00Z"},
		capture{url: "gopher://H.example/0file", mediaType: "text/plain", body: "second", date: "1995-12-01T00:00:00Z"},
		capture{url: "gopher://H.example:70/0explicit", mediaType: "text/plain", body: "port", date: "1995-12-01T00:00:00Z"},
		capture{url: "ftp://h.example/%2Fabs/file", mediaType: "text/plain", body: "absolute", date: "1995-12-01T00:00:00Z"},
		capture{url: "ftp://h.example/r%E9sum%E9", mediaType: "text/plain", body: "Latin-1", date: "1995-12-01T00:00:00Z"},
		capture{url: "ftp://h.example/typed;type=i", mediaType: "text/plain", body: "typed", date: "1995-12-01T00:00:00Z"}))
	for at, want := range map[string]string{"1990-01-01": "first", "1995-01-01": "first", "1996-01-01": "second"} {
		when, _ := time.Parse(time.DateOnly, at)
		past, err := replay.New(a, when)
		if err != nil {
			t.Fatal(err)
		}
		r := past.Resolver()
		for u, want := range map[string]string{
			"gopher://h.example/0file": want, "gopher://h.EXAMPLE:70/0file": want, "gopher://h.example/0explicit": "port",
			"ftp://h.example/%2Fabs/file": "absolute", "ftp://h.example/abs/file": "absolute", "ftp://h.example/typed": "typed", "ftp://h.example/r%E9sum%E9": "Latin-1",
		} {
			if got, err := bodyOf(t, r, u); got != want || err != nil {
				t.Errorf("%s at %s: %q, %v, want %q", u, at, got, err, want)
			}
		}
		r.Close()
		past.Close()
	}
}

// TestReplayListings tests that a directory has what its listing says, by each command, whichever was
// recorded, and a directory without a listing what was captured below it.
func TestReplayListings(t *testing.T) {
	_, r := openReplay(t, writeArchive(t,
		capture{url: "ftp://h.example/list/", mediaType: "text/plain", body: "total 2\r\n-rw-r--r-- 1 ftp ftp 5 Dec  1  1994 file\r\ndrwxr-xr-x 2 ftp ftp 0 Dec  1  1994 dir\r\n"},
		capture{url: "ftp://h.example/facts/", mediaType: "text/plain", body: "type=file;size=5;modify=19941201120000; file\r\ntype=dir;modify=19941201120000; dir\r\n"},
		capture{url: "ftp://h.example/names/", mediaType: "text/plain", body: "dir\r\nfile\r\n"},
		capture{url: "ftp://h.example/none/file", mediaType: "text/plain", body: "12345"},
		capture{url: "ftp://h.example/none/dir/file%20b", mediaType: "text/plain", body: "12345"},
		capture{url: "ftp://h.example/facts/file", mediaType: "text/plain", body: "12345"}))
	for _, dir := range []string{"list", "facts", "names", "none"} {
		for name, options := range map[string]*ftp.Options{"LIST": nil, "MLSD": {Facts: true}, "NLST": {ListOnly: true}} {
			req, err := r.Request(t.Context(), "ftp://h.example/"+dir+"/")
			if err != nil {
				t.Fatal(err)
			}
			if req.Options = nil; options != nil {
				req.Options = options
			}
			got := itemsOf(t, r, req)
			if name == "NLST" || dir == "names" {
				if !strings.Contains(got, "dir ") || !strings.Contains(got, "file ") {
					t.Errorf("%s of %s: %s", name, dir, got)
				}
			} else if want := "dir directory, file document 5"; got != want {
				t.Errorf("%s of %s: %s, want %s", name, dir, got, want)
			}
		}
	}
	// What only a listing has is refused: it would look empty.
	for _, dir := range []string{"list/dir", "facts/dir", "names/dir", "missing"} {
		for name, options := range map[string]*ftp.Options{"LIST": nil, "MLSD": {Facts: true}, "NLST": {ListOnly: true}} {
			req, err := r.Request(t.Context(), "ftp://h.example/"+dir+"/")
			if err != nil {
				t.Fatal(err)
			}
			if options != nil {
				req.Options = options
			}
			if res, err := r.Fetch(t.Context(), req); err == nil {
				res.Close()
				t.Errorf("%s of %s: no error", name, dir)
			} else if fetch.KindOf(err) != fetch.ErrNotFound {
				t.Errorf("%s of %s: %v", name, dir, err)
			}
		}
	}
	res, err := r.Get(t.Context(), "ftp://h.example/facts/file")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	a, err := r.Stat(t.Context(), "ftp://h.example/facts/file")
	if err != nil || a.ModTime.Year() != 1994 || a.Size != 5 {
		t.Errorf("%+v, %v", a, err)
	}
}

// itemsOf describes the items of a directory, sorted by name.
func itemsOf(t testing.TB, r *fetch1738.Resolver, req *fetch.Request) string {
	t.Helper()
	res, err := r.Fetch(t.Context(), req)
	if err != nil {
		return err.Error()
	}
	defer res.Close()
	var dirs, files []string
	for item, err := range res.Items {
		switch {
		case err != nil:
			return err.Error()
		case item.Kind == fetch.KindDirectory:
			dirs = append(dirs, item.Name+" directory")
		default:
			files = append(files, fmt.Sprintf("%s document %d", item.Name, item.Size))
		}
	}
	return strings.Join(append(dirs, files...), ", ")
}

// serve serves an archive on loopback ports, and returns the addresses by site.
func serve(t testing.TB, captures ...capture) map[string]string {
	t.Helper()
	past, err := replay.New(openArchive(t, writeArchive(t, captures...)), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { past.Close() })
	served, err := past.Serve(t.Context(), func(archive.Site, *testserver.Server) {})
	if err != nil {
		t.Fatal(err)
	}
	addrs := make(map[string]string)
	for _, s := range served {
		u, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		addrs[s.Site.String()] = u.Host
	}
	return addrs
}

// answerOf sends a line to a server and returns its answer.
func answerOf(t testing.TB, addr, line string) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "%s\r\n", line)
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

// TestServeMenus tests that menus on loopback ports lead to loopback ports, or nowhere.
func TestServeMenus(t *testing.T) {
	addrs := serve(t,
		capture{url: "gopher://a.example/", mediaType: gopherMenu, body: "0Here\t/0file\ta.example\t70\t+\r\n" +
			"1There\t\tB.EXAMPLE\t7070\r\n1Elsewhere\t/x\tc.example\t70\r\n8Session\tguest\ta.example\t23\r\nhPage\tURL:http://w.example/p?q\ta.example\t70\r\n" +
			"hOther page\tURL:https://v.example/\ta.example\t70\r\niText\t\tx\t1\r\nno item\r\n"},
		capture{url: "gopher://a.example/0/0file", mediaType: "text/plain", body: "1x\ty\tc.example\t70\r\n.\r\n..\r\n"},
		capture{url: "gopher://a.example/7/find%09two%20words", mediaType: gopherMenu, body: "0Found\t/0file\ta.example\t70\r\n"},
		capture{url: "gopher://b.example:7070/", mediaType: gopherMenu, body: ""},
		capture{url: "http://w.example/p?q", body: "HTTP/1.0 200 OK\r\n\r\nx"})
	a, b, w := addrs["gopher://a.example/"], addrs["gopher://b.example:7070/"], addrs["http://w.example/"]
	tabbed := func(addr string) string { return strings.Replace(addr, ":", "\t", 1) }
	menu := "0Here\t/0file\t" + tabbed(a) + "\r\n1There\t\t" + tabbed(b) + "\r\n" +
		"iElsewhere [not in the archive: gopher://c.example:70/1/x]\t\terror.host\t1\r\n" +
		"iSession [not in the archive: telnet://a.example:23/]\t\terror.host\t1\r\n" +
		"hPage\tURL:http://" + w + "/p?q\ta.example\t70\r\niOther page [not in the archive: https://v.example/]\t\terror.host\t1\r\niText\t\tx\t1\r\nno item\r\n"
	var info strings.Builder
	for line := range strings.Lines(menu) {
		info.WriteString("+INFO: " + line)
	}
	for line, want := range map[string]string{
		"":                   menu + ".\r\n",
		"/0file":             "1x\ty\tc.example\t70\r\n..\r\n...\r\n.\r\n",
		"/find\ttwo words":   "0Found\t/0file\t" + tabbed(a) + "\r\n.\r\n",
		"\t$":                "+-2\r\n" + info.String(),
		"/0file\t+text/html": "+26\r\n1x\ty\tc.example\t70\r\n.\r\n..\r\n",
		"/none":              "3/none: the archive has no capture of it: file does not exist\t\terror.host\t1\r\n.\r\n",
	} {
		if got := answerOf(t, a, line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	if got := answerOf(t, b, ""); got != ".\r\n" {
		t.Errorf("an empty menu: %q", got)
	}
}

// TestServeProxy tests that a server of http is a proxy for all sites of http in the archive, and that
// heads are those of the servers without what is about their connections.
func TestServeProxy(t *testing.T) {
	addrs := serve(t,
		capture{url: "http://a.example/p?q=1", body: "HTTP/1.1 203 Fine\r\nServer: old\r\nConnection: keep-alive\r\nAlt-Svc: x\r\nTransfer-Encoding: chunked\r\nContent-Type: text/x-y\r\n\r\nfive5"},
		capture{url: "https://b.example/", body: "HTTP/1.1 301 Moved\r\nLocation: http://a.example/p?q=1\r\n\r\n"})
	proxy := &url.URL{Scheme: "http", Host: addrs["http://a.example/"]}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}
	defer client.CloseIdleConnections()
	for _, u := range []string{"http://a.example/p?q=1", "http://b.example/"} {
		res, err := client.Get(u)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || string(body) != "five5" || res.StatusCode != 203 || res.ContentLength != 5 || res.Header.Get("Server") != "old" ||
			res.Header.Get("Content-Type") != "text/x-y" || res.Header.Get("Alt-Svc") != "" {
			t.Errorf("%s: %q, %v, %+v", u, body, err, res)
		}
	}
	for method, status := range map[string]int{http.MethodGet: 404, http.MethodPost: 405} {
		req, _ := http.NewRequestWithContext(t.Context(), method, "http://c.example/", nil)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != status {
			t.Errorf("%s: %s", method, res.Status)
		}
	}
}

// TestServeFTP tests the listing for clients that send LIST where MLSD was recorded.
func TestServeFTP(t *testing.T) {
	addrs := serve(t, capture{url: "ftp://h.example/", mediaType: "text/plain", body: "type=file;size=5;modify=19941201120000; file\r\n"})
	conn, err := net.Dial("tcp", addrs["ftp://h.example/"])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewScanner(conn)
	reply := func(command string) string {
		if command != "" {
			fmt.Fprintf(conn, "%s\r\n", command)
		}
		in.Scan()
		return in.Text()
	}
	if got := reply(""); got != "220 The archive of ftp://h.example/" {
		t.Error(got)
	}
	reply("USER ftp")
	reply("PASS x")
	var port int
	if _, err := fmt.Sscanf(reply("EPSV"), "229 Entering Extended Passive Mode (|||%d|)", &port); err != nil {
		t.Fatal(err)
	}
	data, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	reply("LIST")
	if got, err := io.ReadAll(data); err != nil || string(got) != "-rw-r--r--    1 ftp      ftp                 5 Dec  1  1994 file\r\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestSearch tests which documents have words in their URL or title.
func TestSearch(t *testing.T) {
	past, _ := openReplay(t, writeArchive(t,
		capture{url: "gopher://h.example/", mediaType: gopherMenu, body: "0The Ünique title\t/file\th.example\t70\r\n0A lost title\t/none\th.example\t70\r\n"},
		capture{url: "gopher://h.example/0/file", mediaType: "text/plain", body: "x"},
		capture{url: "ftp://h.example/a%20file", mediaType: "text/plain", body: "x", date: "1994-12-01T00:00:00Z"},
		capture{url: "ftp://h.example/a%20file", mediaType: "text/plain", body: "y"},
		capture{url: "http://h.example/", body: "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<!-- <title>old</title> --><TITLE>\nA &lt;page&gt; </title>"},
		capture{url: "news:1@h.example", mediaType: "message/rfc822", body: "Subject: =?utf-8?q?A_letter?=\r\n\r\ntext\r\n"}))
	for words, want := range map[string]string{
		"":             "",
		"title":        "gopher://h.example/0/file The Ünique title",
		"ünique title": "gopher://h.example/0/file The Ünique title",
		"Ftp A FILE":   "ftp://h.example/a%20file ",
		"<page>":       "http://h.example/ A <page>",
		"letter":       "news:1@h.example A letter",
		"nothing":      "",
	} {
		var got []string
		for h, err := range past.Search(t.Context(), words) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, h.URL+" "+h.Title)
			if strings.HasPrefix(h.URL, "ftp:") && h.Time.Year() < 2000 {
				t.Errorf("%s of %v is not the last capture", h.URL, h.Time)
			}
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range past.Search(ctx, "file") {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
