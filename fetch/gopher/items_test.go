package gopher

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/codec/menu"
	"github.com/fetch1738/fetch1738/locator"
)

// show formats an item in one line: type, name, target, other fields.
func show(it fetch.Item) string {
	url := "-"
	if it.Locator != nil {
		url = fmt.Sprintf("%v %s", it.Kind, it.Locator)
	}
	s := fmt.Sprintf("%s %q %s", it.Header[0].Value, it.Name, url)
	for _, h := range it.Header[1:] {
		s += fmt.Sprintf(" %s=%s", h.Name, h.Value)
	}
	return s
}

// menuOf fetches a menu with the given answer.
func menuOf(t testing.TB, answer []byte) (list []string) {
	t.Helper()
	res, err := (&Fetcher{Env: answering(answer, nil)}).Fetch(t.Context(), &fetch.Request{Locator: parse(t, "gopher://h/1")})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	for item, err := range res.Items {
		if err != nil {
			t.Fatal(err)
		}
		if item.Header[0].Name != HeaderType || item.Size != -1 {
			t.Errorf("%+v", item)
		}
		list = append(list, show(item))
	}
	return list
}

// TestMenus parses menus that real servers sent.
func TestMenus(t *testing.T) {
	for _, tc := range []struct {
		server, name string
		want         []string
	}{
		{"gopherd-2.3.0", "01-root-plain", []string{
			`0 "About the lab (renamed by .names)" document gopher://localhost:7072/00/about gopher+=+`,
			`1 "Recipes" menu gopher://localhost:7072/11/recipes gopher+=+`,
			`7 "Search the lab" query gopher://localhost:7072/77/find.sh`,
			`9 "Binary blob via .cap" document gopher://localhost:7072/99/data gopher+=+`,
			`h "A web page" document http://www.example.org/`,
			`h "Web by URL=" document http://www.example.org//page.html`,
			`8 "Telnet BBS" interactive telnet://guest@bbs.example.org/`,
			`2 "Phone book" query gopher://ph.example.org:105/2`,
			`h "Page title" document gopher://localhost:7072/h0/page gopher+=+`,
			`1 "bin" menu gopher://localhost:7072/11/bin gopher+=+`,
			`1 "docs" menu gopher://localhost:7072/11/docs gopher+=+`,
			`I "dot" document gopher://localhost:7072/I9/dot gopher+=+`,
			`0 "empty" document gopher://localhost:7072/00/empty gopher+=+`,
			`1 "etc" menu gopher://localhost:7072/11/etc gopher+=+`,
			`0 "find.sh" document gopher://localhost:7072/00/find.sh gopher+=+`,
			`0 "hello.sh" document gopher://localhost:7072/00/hello.sh gopher+=+`,
			`0 "latin1" document gopher://localhost:7072/00/latin1 gopher+=+`,
			`0 "noeol" document gopher://localhost:7072/00/noeol gopher+=+`,
			`0 "survey" document gopher://localhost:7072/00/survey gopher+=?`,
			`0 "utf8" document gopher://localhost:7072/00/utf8 gopher+=+`,
		}},
		{"gopherd-2.3.0", "06-dir-plain", []string{
			`0 "pups" document gopher://localhost:7072/00/recipes/pups gopher+=+`,
			`0 "salmon" document gopher://localhost:7072/00/recipes/salmon gopher+=+`,
			`3 "(NULL)" - error=(NULL)`,
		}},
		{"gopherd-2.3.0", "70-search-plain", []string{`0 "Result for salmon" document gopher://localhost:7070/00/about.txt`}},
		{"pygopherd-3.0.0", "06-dir-plain", []string{
			`0 "pups" document gopher://localhost:7074/0/recipes/pups.txt gopher+=+`,
			`i "Abstract of the pups." -`,
			`9 "salmon" document gopher://localhost:7074/9/recipes/salmon.ps gopher+=+`,
			`0 "salmon" document gopher://localhost:7074/0/recipes/salmon.txt gopher+=+`,
			`0 "salmon.keywords" document gopher://localhost:7074/0/recipes/salmon.keywords gopher+=+`,
			`0 "salmon.txt.french" document gopher://localhost:7074/0/recipes/salmon.txt.french gopher+=+`,
			`0 "salmon.txt.german" document gopher://localhost:7074/0/recipes/salmon.txt.german gopher+=+`,
		}},
		{"pygopherd-3.0.0", "90-map", []string{
			`i "Welcome to the map" -`,
			`0 "A text" document gopher://localhost:7074/0/about.txt gopher+=+`,
			`1 "Remote" menu gopher://gopher.example.org/1/`,
			`h "Web" document http://www.example.org/`,
			`7 "Search" query gopher://localhost:7074/7/cgi-bin/q.sh`,
			`i "iinfo line" -`,
			`i "Done" -`,
		}},
		{"gophernicus-3.1.1", "map", []string{
			`i "Lab map" -`,
			`i "plain info line" -`,
			`0 "Hello" document gopher://127.0.0.1:17075/0/docs/hello.txt`,
			`1 "Docs" menu gopher://127.0.0.1:17075/1/docs`,
			`7 "Search" query gopher://127.0.0.1:17075/7/cgi-bin/search`,
			`9 "Binary" document gopher://127.0.0.1:17075/9/bin.d/rand.bin`,
			`g "Dot" document gopher://127.0.0.1:17075/g/bin.d/dot.gif`,
			`h "Web" document http://127.0.0.1/`,
			`8 "Telnet" interactive telnet://guest@127.0.0.1:2323/`,
			`0 "Elsewhere" document gopher://127.0.0.1/0/docs/hello.txt`,
			`i "___________________________________________________________________" -`,
			`i "                 Gophered by Gophernicus/3.1.1 on Debian/12 x86_64" -`,
		}},
		{"gophernicus-3.1.1", "space", []string{
			`i "[/with space/]" -`,
			`i "" -`,
			`1 "..                                                                " menu gopher://127.0.0.1:17075/1/`,
			`0 "a b.txt                               2026-Nov-20 05:15     0.0 KB" document gopher://127.0.0.1:17075/0/with%20space/a%23040b.txt`,
			`i "___________________________________________________________________" -`,
			`i "                 Gophered by Gophernicus/3.1.1 on Debian/12 x86_64" -`,
		}},
	} {
		_, answer := recorded(t, tc.server, tc.name)
		if diff := cmp.Diff(tc.want, menuOf(t, answer)); diff != "" {
			t.Errorf("%s %s: %s", tc.server, tc.name, diff)
		}
	}
}

