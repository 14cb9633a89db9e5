package gateway

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/policy"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

// mainOf is the main part of a page, with the server of a URL replaced by "server.example".
func mainOf(t *testing.T, body, server string) string {
	t.Helper()
	_, main, ok := strings.Cut(body, "<main")
	main, _, end := strings.Cut(main, "</main>")
	if !ok || !end {
		t.Fatalf("no main part in %q", body)
	}
	u, err := url.Parse(server) // its port differs from run to run
	if err != nil {
		t.Fatal(err)
	}
	port := u.Port()
	return strings.NewReplacer(u.Host, "server.example", "localhost:"+port, "server.example", "%253A"+port, "%253A70").Replace("<main" + main + "</main>\n")
}

// guide has every kind of block and span, and links that lead nowhere.
const guide = `# Guide <b>

See [the *news*](sub/NEWS.md#new),
[all](../../x), [this](javascript:alert(1)), [below](#a-table) and ftp://host.example/.  
A new line, ~~old~~ **bold _both_** ` + "`code <x>`" + ` \u202e <ftp://host.example/a>

- one
  more
  3. not a list
- [x] done
- [ ] [two](gopher://host.example/1/a)

2. second

   ` + "```html" + `
   <script>  x
   ` + "```" + `

> said
> > before

## A table

| a | b |
|---|--:|
| 1 | [c](https://host.example/#d) |

<div onclick="alert(1)">*raw*</div> <!-- comment -->

![A picture](picture.png) ![](https://host.example/p.png) [![ok](picture.png)](sub/)
![of another server](ftp://host.example/p.png) ![data](data:image/png;base64,x)

---
` + "\x1b[1m\n"

// texts are the files of the tests of text pages.
var texts = fstest.MapFS{
	"README":      {Data: []byte("Read me: <b>not bold</b> & ftp://host.example/pub/\n\n\tTab, \x1b[1mescape\x1b[0m, \u202ebidi\n<URL:gopher://host.example/\n  1/a>\n"), ModTime: lastWritten},
	"latin1.txt":  {Data: []byte("Gr\xfc\xdfe, na\xefve caf\xe9\r\n"), ModTime: lastWritten},
	"cp437.txt":   {Data: []byte("\xda\xc4\xc4\xc4\xbf\r\n\xb3 ok\xb3\r\n\xc0\xc4\xc4\xc4\xd9\r\n"), ModTime: lastWritten},
	"utf8.txt":    {Data: []byte("\ufeffGrüße, 日本\n"), ModTime: lastWritten},
	"page.html":   {Data: []byte("<html><script>alert(1)</script></html>\n"), ModTime: lastWritten},
	"guide.md":    {Data: []byte(guide), ModTime: lastWritten},
	"index.gmi":   {Data: []byte("# Capsule <b>\n\nSome text, ftp://host.example/ too.\n=> sub/log.gmi The log\n=> gemini://host.example/ Elsewhere\n=> javascript:alert(1) No\n* one\n* two\n> said\n``` art\n /\\\n<b>\n```\n"), ModTime: lastWritten},
	"main.c":      {Data: []byte("/* ftp://host.example/\n   a */\n\nint main(void) { return 1 < 2; }\n"), ModTime: lastWritten},
	"ls.txt":      {Data: []byte("N\bNA\bAM\bME\bE\n     l\bls\bs - list _\bf_\bi_\bl_\be <ftp://host.example/>\n"), ModTime: lastWritten},
	"rfc9999.txt": {Data: []byte("Table of Contents\n\n   1.  Introduction ............  1\n\n1.  Introduction\n\n   See <URL:ftp://host.example/rfc/rfc1.txt>, Section 1, RFC 1738, and\n\nAuthor                        [Page 1]\n\f\nRFC 9999              Title           March 2000\n\n   [RFC2616], Section 3.2.\n"), ModTime: lastWritten},
	"table.txt":   {Data: []byte("name       size       a longer column of words\nfile       12         what it is\n"), ModTime: lastWritten},
	"picture.svg": {Data: []byte("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>\n"), ModTime: lastWritten},
	"empty.txt":   {Data: nil, ModTime: lastWritten},
	"picture.png": {Data: []byte("\x89PNG\r\n\x1a\n"), ModTime: lastWritten},
	"sound.ogg":   {Data: []byte("OggS"), ModTime: lastWritten},
	"video.webm":  {Data: []byte("\x1a\x45\xdf\xa3"), ModTime: lastWritten},
}

