package gateway

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/gateway/internal/textview"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// TestDirectoryViews compares the pages of a directory with golden files.
func TestDirectoryViews(t *testing.T) {
	srv := startFTP(t, map[string]string{
		"pub/file-10.tar.gz": strings.Repeat("x", 2048), "pub/File-2.tar.gz": "x", "pub/light.png": "x", "pub/sub/f": "", "pub/README.md": "# Lights\n\nSee [file 2](File-2.tar.gz).\n",
	})
	s := start(t, nil)
	for name, query := range map[string]string{"table": "", "filter": "?filter=FILE-&sort=-size", "nothing": "?filter=%3Cb%3E", "grid": "?grid"} {
		golden(t, "directory/"+name+".html", mainOf(t, pageAt(t, s, at(srv, "/pub/"+query), browser), srv.URL))
	}
}

// TestFilter tests which names a filter leaves, also with another order and in a listing that does
// not fit on a page.
func TestFilter(t *testing.T) {
	srv := startFTP(t, nil)
	srv.On("MLSD", 0, testserver.Data("type=file;size=2; Alpha\r\ntype=dir; alphabet\r\ntype=file;size=1; BETA\r\ntype=file;size=3; \xc9t\xe9\r\ntype=file; a&b=c\r\n"))
	s := start(t, nil)
	for query, want := range map[string]string{
		"filter=ALPH": "alphabet/ Alpha", "filter=a&sort=-size": "alphabet/ Alpha BETA a&b=c", "filter=%20beta%20": "BETA", "filter=%C3%A9T": "Été", "filter=none": "",
		"filter=a%26b%3D": "a&b=c", "filter=": "alphabet/ a&b=c Alpha BETA Été",
	} {
		page := pageAt(t, s, at(srv, "/?"+query), browser)
		if got := strings.Join(namesOf(rowsOf(page)), " "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	page := pageAt(t, s, at(srv, "/?filter=a%26b&sort=-size"), browser)
	for _, part := range []string{`<input type="hidden" name="sort" value="-size">`, `name="filter" value="a&amp;b"`, `?sort=name&amp;filter=a%26b"`, `<a href="` + at(srv, `/?sort=-size`) + `" rel="nofollow">Show all</a>`} {
		if !strings.Contains(page, part) {
			t.Errorf("%s is missing in\n%s", part, page)
		}
	}
	// The form of a page below /url keeps the URL.
	other := startFTP(t, map[string]string{"a/b": "b"})
	page = pageAt(t, s, "/url?u="+url.QueryEscape(other.URL+"/a/../a/"), browser)
	if !strings.Contains(page, `<input type="hidden" name="u" value="`+other.URL+`/a/../a/">`) || !strings.Contains(page, `<form action="/url"`) {
		t.Error(page)
	}

	long := startFTP(t, nil)
	long.On("MLSD", 0, testserver.Data(listingOf(2*heldRows)+"type=dir; some-package\r\n"))
	found := pageAt(t, s, at(long, "/?filter=package_09999"), browser)
	if rows := rowsOf(found); len(rows) != 1 || !strings.Contains(found, "Found in 10001 entries: 1 file, 76 MiB") {
		t.Errorf("%q\n%s", rows, found)
	}
	if page := pageAt(t, s, at(long, "/?page=22"), browser); len(rowsOf(page)) != 0 || !strings.Contains(page, "There are no more entries.") || !strings.Contains(page, "?page=21") {
		t.Error(page)
	}
	for _, number := range []string{"1000000000", "9223372036854775807", "999999999999999999999"} {
		if page := pageAt(t, s, at(long, "/?page="+number), browser); len(rowsOf(page)) != 0 || !strings.Contains(page, "There are no more entries.") || strings.Contains(page, "Next page") {
			t.Errorf("%s:\n%s", number, page)
		}
	}
	if page := pageAt(t, s, at(long, "/?page=-1"), browser); len(rowsOf(page)) != pageRows {
		t.Error(page)
	}
	if page := pageAt(t, s, at(long, "/?sort=name&page=30"), browser); len(rowsOf(page)) != 1 || !strings.Contains(page, "Page 21 of 21") {
		t.Error(page)
	}
	second := pageAt(t, s, at(long, "/?filter=package&page=2"), browser)
	if rows := rowsOf(second); len(rows) != pageRows || !strings.Contains(second, "/?filter=package&amp;page=3") {
		t.Errorf("%d rows", len(rows))
	}
}

// TestGrid tests that a page of pictures has a limited number of them, and none that is large.
func TestGrid(t *testing.T) {
	srv := startFTP(t, nil)
	var listing strings.Builder
	for i := range gridTiles + 2 {
		fmt.Fprintf(&listing, "type=file;size=%d; %d.jpg\r\n", maxPicture-1+i, i)
	}
	listing.WriteString("type=file;size=1; a.txt\r\ntype=file;size=1; a.svg\r\ntype=file; a.html\r\n")
	srv.On("MLSD", 0, testserver.Data(listing.String()))
	s := start(t, nil)
	images := func(page string) []string { return regexp.MustCompile(`<img [^>]*>`).FindAllString(page, -1) }
	for name, header := range map[string][]string{"browser": browser, "old browser": {"Accept", "text/html"}} {
		first := pageAt(t, s, at(srv, "/?grid"), header)
		if got := images(first); !slices.Equal(got, []string{`<img src="./0.jpg?raw" alt="" loading="lazy">`, `<img src="./1.jpg?raw" alt="" loading="lazy">`}) || strings.Count(first, "<li><a href=\"./") != gridTiles || !strings.Contains(first, "/?sort=name&amp;grid&amp;page=2") || !strings.Contains(first, "Page 1 of 2") {
			t.Errorf("%s: %q\n%s", name, got, first)
		}
		if second := pageAt(t, s, at(srv, "/?sort=name&grid&page=2"), header); strings.Count(second, "<li><a href=\"./") != 2 || strings.Contains(second, "page=3") {
			t.Errorf("%s: %s", name, second)
		}
	}
	if page := pageAt(t, s, at(srv, "/"), browser); !strings.Contains(page, "/?grid\"") || len(images(page)) > 0 {
		t.Error(page)
	}
}

// TestZone tests that times have the zone that the server says, or none.
func TestZone(t *testing.T) {
	s := start(t, nil)
	for _, tc := range []struct {
		verb, listing, head, time string
		hide                      []string
	}{
		{"MLSD", "type=file;size=1;modify=20010203000000; f\r\n", "(UTC)", `<time datetime="2001-02-03T00:00:00Z">2001-02-03 00:00</time>`, nil},
		{"LIST", "-rw-r--r-- 1 u g 1 Feb  3  2001 f\r\n", "(time zone not known)", `<time datetime="2001-02-03">2001-02-03</time>`, []string{"MLST", "MLSD"}},
	} {
		srv := startFTP(t, nil, func(s *ftptest.Server) { s.Hide = tc.hide })
		srv.On(tc.verb, 0, testserver.Data(tc.listing))
		if page := pageAt(t, s, at(srv, "/"), browser); !strings.Contains(page, tc.head) || !strings.Contains(page, tc.time) {
			t.Errorf("%s, %s are missing in\n%s", tc.head, tc.time, page)
		}
	}
}

// TestLiveFilter tests that the script of a directory is the one that its CSP permits, and that a page
// without all names has none.
func TestLiveFilter(t *testing.T) {
	srv := startFTP(t, map[string]string{"pub/a": "a"})
	s := start(t, nil)
	for query, want := range map[string]bool{"": true, "?sort=-name": true, "?filter=a": false, "?grid": false} {
		_, body, err := ask(t, s, http.MethodGet, at(srv, "/pub/"+query), browser...)
		if err != nil || strings.Contains(body, `data-filter="filter"`) != want {
			t.Errorf("%s: %v, want %v in\n%s", query, err, want, body)
		}
	}
}

// TestParent tests the link to the parent folder, for persons only.
func TestParent(t *testing.T) {
	srv := startFTP(t, map[string]string{"a/b c/f": "f"})
	s := start(t, nil)
	parent := regexp.MustCompile(`<a href="([^"]*)">(?:<svg[^>]*><use href="#up"/></svg>)?(?:<span>)?Parent folder`)
	for path, want := range map[string]string{
		"/": "", "/a/": "/", "/a/b%20c/": "/a/", "/a/b%20c;type=d": "/a/", "/a/b%20c/?grid": "/a/", "/%2Fa/": "/",
	} {
		got := parent.FindStringSubmatch(pageAt(t, s, at(srv, path), browser))
		if want != "" {
			want = at(srv, want)
		}
		if got == nil && want != "" || got != nil && got[1] != want {
			t.Errorf("%s: %q, want %s", path, got, want)
		}
		if page := pageAt(t, s, at(srv, path), program); strings.Contains(page, "Parent folder") || strings.Contains(page, "<svg") && !strings.Contains(path, "grid") {
			t.Errorf("%s: a program gets\n%s", path, page)
		}
	}
}

// TestMarkdownPart tests that a page shows a text in Markdown up to a limit, and says so.
func TestMarkdownPart(t *testing.T) {
	srv := startFTP(t, map[string]string{"long.md": strings.Repeat(strings.Repeat("x", 99)+"\n", maxShown/100+10), "line.md": strings.Repeat("y", 3*textview.PartSize) + "é"})
	s := start(t, nil)
	if page := pageAt(t, s, at(srv, "/long.md"), browser); !strings.Contains(page, "the first 4 MiB") || strings.Count(page, "x") < maxShown*98/100 {
		t.Errorf("%d bytes are shown", strings.Count(page, "x"))
	}
	if page := pageAt(t, s, at(srv, "/line.md"), browser); strings.Count(page, "y") < 3*textview.PartSize || !strings.Contains(page, "é</p>") {
		t.Errorf("%d bytes are shown", strings.Count(page, "y"))
	}
	srv.On("RETR", 0, testserver.Reset(500_000))
	if _, body, err := ask(t, s, http.MethodGet, at(srv, "/long.md"), browser...); err == nil || !strings.Contains(body, "The document ends early") {
		t.Errorf("%v: %.500s", err, body)
	}
}
