package gateway

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// TestOpen tests where the address for links leads.
func TestOpen(t *testing.T) {
	s := start(t, func(h *Handler) { h.Prefix = "/net" })
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for text, want := range map[string]string{
		"ftp://h/a b":                      "/net/ftp/h/a%20b",
		"ftp://h/pub/a%20b;type=i":         "/net/ftp/h/pub/a%20b;type=i",
		"  ftp://h/ ":                      "/net/ftp/h/",
		"FTP://h/#top":                     "/net/ftp/h/",
		"ftp://user:secret@h/x":            "/net/ftp/h/x",
		"news:comp.lang.c":                 "/net/news/comp.lang.c",
		"nntp://h/group/1":                 "/net/nntp/h/group/1",
		"gopher://h/7/find%09words":        "/net/gopher/h/7/find%09words",
		"wais://h/db?two+words":            "/net/wais/h/db?q=two+words",
		"wais://h/db?c%2B%2B":              "/net/wais/h/db?q=c%2B%2B",
		"gopher://h/7/find?c%2B%2B+x":      "/net/gopher/h/7/find%3Fc%2B%2B+x",
		"mailto:a@b":                       "/net/mailto/a@b",
		"telnet://guest:secret@h/":         "/net/telnet/h/?user=guest",
		"<URL:ftp://h/x>":                  "/net/ftp/h/x",
		"gopher.example.org":               "/net/gopher/gopher.example.org/",
		"Gopher.example.org:7070/0/a b":    "/net/gopher/Gopher.example.org:7070/0/a%20b",
		"ftp.example.org/pub/":             "/net/ftp/ftp.example.org/pub/",
		"user:secret@ftp.example.org/pub/": "does not show",
		"http://example.org/":              "Browsers show this URL themselves.",
		"https://user:secret@example.org/": "Browsers show this URL themselves.",
		"file:///etc/passwd":               "refuses",
		"javascript:alert(1)":              "does not show",
		"data:text/html,x":                 "does not show",
		"":                                 "No URL was given.",
		"just words":                       "not a URL",
		"ftp://ho st/":                     "not a URL",
		"ftp://h/a\r\nDELE x":              "not a URL",
		"//evil.example/":                  "not a URL",
		"example.org/a":                    "\nftp://example.org/a\ngopher://example.org/a\nhttp://example.org/a\n",
		"example.org:8080":                 "\nhttp://example.org:8080\n",
		"gohper://h/1/x":                   "\ngopher://h/1/x\n",
		"ftpx://user:secret@h/x":           "\nftp://h/x\n",
		"httpp://example.org/":             "\nhttp://example.org/\n",
		"gopher//example.org/":             "\ngopher://example.org/\n",
	} {
		res, err := client.Get(s.URL + "/net/open?url=" + url.QueryEscape(text))
		if err != nil {
			t.Fatal(err)
		}
		body := new(strings.Builder)
		_, _ = copyBody(body, res)
		location := res.Header.Get("Location")
		switch {
		case strings.HasPrefix(want, "/"):
			if res.StatusCode != 303 || location != want {
				t.Errorf("%q: %s to %q, want %q", text, res.Status, location, want)
			}
		case res.StatusCode/100 != 4 || location != "" || !strings.Contains(body.String(), want):
			t.Errorf("%q: %s without %q\n%s", text, res.Status, want, body)
		}
		if strings.Contains(location+body.String(), "secret") || strings.Contains(body.String(), `href="javascript:`) || strings.Contains(body.String(), `href="data:`) {
			t.Errorf("%q: %s\n%s", text, location, body)
		}
	}
	if _, body := get(t, s, "/net/open?url=http%3A%2F%2Fexample.org%2F"); !strings.Contains(body, `href="http://example.org/"`) {
		t.Errorf("no link to the http URL:\n%s", body)
	}
}