// TestDocumentPages compares the pages of documents with golden files.
func TestDocumentPages(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = texts })
	s := start(t, nil)
	for _, name := range []string{"README", "latin1.txt", "cp437.txt", "utf8.txt", "page.html", "guide.md", "index.gmi", "main.c", "ls.txt", "rfc9999.txt", "table.txt", "README?wrap=no", "main.c?wrap", "picture.svg", "empty.txt", "picture.png", "sound.ogg", "video.webm", "latin1.txt?charset=cp437"} {
		file, query, _ := strings.Cut(name, "?")
		path := pathOf(t, srv.URL+"/"+file)
		if query != "" {
			path += "?" + query
		}
		res, body := get(t, s, path)
		if res.StatusCode != 200 || res.Header.Get("Content-Security-Policy") != ownSecurity() {
			t.Errorf("%s: %s %v", name, res.Status, res.Header)
		}
		golden(t, "documents/"+strings.NewReplacer("?", "-", "=", "-").Replace(name)+".html", mainOf(t, body, srv.URL))
	}
}

var shownAs = regexp.MustCompile(`<(?:pre|div) class="(text|plain|prose)\b`)

// TestWrap tests which texts have their lines wrapped, and the link that changes it.
func TestWrap(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = texts })
	s := start(t, nil)
	for name, want := range map[string]string{
		"README": "text ?wrap=no", "README?wrap": "text ?wrap=no", "README?wrap=no": "plain ?wrap",
		"main.c": "plain ?wrap", "main.c?wrap": "text ?wrap=no", "rfc9999.txt": "plain ?wrap", "rfc9999.txt?wrap=": "text ?wrap=no", "ls.txt": "plain ?wrap",
		"table.txt": "plain ?wrap", "cp437.txt": "plain ?wrap", "latin1.txt": "text ?wrap=no", "guide.md": "prose", "index.gmi?wrap=no": "prose",
	} {
		file, query, _ := strings.Cut(name, "?")
		_, body := get(t, s, pathOf(t, srv.URL+"/"+file)+"?"+query)
		got := ""
		if found := shownAs.FindStringSubmatch(body); found != nil {
			got = found[1]
		}
		for _, link := range []string{"?wrap=no", "?wrap"} {
			if strings.Contains(body, link+`" rel="nofollow">`) {
				got += " " + link
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestWrapAndCharset tests that the choice of a charset keeps that of wrapping, and the other way round.
func TestWrapAndCharset(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = texts })
	_, body := get(t, start(t, nil), pathOf(t, srv.URL+"/latin1.txt")+"?wrap=no&charset=koi8-r")
	for _, link := range []string{`latin1.txt?charset=cp437&amp;wrap=no"`, `latin1.txt?wrap&amp;charset=koi8-r"`} {
		if !strings.Contains(body, link) {
			t.Errorf("no link %s in\n%s", link, body)
		}
	}
}

// TestBeyondMarkdown tests that a text in Markdown that takes too long to read is shown as plain text,
// in its charset and with all its octets, and that a folder with such a text is shown, too.
func TestBeyondMarkdown(t *testing.T) {
	stars := strings.Repeat("*a_ ", 15_000) + "\xe9 end"
	long := strings.Repeat("x *y* ftp://host.example/\n", 60_000) + "end"
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"stars.md": {Data: []byte(stars)}, "long.md": {Data: []byte(long)}, "folder/README.md": {Data: []byte(stars)}}
	})
	s := start(t, nil)
	const note = "without its formatting"
	for path, want := range map[string]string{"stars.md": "*a_ é end</pre>", "long.md": "end</pre>", "folder/": "*a_ é end</pre>"} {
		_, body, err := ask(t, s, "GET", pathOf(t, srv.URL+"/"+path), browser...)
		if err != nil || !strings.Contains(body, want) || strings.Contains(body, "<em>") || strings.Contains(body, note) != (path != "folder/") {
			t.Errorf("%s: %v, %d bytes, …%s", path, err, len(body), body[max(0, len(body)-300):])
		}
		if n := strings.Count(body, `<a href="/ftp/host.example/">`); path == "long.md" && n != 60_000 {
			t.Errorf("%d links", n)
		}
	}
}

