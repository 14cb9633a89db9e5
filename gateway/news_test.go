package gateway

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// letter is an article with a header and a body, in lines that end in LF.
func letter(header, body string) string {
	return strings.ReplaceAll(header+"\n"+body, "\n", "\r\n")
}

// newsgroups are the groups of the tests.
func newsgroups() map[string][]string {
	head := func(id, subject, more string) string {
		return "Path: news.example!not-for-mail\nFrom: Ann Example <ann@lab.example>\nNewsgroups: local.test,local.more\nSubject: " + subject +
			"\nDate: Tue, 20 Dec 1994 17:38:00 +0100\nMessage-ID: <" + id + ">\n" + more
	}
	return map[string][]string{
		"local.test": {
			letter(head("first@lab.example", "URLs in texts", "Organization: Lab & Söhne\nX-Long: one\n\ttwo\n"),
				"See <URL:ftp://ftp.example.org/pub/a%20b.txt> or http://example.org/.\n\n\tTabs\tstay.\n-- \nAnn\nhttp://ann.example/\n"),
			"", // expired
			letter(head("reply@lab.example", "Re: URLs in texts", "References: <first@lab.example>\n"),
				"Ann wrote:\n> See <URL:ftp://ftp.example.org/pub/a%20b.txt> or http://example.org/.\n> > What did she say?\n> I do not know.\n\nI saw.\n"),
			letter("From: =?ISO-8859-1?Q?J=F6rg?= <j@lab.example>\nSubject: =?UTF-8?B?R3LDvMOfZSDigK4gZnJvbSDigKwgIOS4reaWhw==?=\nNewsgroups: local.test\n"+
				"Date: Tue, 20 Dec 1994 18:00:00 GMT\nMessage-ID: <words@lab.example>\nReferences: <gone@lab.example> <first@lab.example>\n"+
				"MIME-Version: 1.0\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n",
				"Gr=FC=DFe aus K=F6ln, 100 =\n%.\n"),
			letter(head("flowed@lab.example", "Re: Flowed", "References: <elsewhere@lab.example>\nContent-Type: text/plain; format=flowed\n"),
				"> A quote that \n> flows on.\nAn answer that \nflows, too.\n"),
			letter(head("parts@lab.example", "Parts", "References: <elsewhere@lab.example>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"==\"\n"),
				"For programs without MIME.\n--==\nContent-Type: multipart/alternative; boundary=alt\n\n"+
					"--alt\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nR3LDvMOfZQo=\n--alt\nContent-Type: text/html\n\n<script>alert(1)</script>\n--alt--\n"+
					"--==\nContent-Type: image/png; name=\"a b.png\"\nContent-Disposition: attachment; filename=\"../a b.png\"\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=\n"+
					"--==\nContent-Type: text/html\n\n<b>shown as source</b>\n--==--\n"),
			letter("From: <script>alert(1)</script>\nSubject: \x1b[31m</title><script>alert(2)</script>\nNewsgroups: local.test,\"><script>,x y\nDate: <b>now</b>\n"+
				"Message-ID: <\"><img/src=x@lab.example>\nReferences: <<a@b>> <javascript:alert(1)@lab.example>\nX-<b>: y\nX-Bidi: a\u202eb\n",
				"<script>alert(3)</script>\n> <img src=x onerror=alert(4)>\njavascript:alert(5) <URL:javascript:alert(6)>\n"),
		},
		"local.more":  {letter(head("other@lab.example", "Elsewhere", ""), "x\n")},
		"local.empty": {},
	}
}