// TestItems has the targets of menu lines.
func TestItems(t *testing.T) {
	for line, want := range map[string]string{
		"0a\t/x\th\t70":                        `0 "a" document gopher://h/0/x`,
		"0a\t/x\th":                            `0 "a" document gopher://h/0/x`,
		"0a\t/x y\t::1\t7070":                  `0 "a" document gopher://[::1]:7070/0/x%20y`,
		"1a\t\th\t70":                          `1 "a" menu gopher://h/`,
		"0\t/x\th\t70":                         `0 "/x" document gopher://h/0/x`,
		"0a\t0/x\th\t70\t+":                    `0 "a" document gopher://h/00/x gopher+=+`,
		"0caf\xe9\t/caf\xe9\th\t70":            `0 "caf\xe9" document gopher://h/0/caf%E9`,
		"za\t/x\th\t70":                        `z "a" document gopher://h/z/x`,
		"7a\t/q\th\t70":                        `7 "a" query gopher://h/7/q`,
		"7a\t/q?db=x\th\t70":                   `7 "a" query gopher://h/7/q?db=x%09`,
		"7a\t/q?db=x\th\t70\t+":                `7 "a" query gopher://h/7/q?db=x%09 gopher+=+`,
		"2a\t\th\t105":                         `2 "a" query gopher://h:105/2`,
		"2a\t\th":                              `2 "a" query gopher://h:105/2`,
		"8a\t\th\t23":                          `8 "a" interactive telnet://h/`,
		"8a\tguest\th":                         `8 "a" interactive telnet://guest@h/`,
		"8a\tlog in: x\th\t2323":               `8 "a" interactive telnet://log%20in%3A%20x@h:2323/`,
		"Ta\tguest\th\t23":                     `T "a" interactive tn3270://guest@h/`,
		"Ta\t\th\t99":                          `T "a" interactive tn3270://h:99/`,
		"ha\tURL:http://e.org/~x?y=z#f\th\t70": `h "a" document http://e.org/%7Ex?y=z`,
		"ha\t/URL:ftp://e.org/f\th\t70":        `h "a" document ftp://e.org/f`,
		"ha\turl:gopher://e.org/0x\th\t70":     `h "a" document gopher://e.org/0x`,
		"ha\tURL:news:a@b\t\t":                 `h "a" document news:a@b`,
		"ha\tURL:ssh://e.org/\th\t70":          `h "a" document ssh://e.org/`,
		"ha\tURL:javascript:alert(1)\th\t70":   `h "a" - fault=a gopher item must not link to a URL of scheme "javascript"`,
		"ha\tURL:data:text/html,x\th\t70":      `h "a" - fault=a gopher item must not link to a URL of scheme "data"`,
		"ha\tURL:file:///etc/passwd\th\t70":    `h "a" - fault=a gopher item must not link to a URL of scheme "file"`,
		"ha\tGET /x?y\te.org\t80":              `h "a" document http://e.org/x?y`,
		"ha\tGET \te.org\t8080":                `h "a" document http://e.org:8080`,
		"ha\tGETTING\te.org\t80":               `h "a" document gopher://e.org:80/hGETTING`,
		"ha\t/page.html\th\t70":                `h "a" document gopher://h/h/page.html`,
		"0a\t/x\ry\th\t70":                     `0 "a" - fault=the selector cannot be sent`,
		"0a\t/x\x00y\th\t70":                   `0 "a" - fault=the selector cannot be sent`,
		"0a\t/x\t17075\t70":                    `0 "a" - fault=bad host`,
		"0a\t/x\t127.1\t70":                    `0 "a" - fault=bad host`,
		"0a\t/x\ta..b\t70":                     `0 "a" - fault=bad host`,
		"0a\t/x\th\t0":                         `0 "a" - fault=bad port`,
		"0a\t/x\terror.host\t1":                `0 "a" - fault=bad host`,
		"i\x1b[2Jb\tfake\t(NULL)\t0":           `i "\x1b[2Jb" -`,
		"plain text":                           `i "plain text" - fault=not a menu line`,
		"":                                     `i "" -`,
	} {
		got := menuOf(t, []byte(line+"\r\n1other\t/\th\t70\r\n"))
		if got[0] != want {
			t.Errorf("%q:\n     %s\nwant %s", line, got[0], want)
		}
	}
	want := []string{`9 "a" document gopher://h/9/x`, `9 "b" document gopher://m/9/y mirror=`}
	if got := menuOf(t, []byte("9a\t/x\th\t70\r\n+b\t/y\tm\t70\r\n")); !cmp.Equal(got, want) {
		t.Errorf("mirror: %q", got)
	}
}