// TestTextDownload tests that what is not text is a download, also if nothing but its bytes say so.
func TestTextDownload(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"binary": {Data: []byte("\x7fELF\x00\x01"), ModTime: lastWritten}, "a.txt": {Data: []byte("PK\x00\x00"), ModTime: lastWritten}, "a.zip": {Data: []byte("PK"), ModTime: lastWritten}}
	})
	s := start(t, nil)
	for _, name := range []string{"binary", "a.zip", "a.txt"} {
		res, body := get(t, s, pathOf(t, srv.URL+"/"+name))
		if res.StatusCode != 200 || strings.Contains(body, "<html") || res.Header.Get("Etag") == "" || res.Header.Get("Content-Security-Policy") != octetsSecurity {
			t.Errorf("%s: %v %q", name, res.Header, body)
		}
	}
}

// TestUnknownFile tests that a browser gets a file of unknown type by one transfer, whether it is a
// text or a download with its length and ranges.
func TestUnknownFile(t *testing.T) {
	binary := strings.Repeat("\x00\x01", 50_000)
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"core.17": {Data: []byte(binary), ModTime: lastWritten}, "THANKS": {Data: []byte("to all\n")}, "empty": {}}
	})
	s := start(t, nil)
	for name, want := range map[string]string{"core.17": binary, "THANKS": "to all", "empty": "empty"} {
		before := len(commandsOf(srv, "RETR"))
		res, body, err := ask(t, s, "GET", pathOf(t, srv.URL+"/"+name), "Accept", "text/html")
		if err != nil || res.StatusCode != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %s, %d bytes, %v", name, res.Status, len(body), err)
		}
		isPage := strings.HasPrefix(res.Header.Get("Content-Type"), "text/html")
		if isPage == (name == "core.17") || !isPage && (res.ContentLength != int64(len(binary)) || res.Header.Get("Accept-Ranges") == "" || res.Header.Get("Etag") == "") || isPage && res.Header.Get("Etag") != "" {
			t.Errorf("%s: %v", name, res.Header)
		}
		if got := commandsOf(srv, "RETR")[before:]; len(got) != 1 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestCharsetsOfDocuments has texts in charsets of more than one byte per character, or with NUL bytes.
func TestCharsetsOfDocuments(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{
			"long":         {Data: []byte(strings.Repeat("\x95\x5c", 40_000))},
			"jis.txt":      {Data: []byte("\x1b$BF|\x1b(B, ab")},
			"marked.txt":   {Data: []byte("\xff\xfen\x00\xe9\x00\n\x00<\x00")},
			"marked":       {Data: []byte("\xfe\xff\x00n\x00\xe9\x00\n\x00<")},
			"unmarked.txt": {Data: []byte("n\x00\xe9\x00\n\x00<\x00")},
			"marked.md":    {Data: []byte("\xff\xfen\x00\xe9\x00\n\x00")},
		}
	})
	s := start(t, nil)
	for path, want := range map[string]string{
		"long?charset=shift_jis": strings.Repeat("表", 40_000), "jis.txt?charset=iso-2022-jp": "日, ab",
		"marked.txt": "né\n&lt;", "marked": "né\n&lt;", "unmarked.txt?charset=utf-16": "né\n&lt;", "marked.md": ">né</p>",
	} {
		file, query, _ := strings.Cut(path, "?")
		res, body := get(t, s, pathOf(t, srv.URL+"/"+file)+"?"+query)
		if res.StatusCode != 200 || !strings.Contains(body, want) || strings.ContainsAny(body, "\x00\x1b\uFFFD") {
			t.Errorf("%s: %s, %d bytes without %.100q", path, res.Status, len(body), want)
		}
	}
}

// TestUnknownCharset tests that a charset that the gateway does not know is an error.
func TestUnknownCharset(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = texts })
	res, body := get(t, start(t, nil), pathOf(t, srv.URL+"/README")+"?charset=klingon")
	if res.StatusCode != 400 || !strings.Contains(body, "klingon") {
		t.Errorf("%s %s", res.Status, body)
	}
}