// TestHome tests that the form and the links of the first page lead where they say, below the
// Prefix.
func TestHome(t *testing.T) {
	s := start(t, func(h *Handler) { h.Prefix = "/net" })
	_, body := get(t, s, "/net/")
	for _, want := range []string{`action="/net/open"`, `name="url"`, `href="/net/setup"`, `href="/net/ftp/ftp.gnu.org/gnu/"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
	if res, _ := get(t, s, "/"); res.StatusCode != 404 {
		t.Errorf("outside of the Prefix: %s", res.Status)
	}
}

// TestWayHome tests that every page leads to the start of the gateway, also one about an error, and
// that a path which is no URL leads to the URL that it may stand for.
func TestWayHome(t *testing.T) {
	s := start(t, func(h *Handler) { h.Prefix, h.Proxy = "/net", true })
	const home = `<li><a href="/net/">gateway</a></li>`
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/net/setup":                           {200, "Open links in this gateway"},
		"/net/mailto/a@b":                      {200, "a@b"},
		"/":                                    {404, "no such page"},
		"/net/nosuchpage":                      {404, "no such page"},
		"/net/gopher.example.org":              {404, `href="/net/gopher/gopher.example.org/"`},
		"/net/gopher.example.org/1/x":          {404, `href="/net/gopher/gopher.example.org/1/x"`},
		"/net/gohper/h/1/x":                    {400, `href="/net/gopher/h/1/x"`},
		"/net/http/example.org/x":              {400, `href="http://example.org/x"`},
		"/net/ftp/ho%20st/":                    {400, "not a URL"},
		"/net/url":                             {400, "not a URL"},
		"/net/url?u=gohper:h":                  {400, `href="/net/gopher/h/"`},
		"/net/open":                            {400, "No URL was given."},
		"/net/file/etc":                        {403, "refuses"},
		"/net/x" + strings.Repeat("x", maxURL): {414, "longer"},
		"/net/ftp/h.example/dir/?words":        {400, `href="/net/ftp/h.example/dir/%3Fwords"`},
		"/net/gopher/h.example/0a?words":       {400, `href="/net/gopher/h.example/0a"`},
		"/net/news/comp.lang.c?words":          {400, "Nothing can be searched here."},
	} {
		res, body := get(t, s, path)
		if res.StatusCode != want.status || !strings.Contains(body, want.text) || !strings.Contains(body, home) {
			t.Errorf("%.50s: %s, want %d, %s and a way home\n%s", path, res.Status, want.status, want.text, body)
		}
	}
	for method, status := range map[string]int{"PUT": 405, "OPTIONS": 403} {
		res, body, err := ask(t, s, method, "/net/setup", "Accept", "text/html")
		if err != nil || res.StatusCode != status || !strings.Contains(body, home) {
			t.Errorf("%s: %v %v\n%s", method, res, err, body)
		}
	}
	if _, body := get(t, s, "/net/"); strings.Contains(body, home) {
		t.Errorf("the start leads to itself:\n%s", body)
	}
	// These are not pages of the gateway for the client.
	for target, status := range map[string]int{"/net/setup": 421, "http://other.example/": 501, "http://other.example/" + strings.Repeat("x", maxURL): 414} {
		res, body := exchange(t, s.Listener.Addr().String(), "GET "+target, "Host: other.example", "Accept: text/html")
		if res.StatusCode != status || strings.Contains(body, home) {
			t.Errorf("%.50s: %s, want %d and no way home\n%s", target, res.Status, status, body)
		}
	}
}

// TestScript tests that each page has the script of the gateway and no other, as its security policy
// permits, and that a proxy's client gets none.
func TestScript(t *testing.T) {
	s := start(t, func(h *Handler) { h.Prefix, h.Proxy = "/net", true })
	asScript := []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "script"}
	res, script, err := ask(t, s, http.MethodGet, "/net/script.js", asScript...)
	if err != nil || res.StatusCode != 200 {
		t.Fatal(err, res.Status)
	}
	for _, path := range []string{"/net/script.js/", "/net/style.css", "/net/url?u=/net/script.js", "/net/gopher/h/9/net/script.js"} {
		if res, _, err := ask(t, s, http.MethodGet, path, asScript...); err != nil || res.StatusCode != 403 {
			t.Errorf("%s as a script: %v, %v", path, err, res.Status)
		}
	}
	sum := sha256.Sum256([]byte(script))
	digest := "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
	if got := res.Header.Get("Content-Type"); got != "text/javascript; charset=utf-8" || len(script) < 1000 {
		t.Errorf("%s: %s", got, script)
	}
	for _, path := range []string{"/net/", "/net/setup", "/net/setup?x=%3Cscript%3E", "/net/mailto/a@b", "/net/gopher/h/7x", "/net/nothing"} {
		res, body := get(t, s, path)
		tag := `<script src="/net/script.js" integrity="` + digest + `" defer`
		if csp := res.Header.Get("Content-Security-Policy"); csp != pageSecurity+"; script-src '"+digest+"'" {
			t.Errorf("%s: CSP %q", path, csp)
		}
		if strings.Count(body, "<script") != 1 || !strings.Contains(html.UnescapeString(body), tag) {
			t.Errorf("%s: not %s alone in\n%s", path, tag, body)
		}
	}
}

// TestSetup tests that the page names nothing but what the browser has sent as the field Host.
func TestSetup(t *testing.T) {
	s := start(t, func(h *Handler) { h.Prefix = "/net" })
	_, body := get(t, s, "/net/setup?x=%3Cscript%3E")
	for _, want := range []string{`data-scheme="ftp"`, `data-scheme="ftps"`, `data-scheme="news"`, `data-scheme="nntp"`, `data-open="/net/open?url=%s"`, `role="status"`, s.URL + "/net/open?url=%s", "--install"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
}

// A desktop opens the links of every program and site in a browser that says "none" of their
// origin. So a search is not sent without a click, but a document is shown.
func TestOpenFromDesktop(t *testing.T) {
	s := start(t, nil)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, tc := range []struct {
		site, url string
		asks      bool
	}{
		{"none", "gopher://h.example/7/find%09words", true},
		{"none", "wais://h.example/db?words", true},
		{"none", "gopher://h.example/1/menu", false},
		{"none", "ftp://h.example/a", false},
		{"none", "wais://h.example/db", false},
		{"same-origin", "gopher://h.example/7/find%09words", false},
		{"same-origin", "wais://h.example/db?words", false},
	} {
		path := "/open?url=" + url.QueryEscape(tc.url)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Accept": {"text/html"}, "Sec-Fetch-Site": {tc.site}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body := new(strings.Builder)
		_, _ = copyBody(body, res)
		switch {
		case tc.asks && (res.StatusCode != 200 || !strings.Contains(body.String(), "Nothing has been sent to the server yet.") || !strings.Contains(body.String(), `href="/open?url=`)):
			t.Errorf("%s, %s: %s does not ask:\n%s", tc.site, tc.url, res.Status, body)
		case !tc.asks && res.StatusCode != 303:
			t.Errorf("%s, %s: %s", tc.site, tc.url, res.Status)
		}
	}
}