// TestNoMenu has pages without a menu line, which are no menus: the Items end with an error. Pages
// that have lines of text beside others are menus.
func TestNoMenu(t *testing.T) {
	_, missing := recorded(t, "gophernicus-3.1.1", "missing")
	long := "A page\r\n" + strings.Repeat("is what it is.\r\n", 10000)
	for page, want := range map[string]string{
		string(missing): "Error: File or directory not found! (null)", "Welcome\r\nto my site\r\n": "Welcome", "0Only a name\r\n": "0Only a name", "<html>": "<html>",
		"info\r\n3error\r\nand text\r\n": "and text", "\r\nx\r\n.\r\n": "x", long: "A page",
		"": "", ".\r\n": "", "\r\n": "", "iinfo\r\n": "", "3error\r\niinfo\r\n": "", "Welcome\r\niinfo\t\tnull.host\t1\r\n": "", "text\r\n0a\t/a\th\t70\r\n": "", "text\r\n0a\t/a\th\tno port\r\n": "",
	} {
		for url, isMenu := range map[string]bool{"gopher://h/1/x": true, "gopher://h": true, "gopher://h/7/x%09words": false} {
			res, err := (&Fetcher{Env: answering([]byte(page), nil)}).Fetch(t.Context(), &fetch.Request{Locator: parse(t, url)})
			if err != nil {
				if !strings.HasPrefix(page, "3error") {
					t.Errorf("%s: %q: %v", url, page, err)
				}
				continue
			}
			var last error
			for _, err := range res.Items {
				last = err
			}
			res.Close()
			e, failed := errors.AsType[*fetch.Error](last)
			if expected := isMenu && want != ""; failed != expected || failed && (e.Kind != fetch.ErrProtocol || e.Reply != want) {
				t.Errorf("%s: %.50q: %v, want %q", url, page, last, want)
			}
		}
	}
}