// lines is a document of one line, repeated.
type lines struct {
	line string
	left int
}

func (l *lines) Read(p []byte) (int, error) {
	n := 0
	for l.left > 0 && len(p)-n >= len(l.line) {
		n += copy(p[n:], l.line)
		l.left--
	}
	if n == 0 && l.left == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (l *lines) Close() error { return nil }

// generated is a Fetcher of a document that no one holds in memory.
type generated struct{ count int }

func (f generated) Fetch(_ context.Context, req *fetch.Request) (*fetch.Resource, error) {
	return &fetch.Resource{Locator: req.Locator, Attributes: fetch.Attributes{Size: -1, MediaType: "text/plain"}, Body: &lines{"a line of text with a URL: ftp://host.example/\n", f.count}}, nil
}

// TestLongText tests that the page of a long text shows its beginning, says so, and holds only parts
// of it in memory.
func TestLongText(t *testing.T) {
	s := start(t, func(h *Handler) {
		h.Resolver.Schemes = []fetch1738.Scheme{{Names: []string{"ftp"}, New: func(*fetch.Env) driver.Fetcher { return generated{2 << 20} }}}
	})
	res, body := get(t, s, "/ftp/host.example/long.txt")
	if res.StatusCode != 200 || !strings.Contains(body, "first 4 MiB of the document") || strings.Count(body, "a line of text") > maxShown/40 {
		t.Errorf("%s, %d bytes, …%s", res.Status, len(body), body[max(0, len(body)-1000):])
	}
}

// TestTextCut tests that a page of a text that is cut off says so, and is broken off.
func TestTextCut(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a.txt": {Data: bytes.Repeat([]byte("line\n"), 20_000), ModTime: lastWritten}}
	})
	srv.On("RETR", 0, testserver.Truncate(50_000))
	s := start(t, nil)
	res, body, err := ask(t, s, "GET", pathOf(t, srv.URL+"/a.txt"), "Accept", "text/html")
	if err == nil || res.StatusCode != 200 || !strings.Contains(body, "The document ends early") {
		t.Errorf("%v: …%s", err, body[max(0, len(body)-300):])
	}
}

// TestUnknownCut cuts off a file whose type only its first bytes show, while these are read: neither
// the page nor the octets look complete.
func TestUnknownCut(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"README": {Data: bytes.Repeat([]byte("line\n"), 20_000), ModTime: lastWritten}}
	})
	srv.On("RETR", 0, testserver.Truncate(100))
	s := start(t, nil)
	res, body, err := ask(t, s, "GET", pathOf(t, srv.URL+"/README"), "Accept", "text/html")
	if err == nil || res.StatusCode != 200 || !strings.Contains(body, "line\n") || !strings.Contains(body, "The document ends early") {
		t.Errorf("a page: %v: …%s", err, body[max(0, len(body)-300):])
	}
	if res, body, err := ask(t, s, "GET", pathOf(t, srv.URL+"/README"), "Accept", "*/*"); err == nil && res.StatusCode < 400 {
		t.Errorf("octets: %s with %d bytes looks complete", res.Status, len(body))
	}
}

// TestMediaWithoutAccess tests that the page of a picture, a sound or a video on a gopher server is
// there without the server, which is asked for the menu of a picture only, and that the page of a file
// that does not exist says so. The query of a link does not name it.
func TestMediaWithoutAccess(t *testing.T) {
	var connections atomic.Int32
	s := start(t, func(h *Handler) {
		h.Resolver.Env.Dial = func(context.Context, string, string) (net.Conn, error) {
			connections.Add(1)
			return nil, io.EOF
		}
	})
	for url, want := range map[string]int32{"gopher://host.example/I/a": 1, "gopher://host.example/s/a": 0, "gopher://host.example/;/a": 0, "gopher://host.example/9/a.jpg": 1} {
		connections.Store(0)
		res, body := get(t, s, pathOf(t, url)+"?title=The+picture")
		if res.StatusCode != 200 || !strings.Contains(body, `="`+path.Base(url)+`"`) || strings.Contains(body, "The picture") {
			t.Errorf("%s: %s %s", url, res.Status, body)
		}
		if got := connections.Load(); got != want {
			t.Errorf("%s: %d connections, want %d", url, got, want)
		}
	}
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = texts })
	if res, _ := get(t, start(t, nil), pathOf(t, srv.URL+"/no.png")); res.StatusCode != 404 {
		t.Errorf("%s", res.Status)
	}
}

