package gateway

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver"
)

// menuWith is a menu of the items of a server, each a line without host and port.
func menuWith(addr string, items ...string) string {
	host, port, _ := strings.Cut(addr, ":")
	var menu strings.Builder
	for _, item := range items {
		menu.WriteString(item + "\t" + host + "\t" + port + "\r\n")
	}
	return menu.String() + ".\r\n"
}

// TestJournal tests the feed of a menu whose documents have dates in their names or selectors.
func TestJournal(t *testing.T) {
	srv, s := startGopher(t, nil, nil)
	path := pathOf(t, srv.URL+"/1/phlog")
	srv.On("REQUEST /phlog", 0, testserver.Data(menuWith(srv.Addr,
		"iMy phlog 2020-01-01\t", "02024-02-29 A <leap> & day\t/phlog/a", "0First (2023-01-02)\t/phlog/b", "0\x1b[31m2024-03-01\x1b[0m R\xfcckblick\t/phlog/c", "0A title\t/phlog/2022/05/06/d.txt",
		"02024-02-29 Again\t/phlog/a", "0About\t/about", "12024-04-01 A menu\t/old", "72024-04-02 A search\t/find", "h2024-04-03 The web\tURL:http://h.example/", "0Not a date 2023-02-29\t/x",
	)))
	if _, page := get(t, s, path); !strings.Contains(page, `<link rel="alternate" type="application/atom+xml" title="Atom" href="`+path+`?atom">`) || !strings.Contains(page, `<a href="`+path+`?atom" rel="nofollow">This menu as a feed`) {
		t.Error(page)
	}
	res, body, err := ask(t, s, http.MethodGet, path+"?atom", "Accept", "application/atom+xml, application/json, */*")
	if err != nil || res.Header.Get("Content-Type") != "application/atom+xml; charset=utf-8" || res.Header.Get("Content-Security-Policy") != octetsSecurity {
		t.Errorf("%v, %v", err, res.Header)
	}
	var feed readFeed
	if err := xml.Unmarshal([]byte(body), &feed); err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	if feed.ID != srv.URL+"/1/phlog" || feed.Updated != "2024-03-01T00:00:00Z" || !strings.Contains(body, "<author>\n  <name>"+srv.Addr+" /phlog</name>") || feed.Links[0].Href != s.URL+path+"?atom" || feed.Links[1].Href != s.URL+path {
		t.Errorf("%+v", feed)
	}
	var got []string
	for _, e := range feed.Entries {
		if !strings.HasPrefix(e.ID, srv.URL+"/0/phlog/") || e.Link.Href != s.URL+"/gopher/"+strings.TrimPrefix(e.ID, "gopher://") {
			t.Errorf("%+v", e)
		}
		got = append(got, e.Updated[:10]+" "+e.Title)
	}
	want := []string{"2024-03-01 Rückblick", "2024-02-29 A <leap> & day", "2023-01-02 First", "2022-05-06 A title"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if res, body, err := ask(t, s, http.MethodHead, path+"?atom", "Accept", "*/*"); res.StatusCode != 200 || body != "" || err != nil {
		t.Errorf("HEAD: %s, %q, %v", res.Status, body, err)
	}
}

// TestNoJournal tests menus without a feed, and one that breaks off.
func TestNoJournal(t *testing.T) {
	srv, s := startGopher(t, nil, nil)
	for name, menu := range map[string]string{
		"one":   menuWith(srv.Addr, "02024-02-29 a\t/a", "0b\t/b"),
		"same":  menuWith(srv.Addr, "02024-02-29 a\t/a", "02024-02-29 a\t/a"),
		"texts": menuWith(srv.Addr, "i2024-02-29 a\t/a", "i2024-02-28 a\t/b", "32024-02-28 a\t/b"),
		"empty": ".\r\n",
	} {
		srv.On("REQUEST /"+name, 0, testserver.Data(menu))
		if res, body := get(t, s, pathOf(t, srv.URL+"/1/"+name)+"?atom"); res.StatusCode != 404 || !strings.Contains(body, "This menu has no feed") {
			t.Errorf("%s: %s\n%s", name, res.Status, body)
		}
		if _, body := get(t, s, pathOf(t, srv.URL+"/1/"+name)); strings.Contains(body, "atom") && name != "same" {
			t.Errorf("%s has a feed\n%s", name, body)
		}
	}
	dated := strings.TrimSuffix(menuWith(srv.Addr, "02024-02-29 a\t/a", "02024-02-28 b\t/b"), ".\r\n")
	srv.On("REQUEST /cut", 0, testserver.Data(dated+strings.Repeat("x", 10_000)))
	if res, body := get(t, s, pathOf(t, srv.URL+"/1/cut")+"?atom"); res.StatusCode != 413 || strings.Contains(body, "<entry>") {
		t.Errorf("a menu that breaks off: %s\n%s", res.Status, body)
	}
}

// TestLongJournal tests that a feed has only the newest documents.
func TestLongJournal(t *testing.T) {
	srv, s := startGopher(t, nil, nil)
	var items []string
	for i := range 3 * maxEntries {
		items = append(items, fmt.Sprintf("0%d-%02d-01 Number %d\t/%d", 2000+i/12, i%12+1, i, i))
	}
	srv.On("REQUEST", 0, testserver.Data(menuWith(srv.Addr, items...)))
	_, body := get(t, s, pathOf(t, srv.URL+"/1")+"?atom")
	if n := strings.Count(body, "<entry>"); n != maxEntries || !strings.Contains(body, ">Number 299<") || strings.Contains(body, ">Number 199<") {
		t.Errorf("%d entries\n%.2000s", n, body)
	}
}