func TestLongURL(t *testing.T) {
	s := start(t, nil)
	const before = "/open?url=gopher://h.example/1"
	for n, want := range map[int]int{maxURL: 303, maxURL + 1: 414, 3 * maxURL: 414} {
		path := before + strings.Repeat("x", n-len(before))
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		res, err := client.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%d bytes: %s, want %d", n, res.Status, want)
		}
	}
}

// TestDrawnOnce tests that a browser draws a page only when it has all of it, if what comes later would
// move the rest: what the script adds, and the wider cells of a table. A page that is sent while a
// listing arrives does not wait, unless the listing is one of an archive.
func TestDrawnOnce(t *testing.T) {
	news, s := startNews(t, nil)
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = texts })
	past := startArchive(t, captured(t, []record{{url: "gopher://h.example/", mediaType: "application/gopher-menu", content: "iold\t\t\t0\r\n.\r\n"}}), time.Time{}, nil)
	for _, tt := range []struct {
		s    *httptest.Server
		path string
		once bool
	}{
		{s, "/", true}, {s, "/setup", true}, {s, "/help", true},
		{s, "/nntp/" + news.Addr + "/local.test/1", true}, {s, "/nntp/" + news.Addr + "/local.test", false},
		{s, "/ftp/" + ftp.Addr + "/guide.md", true}, {s, "/ftp/" + ftp.Addr + "/README", false}, {s, "/ftp/" + ftp.Addr + "/", false},
		{past, "/gopher/h.example/", true}, {past, "/gopher/h.example/?captures", true},
	} {
		if _, body := get(t, tt.s, tt.path); strings.Contains(body, ` defer blocking="render"></script>`) != tt.once {
			t.Errorf("%s is drawn once: %v", tt.path, !tt.once)
		}
	}
}