// TestAdvicePages compares the pages of URLs that are not documents. No page connects.
func TestAdvicePages(t *testing.T) {
	s := start(t, func(h *Handler) {
		h.Resolver.Env.Dial = func(context.Context, string, string) (net.Conn, error) {
			t.Error("a connection")
			return nil, io.EOF
		}
	})
	for name, url := range map[string]string{
		"telnet":       "telnet://guest:secret@host.example:2323/",
		"mailto":       "mailto:someone@host.example?subject=a%20%3Cb%3E&cc=c@d.example&body=line%0D%0Aftp://host.example/&attach=/etc/passwd",
		"gopher8":      "gopher://host.example/8guest",
		"gopherT":      "gopher://host.example:2323/Tguest",
		"explain-ftp":  "ftp://host.example/pub/a%20b.txt;type=a?explain",
		"explain-wais": "wais://host.example/db?explain",
		"explain-news": "nntp://host.example/comp.lang.c/12?explain",
		"explain-menu": "gopher://host.example/1/x?explain",
	} {
		url, query, explain := strings.Cut(url, "?explain")
		_ = query
		path := pathOf(t, url)
		if explain {
			path += "?explain"
		}
		res, body := get(t, s, path)
		if res.StatusCode != 200 || strings.Contains(body, "secret") {
			t.Errorf("%s: %s %s", name, res.Status, body)
		}
		if !explain && (strings.Count(body, ">"+visible.Name(url)[:8]) > 1 || strings.Contains(body, "?raw") || strings.Contains(body, "?explain")) {
			t.Errorf("%s: %s", name, body)
		}
		golden(t, "advice/"+name+".html", mainOf(t, body, "http://none.example:1/"))
	}
}

// TestErrorPages compares the pages of errors, and tests their status.
func TestErrorPages(t *testing.T) {
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = texts })
	ftp.On("PASS", 0, testserver.Reply("530 No anonymous logins here"))
	open := ftptest.New(t, func(s *ftptest.Server) { s.Content = texts })
	open.On("RETR latin1.txt", 0, testserver.Reply("450 busy, try later"))
	open.On("RETR utf8.txt", 0, testserver.Reply("999 nonsense"))
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Dialect, s.Content = gophertest.UMNGopher, texts })
	gopher.On("REQUEST /README", 0, gophertest.PlusError(1, "Moved away.\nAsk ftp://host.example/ for it."))
	for name, c := range map[string]struct {
		url    string
		status int
	}{
		"not-found":       {open.URL + "/none.txt", 404},
		"busy":            {open.URL + "/latin1.txt", 503},
		"protocol":        {open.URL + "/utf8.txt", 502},
		"unauthenticated": {ftp.URL + "/README", 401},
		"plus":            {gopher.URL + "/0/README%09%09+", 404},
		"no-gopher":       {gopher.URL + "/0/none", 404},
	} {
		server := open.URL
		if strings.HasPrefix(c.url, ftp.URL) {
			server = ftp.URL
		} else if strings.HasPrefix(c.url, gopher.URL) {
			server = gopher.URL
		}
		s := start(t, nil) // without a session of the others
		res, body := get(t, s, pathOf(t, c.url))
		if res.StatusCode != c.status || (res.Header.Get("Retry-After") != "") != (c.status == 503) {
			t.Errorf("%s: %s, want %d\n%s", name, res.Status, c.status, body)
		}
		golden(t, "errors/"+name+".html", mainOf(t, body, server))
		text, body, err := ask(t, s, "GET", pathOf(t, c.url), "Accept", "*/*")
		if err != nil || text.StatusCode != c.status || text.Header.Get("Content-Type") != "text/plain; charset=utf-8" || strings.Contains(body, "<") && !strings.Contains(body, "Gopher Admin") {
			t.Errorf("%s as text: %s %v %q", name, text.Status, text.Header, body)
		}
	}
}