// TestItemsRoundTrip checks that the URL of every item is parsed as the item's locator.
func TestItemsRoundTrip(t *testing.T) {
	var selector strings.Builder
	for c := range 256 {
		if !strings.ContainsRune("\x00\t\r\n", rune(c)) {
			selector.WriteByte(byte(c))
		}
	}
	for _, typ := range "0123456789+TgIhdspPMxz~<:;!" {
		answer := fmt.Sprintf("1above\t/\th\t70\r\n%cname\t%s\th\t7070\t+\r\n", typ, selector.String())
		res, err := (&Fetcher{Env: answering([]byte(answer), nil)}).Fetch(t.Context(), &fetch.Request{Locator: parse(t, "gopher://h/1")})
		if err != nil {
			t.Fatal(err)
		}
		for item, err := range res.Items {
			if err != nil {
				t.Fatal(err)
			}
			if item.Locator == nil {
				continue
			}
			if ref, err := (locator.Parser{}).Parse(item.Locator.String()); err != nil || !locator.Equal(ref.Locator, item.Locator) {
				t.Errorf("type %c: %v is parsed as %v, %v", typ, item.Locator, ref.Locator, err)
			}
		}
		res.Close()
	}
}

func TestItemLimits(t *testing.T) {
	answer := []byte("0a\t/a\th\t70\r\n0b\t/b\th\t70\r\n0" + strings.Repeat("c", 5000) + "\t/c\th\t70\r\n")
	for _, tc := range []struct {
		limits fetch.Limits
		items  int
		kind   fetch.ErrorKind
	}{
		{fetch.Limits{}, 3, fetch.ErrOther}, {fetch.Limits{Items: 3}, 3, fetch.ErrOther}, {fetch.Limits{Items: 2}, 2, fetch.ErrTooLarge},
		{fetch.Limits{Line: 4096}, 2, fetch.ErrTooLarge}, {fetch.Limits{Line: -1}, 3, fetch.ErrOther}, {fetch.Limits{Body: 30}, 2, fetch.ErrTooLarge},
	} {
		env := answering(answer, nil)
		env.Limits = tc.limits
		res, err := (&Fetcher{Env: env}).Fetch(t.Context(), &fetch.Request{Locator: parse(t, "gopher://h/1")})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		var last error
		for _, err := range res.Items {
			if last = err; err == nil {
				n++
			}
		}
		if n != tc.items || (tc.kind == fetch.ErrOther) != (last == nil) || last != nil && !errors.Is(last, tc.kind) {
			t.Errorf("%+v: %d items, %v", tc.limits, n, last)
		}
		res.Close()
	}
}

// BenchmarkItems measures a menu of 10,000 lines, from bytes to Items with their Locators, against
// bytes.Split of the same bytes.
func BenchmarkItems(b *testing.B) {
	var text bytes.Buffer
	for i := range 10000 {
		fmt.Fprintf(&text, "0Document number %d\t/archive/dir%d/doc%d.txt\tgopher.example.org\t70\r\n", i, i/10, i)
	}
	data := text.Bytes()
	l := parse(b, "gopher://h/1")
	var split, read time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if n := len(bytes.Split(data, []byte("\n"))); n != 10001 {
			b.Fatal(n)
		}
		between := time.Now()
		n := 0
		for item, err := range items(b.Context(), bytes.NewReader(data), accessOf(l), fetch.Limits{}.WithDefaults()) {
			if err != nil || item.Locator == nil {
				b.Fatal(item, err)
			}
			n++
		}
		if n != 10000 {
			b.Fatal(n)
		}
		split += between.Sub(start)
		read += time.Since(between)
	}
	b.ReportMetric(float64(read)/float64(split), "x-bytes.Split")
	b.ReportMetric(float64(read.Nanoseconds())/float64(b.N)/10000, "ns/item")
}

// menuLine parses a line of a menu.
func menuLine(text string) *menu.Line {
	line := menu.Parse([]byte(text))
	return &line
}