// startNews starts a news server, and a gateway whose news server it is.
func startNews(t *testing.T, set func(*nntptest.Server)) (*nntptest.Server, *httptest.Server) {
	t.Helper()
	news, err := nntptest.Start(t.Context(), "127.0.0.1:0", func(s *nntptest.Server) {
		s.Groups, s.Descriptions = newsgroups(), map[string]string{"local.test": "Tests <b>"}
		if set != nil {
			set(s)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return news, start(t, func(h *Handler) { h.Resolver.Env.NewsServer = news.Addr })
}

// golden compares a page with testdata/NAME, in which the addresses of the servers of the test are
// NEWS and GATEWAY.
func goldenNews(t *testing.T, name, got string, news *nntptest.Server, s *httptest.Server) {
	t.Helper()
	got = strings.NewReplacer(news.Addr, "NEWS", strings.TrimPrefix(s.URL, "http://"), "GATEWAY").Replace(got)
	goldenPage(t, name, got)
}

func TestNewsPages(t *testing.T) {
	news, s := startNews(t, nil)
	for name, path := range map[string]string{
		"groups.html":       "/news/*",
		"group.html":        "/nntp/" + news.Addr + "/local.test",
		"threads.html":      "/nntp/" + news.Addr + "/local.test?threads",
		"news-threads.html": "/news/local.test?threads",
		"group-empty.html":  "/news/local.empty",
		"group.atom":        "/news/local.test?atom",
		"nntp.atom":         "/nntp/" + news.Addr + "/local.test?atom",
		"empty.atom":        "/news/local.empty?atom",
		"article.html":      "/news/first@lab.example",
		"quotes.html":       "/nntp/" + news.Addr + "/local.test/3",
		"words.html":        "/news/words@lab.example",
		"flowed.html":       "/news/flowed@lab.example",
		"parts.html":        "/nntp/" + news.Addr + "/local.test/6",
		"hostile.html":      "/nntp/" + news.Addr + "/local.test/7",
	} {
		res, body := get(t, s, path)
		if res.StatusCode != 200 {
			t.Errorf("%s: %s", path, res.Status)
		}
		goldenNews(t, "news/"+name, body, news, s)
	}
}

const browserAccepts = "text/html,application/xhtml+xml,*/*;q=0.8"

// TestPart downloads the parts of an article.
func TestPart(t *testing.T) {
	news, s := startNews(t, nil)
	path := "/nntp/" + news.Addr + "/local.test/6"
	for query, want := range map[string]struct{ mediaType, disposition, body string }{
		"1": {"text/plain", "attachment; filename=part1", "Grüße\n"},
		"2": {"text/plain", "attachment; filename=part2", "<script>alert(1)</script>"},
		"3": {"image/png", `attachment; filename="a b.png"`, "\x89PNG\r\n\x1a\n"},
		"4": {"text/plain", "attachment; filename=part4", "<b>shown as source</b>"},
	} {
		for _, accept := range []string{browserAccepts, "*/*"} {
			res, body, err := ask(t, s, http.MethodGet, path+"?part="+query, "Accept", accept)
			h := res.Header
			if res.StatusCode != 200 || h.Get("Content-Type") != want.mediaType || h.Get("Content-Disposition") != want.disposition || body != want.body || err != nil {
				t.Errorf("part %s: %s %v %q, %v", query, res.Status, h, body, err)
			}
			if h.Get("Content-Security-Policy") != "sandbox; default-src 'none'" || h.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("part %s: %v", query, h)
			}
			if res, body, err := ask(t, s, http.MethodHead, path+"?part="+query, "Accept", accept); res.StatusCode != 200 || body != "" || err != nil {
				t.Errorf("HEAD: %s, %q, %v", res.Status, body, err)
			}
		}
	}
	for _, query := range []string{"0", "5", "-1", "x", ""} {
		if res, _, _ := ask(t, s, http.MethodGet, path+"?part="+query, "Accept", browserAccepts); res.StatusCode != 404 {
			t.Errorf("part %q: %s", query, res.Status)
		}
	}
}

// TestArticleOctets gives an article as it is to a client that does not ask for a page.
func TestArticleOctets(t *testing.T) {
	news, s := startNews(t, nil)
	want := newsgroups()["local.test"][0]
	for _, path := range []string{"/news/first@lab.example", "/nntp/" + news.Addr + "/local.test/1"} {
		for _, as := range []struct{ query, accept string }{{"?raw", browserAccepts}, {"", "*/*"}} {
			res, body, err := ask(t, s, http.MethodGet, path+as.query, "Accept", as.accept)
			if res.StatusCode != 200 || body != want || err != nil {
				t.Errorf("%s: %s %q, %v", path, res.Status, body, err)
			}
			if h := res.Header; h.Get("Content-Security-Policy") != "sandbox; default-src 'none'" {
				t.Errorf("%s: %v", path, h)
			}
		}
	}
	// The octets of a group are its overview.
	res, body, err := ask(t, s, http.MethodGet, "/news/local.more?raw", "Accept", browserAccepts)
	if want := "1\tElsewhere\tAnn Example <ann@lab.example>\t"; res.StatusCode != 200 || !strings.HasPrefix(body, want) || err != nil {
		t.Errorf("%s %q, %v", res.Status, body, err)
	}
}

// TestMessageIDInGroup leads from a message-id to the number of the article, as an nntp URL has no
// message-ids.
func TestMessageIDInGroup(t *testing.T) {
	news, s := startNews(t, nil)
	path := "/nntp/" + news.Addr + "/local.test"
	for id, want := range map[string]string{"first@lab.example": path + "/1", "words@lab.example": path + "/4", "gone@lab.example": "", "": "", "first": ""} {
		res, body, err := ask(t, s, http.MethodGet, path+"?id="+url.QueryEscape(id), "Accept", browserAccepts)
		switch {
		case err != nil:
			t.Fatal(err)
		case want == "" && (res.StatusCode != 404 || strings.Contains(body, "href=\"#")):
			if res.StatusCode != 404 {
				t.Errorf("%s: %s", id, res.Status)
			}
		case want != "" && (res.StatusCode != 303 || res.Header.Get("Location") != want):
			t.Errorf("%s: %s %s, want %s", id, res.Status, res.Header.Get("Location"), want)
		}
	}
}

// TestGroupPages requests no more of a large group than a page shows.
func TestGroupPages(t *testing.T) {
	const articles = 2500
	news, s := startNews(t, func(n *nntptest.Server) {
		var large []string
		for i := range articles {
			large = append(large, letter(fmt.Sprintf("From: a@b\nSubject: number %d\nMessage-ID: <%d@b>\nDate: Tue, 20 Dec 1994 17:38:00 GMT\n", i+1, i+1), "x\n"))
		}
		n.Groups["local.large"] = large
	})
	path := "/nntp/" + news.Addr + "/local.large"
	seen := make(map[string]int)
	for number, want := range []struct {
		over  string
		links []string
	}{
		{"OVER 1501-2500", []string{"older articles", "Threads"}},
		{"OVER 501-1500", []string{"newer articles", "older articles", "Threads"}},
		{"OVER 1-500", []string{"newer articles", "Threads"}},
	} {
		news.ResetTranscript()
		query := fmt.Sprintf("?page=%d", number+1)
		_, body := get(t, s, path+query)
		if sent := news.Transcript().From(testserver.FromClient); !slices.Contains(sent, want.over) {
			t.Errorf("%s: sent %q, want %s", query, sent, want.over)
		}
		before := articles + 1
		for _, m := range regexp.MustCompile(`>number (\d+)<`).FindAllStringSubmatch(body, -1) {
			seen[m[1]]++
			n, err := strconv.Atoi(m[1])
			if err != nil || n >= before || !strings.Contains(body, fmt.Sprintf(`href="%s/%d"`, path, n)) {
				t.Errorf("%s: article %s after %d, %v", query, m[1], before, err)
			}
			before = n
		}
		for _, text := range []string{"newer articles", "older articles", "Threads"} {
			if got := strings.Contains(body, ">"+text+"</a>"); got != slices.Contains(want.links, text) {
				t.Errorf("%s: a link %q: %v", query, text, got)
			}
		}
	}
	if len(seen) != articles {
		t.Errorf("the pages show %d articles, want %d", len(seen), articles)
	}
	for number, n := range seen {
		if n != 1 {
			t.Errorf("article %s is shown %d times", number, n)
		}
	}
	for _, query := range []string{"?page=4", "?page=999999999999999999999", "?page=-5", "?page=x"} {
		if res, body := get(t, s, path+query); res.StatusCode != 200 || strings.Contains(body, "<tbody>\n</tbody>") {
			t.Errorf("%s: %s\n%s", query, res.Status, body)
		}
	}
	news.ResetTranscript()
	if _, body := get(t, s, path+"?atom"); strings.Count(body, "<entry>") != 100 || strings.Count(body, ">number 2500<") != 1 {
		t.Errorf("the feed has %d entries", strings.Count(body, "<entry>"))
	}
	if sent := news.Transcript().From(testserver.FromClient); !slices.Contains(sent, "OVER 2401-2500") {
		t.Errorf("sent %q", sent)
	}
	// Programs get the whole group.
	_, body, err := ask(t, s, http.MethodGet, path, "Accept", "application/json")
	if err != nil || strings.Count(body, "\n") != articles {
		t.Errorf("%d lines, %v", strings.Count(body, "\n"), err)
	}
}

// TestNewsForPrograms gives lines as "fetch1738 --json" writes them, or names.
func TestNewsForPrograms(t *testing.T) {
	news, s := startNews(t, nil)
	for _, tc := range []struct{ path, accept, want string }{
		{"/nntp/" + news.Addr + "/local.more", "application/json",
			`{"name":"1","url":"nntp://` + news.Addr + `/local.more/1","kind":"document","size":202,"mtime":"1994-12-20T16:38:00Z","type":"message/rfc822","author":"Ann Example <ann@lab.example>","subject":"Elsewhere"}` + "\n"},
		{"/nntp/" + news.Addr + "/local.test", "text/plain", "1\n3\n4\n5\n6\n7\n"},
		{"/nntp/" + news.Addr + "/", "text/plain", "local.empty\nlocal.more\nlocal.test\n"},
		{"/news/*", "text/plain", "local.empty\nlocal.more\nlocal.test\n"},
	} {
		res, body, err := ask(t, s, http.MethodGet, tc.path, "Accept", tc.accept)
		if res.StatusCode != 200 || body != tc.want || err != nil {
			t.Errorf("%s as %s: %s %q, %v", tc.path, tc.accept, res.Status, body, err)
		}
	}
}

// TestGroupsOfServer shows the groups of the server of a URL, with links that stay on that server. The
// way from a group leads there, and so does the address without a slash.
func TestGroupsOfServer(t *testing.T) {
	news, s := startNews(t, nil)
	groups := "/nntp/" + news.Addr + "/"
	_, body := get(t, s, groups)
	for _, want := range []string{"<h1>Newsgroups</h1>", `<a href="` + groups + `local.more">`, "Search the groups", `<span aria-current="page">` + news.Addr + "</span>"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	if _, body := get(t, s, groups+"?q=more"); !strings.Contains(body, "local.more</a>") || strings.Contains(body, "local.test</a>") {
		t.Errorf("a search for groups:\n%s", body)
	}
	for _, path := range []string{"local.test", "local.test/1"} {
		if _, body := get(t, s, groups+path); !strings.Contains(body, `<a href="`+groups+`">`+news.Addr+"</a>") {
			t.Errorf("no way from %s to the groups:\n%s", path, body)
		}
	}
	for _, url := range []string{news.URL, news.URL + "/", news.URL + "/*"} {
		if res, _ := get(t, s, "/open?url="+url); res.Request.URL.Path != groups {
			t.Errorf("%s leads to %s: %s", url, res.Request.URL, res.Status)
		}
	}
}

// TestNewsBroken never lets a truncated article or listing look complete.
func TestNewsBroken(t *testing.T) {
	news, s := startNews(t, nil)
	path := "/nntp/" + news.Addr + "/local.test"
	cut := func(stage string) { news.On(stage, 1, testserver.NoDot()) }

	cut("ARTICLE")
	if res, body, err := ask(t, s, http.MethodGet, path+"/1", "Accept", browserAccepts); res.StatusCode != 502 || err != nil {
		t.Errorf("a truncated article: %s, %v\n%s", res.Status, err, body)
	}
	for _, query := range []string{"", "?threads"} {
		cut("OVER")
		if res, body, err := ask(t, s, http.MethodGet, path+query, "Accept", browserAccepts); err == nil || !strings.Contains(body, `class="error"`) || !strings.Contains(body, "Parts") {
			t.Errorf("a truncated overview: %s, %v\n%s", res.Status, err, body)
		}
	}
	cut("OVER")
	if res, _, err := ask(t, s, http.MethodGet, path+"?atom", "Accept", browserAccepts); res.StatusCode != 502 || err != nil {
		t.Errorf("a truncated feed: %s, %v", res.Status, err)
	}
	cut("LIST ACTIVE")
	if res, body, err := ask(t, s, http.MethodGet, "/news/*", "Accept", browserAccepts); err == nil || !strings.Contains(body, `class="error"`) || !strings.Contains(body, "local.more") {
		t.Errorf("a truncated list of groups: %s, %v\n%s", res.Status, err, body)
	}
	cut("ARTICLE")
	if res, body, err := ask(t, s, http.MethodGet, path+"/6?part=9", "Accept", browserAccepts); res.StatusCode != 502 || err != nil {
		t.Errorf("a part of a truncated article: %s, %v\n%s", res.Status, err, body)
	}
	for url, status := range map[string]int{path + "/2": 404, path + "/99": 404, "/news/none@lab.example": 404, "/nntp/" + news.Addr + "/local.none": 404, "/news/local.none?atom": 404} {
		if res, body, err := ask(t, s, http.MethodGet, url, "Accept", browserAccepts); res.StatusCode != status || err != nil {
			t.Errorf("%s: %s, %v\n%s", url, res.Status, err, body)
		}
	}
}

// TestPartHTTP10 tests that a truncated part does not look complete to a client of HTTP/1.0.
func TestPartHTTP10(t *testing.T) {
	news, s := startNews(t, nil)
	news.On("ARTICLE", 1, testserver.NoDot())
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET /nntp/"+news.Addr+"/local.test/1?part=1 HTTP/1.0\r\nHost: "+s.Listener.Addr().String()+"\r\n\r\n")
	if answer, err := io.ReadAll(conn); err == nil {
		t.Errorf("%d bytes look complete: %.30q", len(answer), answer)
	}
}

// readFeed is a feed as a reader of feeds parses it.
type readFeed struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Links   []struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	} `xml:"link"`
	Entries []struct {
		ID      string `xml:"id"`
		Title   string `xml:"title"`
		Updated string `xml:"updated"`
		Author  string `xml:"author>name"`
		Link    struct {
			Href string `xml:"href,attr"`
		} `xml:"link"`
	} `xml:"entry"`
}

// TestAtom checks the parts of a feed that RFC 4287 requires.
func TestAtom(t *testing.T) {
	_, s := startNews(t, func(n *nntptest.Server) {
		undated := letter("From: \nSubject:\nMessage-ID: <undated@b>\n", "x\n")
		n.Groups["local.odd"] = []string{undated, n.Groups["local.test"][0], undated, letter("From: a@b (A)\nSubject: x\x00\x01\nDate: Tue, 20 Dec 1994 17:38:00 GMT\n", "x\n"), undated}
	})
	for _, group := range []string{"local.test", "local.odd", "local.empty"} {
		res, body := get(t, s, "/news/"+group+"?atom")
		if got := res.Header.Get("Content-Type"); got != "application/atom+xml; charset=utf-8" {
			t.Errorf("%s: Content-Type %s", group, got)
		}
		if got := res.Header.Get("Content-Security-Policy"); got != "sandbox; default-src 'none'" {
			t.Errorf("%s: Content-Security-Policy %s", group, got)
		}
		var feed readFeed
		if err := xml.Unmarshal([]byte(body), &feed); err != nil {
			t.Fatal(err)
		}
		if feed.ID != "news:"+group || feed.Title != group || feed.Updated == "" || feed.Links[0].Href != s.URL+"/news/"+group+"?atom" || feed.Links[1].Href != s.URL+"/news/"+group {
			t.Errorf("%s: %+v", group, feed)
		}
		ids := make(map[string]bool)
		for _, e := range feed.Entries {
			if e.ID == "" || ids[e.ID] || e.Title == "" || e.Author == "" || !strings.HasPrefix(e.Link.Href, s.URL+"/n") {
				t.Errorf("%s: %+v", group, e)
			}
			ids[e.ID] = true
			if _, err := time.Parse(time.RFC3339, e.Updated); err != nil || e.Updated > feed.Updated {
				t.Errorf("%s: %+v in a feed of %s, %v", group, e, feed.Updated, err)
			}
		}
	}
	if _, body, err := ask(t, s, http.MethodGet, "/news/local.test?atom", "Accept", "application/atom+xml, application/json, */*"); !strings.HasPrefix(body, "<?xml") || err != nil {
		t.Errorf("a reader of feeds gets %.100q, %v", body, err)
	}
	if res, body, err := ask(t, s, http.MethodHead, "/news/local.test?atom", "Accept", "*/*"); res.StatusCode != 200 || body != "" || err != nil {
		t.Errorf("HEAD: %s, %q, %v", res.Status, body, err)
	}
}

// TestCharset shows a text that names no charset, and one in the charset that the reader chooses.
func TestCharsets(t *testing.T) {
	_, s := startNews(t, func(n *nntptest.Server) {
		n.Groups["local.old"] = []string{
			letter("From: J\xf6rg\nSubject: Gr\xfc\xdfe\nMessage-ID: <old@b>\n", "K\xf6ln \x93\n"),
			letter("From: a@b\nSubject: x\nMessage-ID: <wrong@b>\nContent-Type: text/plain; charset=x-unknown\n", "K\xf6ln\n"),
			letter("From: a@b\nSubject: x\nMessage-ID: <utf8@b>\n", "Köln\n"),
			letter("From: =?iso-8859-1?Q?J=F6rg?= \xf0\xd2 <j@b>\nSubject: \xf0\xd2 \x93 =?us-ascii?Q?=F0?=\nMessage-ID: <koi@b>\n", "\xf0\xd2\n"),
			letter("From: a@b\nSubject: x\nMessage-ID: <ascii@b>\nContent-Type: text/plain; charset=us-ascii\n", "Köln\n"),
		}
	})
	for path, want := range map[string][]string{
		"/news/old@b":                    {"<h1>Grüße</h1>", "<dd>Jörg</dd>", "Köln \u201c"},
		"/news/wrong@b":                  {"Köln"},
		"/news/utf8@b":                   {"Köln"},
		"/news/utf8@b?charset=latin1":    {"KÃ¶ln"},
		"/news/old@b?charset=cp437":      {"K÷ln ô"},
		"/news/ascii@b":                  {"Köln"},
		"/news/koi@b":                    {"<h1>ðÒ “ ð</h1>", "<dd>Jörg ðÒ &lt;j@b&gt;</dd>", "ðÒ"},
		"/news/koi@b?charset=koi8-r":     {"<h1>Пр ⌠ П</h1>", "<dd>Jörg Пр &lt;j@b&gt;</dd>", "\nПр"},
		"/news/old@b?charset=unheard-of": {"<h1>The gateway does not know this charset.</h1>"},
		"/news/utf8@b?charset=auto":      {"Köln", `href="/news/utf8@b?charset=cp437"`},
	} {
		_, body := get(t, s, path)
		for _, text := range want {
			if !strings.Contains(body, text) {
				t.Errorf("%s has no %q:\n%s", path, text, body)
			}
		}
	}
}

// TestShortRows shows articles of which an overview has only some fields.
func TestShortRows(t *testing.T) {
	news, s := startNews(t, nil)
	news.On("OVER", 0, testserver.Data("1\r\n2\ta subject\tu@u\r\n3\t=?UTF8?Q?caf=C3=A9?=\r\n5\t\tfrom\t\t<5@h>\r\n5\tagain\r\n4\tt\tab\tf@h\tTue, 20 Dec 1994 17:38:00 EST\t<4@h>\t\t\t\r\n.\r\n"))
	group := "/nntp/" + news.Addr + "/local.test"
	for _, path := range []string{group, group + "?threads", group + "?atom", "/news/local.test"} {
		_, body := get(t, s, path)
		for _, text := range []string{"(no subject)", "a subject", "u@u", "café", "again", "t ab", "f@h", "22:38"} {
			if !strings.Contains(body, text) {
				t.Errorf("%s has no %q:\n%s", path, text, body)
			}
		}
	}
}

// pageTags are the tags and attributes of the pages of news. Everything else that such a page has is
// text.
var pageTags = regexp.MustCompile(`^<(?:!doctype html|/?(?:html|head|meta|title|link|body|a|nav|ol|ul|li|main|h1|h2|p|dl|dt|dd|details|summary|time|data|wbr|strong|b|section|form|label|input|button|img|pre|blockquote|table|caption|thead|tbody|tr|th|td|footer|span|div)(?: (?:lang|charset|name|content|rel|type|title|href|class|id|aria-label|aria-current|aria-hidden|role|scope|datetime|value|action|method|data-local|src|alt|width|height|loading)="[^"<>]*")*)>$`)

// checkMarkup checks that a page has nothing but the markup of the templates, and that its links
// lead to the gateway or to a web page.
func checkMarkup(t *testing.T, what, body string) {
	t.Helper()
	for _, tag := range regexp.MustCompile(`<[^<>]*>?`).FindAllString(body, -1) {
		if !pageTags.MatchString(tag) {
			t.Errorf("%s has %q", what, tag)
		}
	}
	for _, m := range regexp.MustCompile(`(?:href|src)="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		if to := m[1]; !strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "http://") && !strings.HasPrefix(to, "https://") && to != "#main" && to != "#thread" || strings.HasPrefix(to, "//") {
			t.Errorf("%s links to %q", what, to)
		}
	}
	for _, r := range body {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7F && r < 0xA0 || unicode.Is(unicode.Bidi_Control, r) {
			t.Errorf("%s contains %U", what, r)
		}
	}
}

// hostileValues are values that would do harm in a page, were they not text.
var hostileValues = []string{
	"<script>alert(1)</script>", "</title><script>alert(1)</script>", "</pre></main><script>alert(1)</script>", "<!--", "-->", "<![CDATA[", "]]>",
	`"><img src=x onerror=alert(1)>`, `" onmouseover="alert(1)`, `' onmouseover='alert(1)`, "<img src=x onerror=alert(1)//", "<svg/onload=alert(1)>",
	"javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,<script>alert(1)</script>", "<javascript:alert(1)@b>", "<URL:javascript:alert(1)>", "<URL:file:///etc/passwd>",
	"\x1b[31mred\x1b]0;title\x07", "\x00nul", "\u202egpj.exe", "\u2066\u2069\u200f\u061c", "\x9b31m", "\xff\xfe", "\xc0\xbc", "\u2028\u2029", "\ufeff", "\u0085",
	"=?utf-8?q?=3Cscript=3Ealert(1)=3C/script=3E?=", "=?utf-8?b?4oCu?=", "=?utf-8?q?=0D=0ASet-Cookie:_a=3Db?=", "=?iso-8859-1?q?=9B=1B?=", "=?utf-7?q?+ADw-script+AD4-?=", "=?x?y?z?=", "=?utf-8?b?!!!?=",
	"{{.}}", "{{template \"main\"}}", "${alert(1)}", "&lt;script&gt;", "&#60;script&#62;", "&", "%3Cscript%3E", "//evil.example/", "http://evil.example/\"onclick=alert(1)", "\\u003cscript\\u003e",
	"+ADw-script+AD4-", "<style>@import 'http://evil.example/'</style>", "<base href=http://evil.example/>", "<meta http-equiv=refresh content=0;url=http://evil.example/>", "<form action=http://evil.example/>",
	"<a@b> <a@b> <a@b>", "<>", "<<<>>>", strings.Repeat("<a@b>", 1000), strings.Repeat("x", 5000), strings.Repeat("=?utf-8?q?a?= ", 500), strings.Repeat("(", 5000),
}

// TestHostileNews shows hostile values in each place of an article and of a group as text.
func TestHostileNews(t *testing.T) {
	fields := []string{"From", "Subject", "Date", "Newsgroups", "Followup-To", "References", "Message-ID", "X-Other", "Content-Type", "Content-Transfer-Encoding", "Content-Disposition"}
	var articles []string
	for _, value := range hostileValues {
		line := strings.NewReplacer("\r", " ", "\n", " ").Replace(value)
		for _, name := range fields {
			header := ""
			for _, other := range fields[:7] {
				if other != name && other != "References" && other != "Followup-To" {
					header += other + ": a@b\n"
				}
			}
			articles = append(articles, letter(header+name+": "+line+"\n", "text\n"))
		}
		articles = append(articles,
			letter("From: a@b\nSubject: s\n", value+"\n> "+value+"\n-- \n"+value+"\n"),
			letter("From: a@b\nSubject: s\nContent-Type: text/html\n", value+"\n"),
			letter("From: a@b\nSubject: s\nContent-Type: multipart/mixed; boundary=b\n", "--b\nContent-Type: image/png; name=\""+line+"\"\n\nx\n--b\nContent-Type: "+line+"\n\n"+value+"\n--b--\n"))
	}
	news, s := startNews(t, func(n *nntptest.Server) {
		n.Groups["local.hostile"], n.Descriptions["local.hostile"] = articles, strings.Join(hostileValues[:30], " ")
	})
	group := "/nntp/" + news.Addr + "/local.hostile"
	for _, path := range []string{"/news/*", group, group + "?threads", "/news/local.hostile", "/news/local.hostile?threads"} {
		res, body := get(t, s, path)
		if res.StatusCode != 200 {
			t.Errorf("%s: %s", path, res.Status)
		}
		checkMarkup(t, path, withoutBar(body))
	}
	for i := range articles {
		path := fmt.Sprintf("%s/%d", group, i+1)
		res, body := get(t, s, path)
		if res.StatusCode != 200 && !strings.Contains(articles[i], "Message-ID: \x00") { // the server's reply has this NUL
			t.Errorf("%s: %s\n%s", path, res.Status, articles[i])
		}
		checkMarkup(t, path, withoutBar(body))
		if len(res.Cookies()) > 0 || t.Failed() {
			t.Fatalf("%s: %v\n%q", path, res.Header, articles[i])
		}
	}
	_, body := get(t, s, "/news/local.hostile?atom")
	var feed readFeed
	if err := xml.Unmarshal([]byte(body), &feed); err != nil || len(feed.Entries) == 0 {
		t.Errorf("%d entries, %v", len(feed.Entries), err)
	}
	for _, p := range []string{"1", "2"} {
		for i := 13; i < len(articles); i += 14 {
			res, _, err := ask(t, s, http.MethodGet, fmt.Sprintf("%s/%d?part=%s", group, i+1, p), "Accept", browserAccepts)
			if h := res.Header; err != nil || res.StatusCode == 200 && (h.Get("Content-Security-Policy") != "sandbox; default-src 'none'" || !strings.HasPrefix(h.Get("Content-Disposition"), "attachment") || active[h.Get("Content-Type")]) {
				t.Errorf("part %s of %d: %v, %v", p, i+1, h, err)
			}
		}
	}
}

// FuzzArticle shows any article as a page that has no markup of its own.
func FuzzArticle(f *testing.F) {
	for _, list := range newsgroups() {
		for _, a := range list {
			f.Add(a)
		}
	}
	f.Add("Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: multipart/mixed; boundary=a\n\n--a\n\nx\n--a--\n")
	h := new(Handler)
	f.Fuzz(func(t *testing.T, article string) {
		loc, err := place.Parse("news:a@b.example")
		if err != nil {
			t.Fatal(err)
		}
		rec := httptest.NewRecorder()
		q := newRequest(h, httptest.NewRequest(http.MethodGet, "/news/a@b.example", nil)).of(loc)
		err = articlePages{q, newUpstream(q, new(conversation)), &response{ResponseWriter: rec}}.article(&fetch.Resource{Body: io.NopCloser(strings.NewReader(article))})
		if rec.Code != 200 || err != nil {
			t.Fatalf("%d %s, %v", rec.Code, rec.Body, err)
		}
		checkMarkup(t, "the page", withoutBar(rec.Body.String()))
	})
}

// TestGroupPageSize limits the size of a page of 1,000 articles with subjects of usual length, most
// of them repeated.
func TestGroupPageSize(t *testing.T) {
	news, s := startNews(t, func(n *nntptest.Server) {
		var large []string
		for i := range groupRows {
			large = append(large, letter(fmt.Sprintf("From: Some Body <author@example.org>\nSubject: Re: a question about things, number %d\nReferences: <%d@news.example.org>\n"+
				"Message-ID: <%d@news.example.org>\nDate: Tue, 20 Dec 1994 17:38:00 GMT\n", i/7, i-i%7, i), "x\n"))
		}
		n.Groups["local.large"] = large
	})
	for _, path := range []string{"/nntp/" + news.Addr + "/local.large", "/news/local.large", "/news/local.large?threads"} {
		_, body := get(t, s, path)
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = io.WriteString(z, body)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes, %d compressed", path, len(body), packed.Len())
		if len(body) > 300<<10 || packed.Len() > 15<<10 {
			t.Errorf("%s: %d bytes, %d compressed; want at most 300 and 15 KiB", path, len(body), packed.Len())
		}
	}
}