// TestErrorKinds tests the status of each kind of error.
func TestErrorKinds(t *testing.T) {
	var cause error
	s := start(t, func(h *Handler) {
		h.Resolver.Schemes = []fetch1738.Scheme{{Names: []string{"ftp"}, New: func(*fetch.Env) driver.Fetcher { return failingFetcher{&cause} }}}
	})
	for kind, want := range map[fetch.ErrorKind]int{
		fetch.ErrNotFound: 404, fetch.ErrPermission: 403, fetch.ErrRefused: 403, fetch.ErrUnauthenticated: 401, fetch.ErrBadURL: 400,
		fetch.ErrTooLarge: 413, fetch.ErrUnresolved: 502, fetch.ErrUnreachable: 502, fetch.ErrTimeout: 504, fetch.ErrBusy: 503,
		fetch.ErrTruncated: 502, fetch.ErrProtocol: 502, fetch.ErrConnectionFailed: 502, fetch.ErrOther: 502, fetch.ErrTooManyHops: 502,
		fetch.ErrLocalIO: 500, fetch.ErrNoOctets: 400,
	} {
		cause = &fetch.Error{Op: fetch.OpConnect, Kind: kind, URL: "ftp://host.example/a", Reply: "at 10.9.8.7"}
		for _, path := range []string{"/ftp/host.example/a", "/ftp/host.example/a?raw"} {
			res, body := get(t, s, path)
			if res.StatusCode != want || !strings.Contains(body, "10.9.8.7") {
				t.Errorf("%s %q: %s, want %d", path, kind, res.Status, want)
			}
			res, body, err := ask(t, s, "GET", path, "Accept", "text/html", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
			if err != nil || res.StatusCode < 400 || strings.Contains(body, "10.9.8.7") {
				t.Errorf("%s %q from another site: %s %s", path, kind, res.Status, body)
			}
		}
	}
}

// failingFetcher fails with an error.
type failingFetcher struct{ err *error }

func (f failingFetcher) Fetch(context.Context, *fetch.Request) (*fetch.Resource, error) {
	return nil, *f.err
}

// TestRefusalLooksUnreachable tests that a page of another site does not learn what the policy
// refuses.
func TestRefusalLooksUnreachable(t *testing.T) {
	h := &Handler{Resolver: &fetch1738.Resolver{Env: fetch.Env{Limits: Limits(), Allow: policy.Public}}}
	s := httptest.NewServer(h)
	defer s.Close()
	defer h.Close()
	var pages []string
	for _, host := range []string{"127.0.0.1", "10.1.2.3", "169.254.169.254"} {
		res, body, err := ask(t, s, "GET", "/ftp/"+host+"/a", "Accept", "text/html", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
		if err != nil || res.StatusCode != http.StatusBadGateway {
			t.Errorf("%s: %v %v", host, res, err)
		}
		pages = append(pages, strings.ReplaceAll(body, host, "host"))
	}
	if pages[0] != pages[1] || pages[0] != pages[2] {
		t.Errorf("%q", pages)
	}
}

// TestWAISPages compares the pages of a database and of searches.
func TestWAISPages(t *testing.T) {
	srv := waistest.New(t, func(s *waistest.Server) {
		s.Content = fstest.MapFS{
			"sun.txt": {Data: []byte("The sun & the <moon>\nThe sun rises.\n"), ModTime: lastWritten}, "sun.ps": {Data: []byte("%!PS"), ModTime: lastWritten},
			"sea.txt": {Data: []byte("The sea and the sun\n"), ModTime: lastWritten},
		}
		s.Databases = []waistest.Database{{Name: "docs", Files: []string{"sun.txt", "sea.txt"}, Types: []string{"TEXT", "PS"}}}
	})
	s := start(t, nil)
	for name, query := range map[string]string{"database": "", "hits": "?q=sun", "nothing": "?q=zyzzyva"} {
		res, body := get(t, s, pathOf(t, srv.URL+"/"+"docs")+query)
		if res.StatusCode != 200 {
			t.Errorf("%s: %s", name, res.Status)
		}
		golden(t, "wais/"+name+".html", mainOf(t, body, srv.URL))
	}
}
