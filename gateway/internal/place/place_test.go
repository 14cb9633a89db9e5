package place

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// travelled returns a path as the gateway receives it from a browser, which resolves it against the
// URL of a page.
func travelled(t *testing.T, path string) (string, url.Values) {
	t.Helper()
	base, _ := url.Parse("http://127.0.0.1:8738/ftp/host/dir/")
	u, err := base.Parse(path)
	if err != nil {
		t.Fatalf("%q: %v", path, err)
	}
	req, err := http.NewRequest(http.MethodGet, u.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return req.URL.EscapedPath(), req.URL.Query()
}

var places = []struct{ url, place string }{
	{"ftp://host/", "/ftp/host/"},
	{"ftp://host:2121/pub/a%20b;type=a", "/ftp/host:2121/pub/a%20b;type=a"},
	{"ftp://host/%2Fetc/motd", "/ftp/host/%2Fetc/motd"},
	{"ftp://ƴD/Uost/%2Fetc%252tmo/d", "/ftp/%C6%B4D/Uost/%2Fetc%252tmo/d"},
	{"ftp://host//etc/", "/url?u=ftp%3A%2F%2Fhost%2F%2Fetc%2F"},
	{"ftp://host/a%3Fb%23c%25", "/ftp/host/a%3Fb%23c%25"},
	{"ftp://host/../up", "/url?u=ftp%3A%2F%2Fhost%2F..%2Fup"},
	{"ftp://host/./here", "/url?u=ftp%3A%2F%2Fhost%2F.%2Fhere"},
	{"gopher://host/", "/gopher/host/"},
	{"gopher://host/1/a/b", "/gopher/host/1/a/b"},
	{"gopher://host/7/find%09words", "/gopher/host/7/find%09words"},
	{"gopher://host:7070/0%5Cx%FF", "/gopher/host:7070/0%5Cx%FF"},
	{"gophers://host/0x%09%09+", "/gophers/host/0x%09%09+"},
	{"news:comp.lang.c", "/news/comp.lang.c"},
	{"news:*", "/news/*"},
	{"news:a%2Fb@host", "/news/a/b@host"},
	{"nntp://host/", "/nntp/host/"},
	{"nntps://host:1563/", "/nntps/host:1563/"},
	{"nntp://host/group/12", "/nntp/host/group/12"},
	{"snews://host/group", "/snews/host/group"},
	{"wais://host/db", "/wais/host/db"},
	{"wais://host/db?two+words", "/wais/host/db?q=two+words"},
	{"wais://host/db/TEXT/1=a;2=b", "/wais/host/db/TEXT/1%3Da%3B2%3Db"},
	{"prospero://host/name;version=1", "/prospero/host/name;version=1"},
	{"mailto:a@b", "/mailto/a@b"},
	{"mailto:a@b?subject=c", "/url?u=mailto%3Aa%40b%3Fsubject%3Dc"},
	{"telnet://host/", "/telnet/host/"},
	{"telnet://user%20name@host/", "/telnet/host/?user=user+name"},
	{"ftp://[::1]:21/x", "/ftp/[::1]:21/x"},
}

// TestPlace tests that a path leads to the URL that it was made of, also after a browser has
// normalized it.
func TestPlace(t *testing.T) {
	for _, tc := range places {
		l, err := Parse(tc.url)
		if err != nil {
			t.Errorf("%s: %v", tc.url, err)
			continue
		}
		got := Of(l)
		if got != tc.place {
			t.Errorf("%s is at %s, want %s", tc.url, got, tc.place)
		}
		checkTravel(t, l)
	}
}

func checkTravel(t *testing.T, l locator.Locator) {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/", http.NotFoundHandler())
	rec := httptest.NewRecorder()
	if mux.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, Of(l), nil)); rec.Code != http.StatusNotFound {
		t.Errorf("a ServeMux redirects %s to %s", Of(l), rec.Header().Get("Location"))
	}
	path, query := travelled(t, Of(l))
	back, err := Locate(path, query)
	if w, ok := l.(*locator.WAIS); ok && w.Form == locator.WAISSearch { // the words are in the query
		bare := *w
		bare.Form, bare.Search = locator.WAISDatabase, ""
		if words := query.Get("q"); words != w.Search {
			t.Errorf("%s: the words are %q", l, words)
		}
		l = &bare
	}
	if bare, err := Parse(l.String() + "/"); err == nil && locator.Equal(bare, back) && HasServer(l.Scheme()) {
		return // a path begins with a slash
	}
	if err != nil || !locator.Equal(l, back) {
		t.Errorf("%s is at %s, which leads to %v, %v", l, Of(l), back, err)
	}
}

// TestPlaceOfLogin tests that no login gets into a path; the user of a telnet URL is not secret.
func TestPlaceOfLogin(t *testing.T) {
	for _, url := range []string{"ftp://someone:secret@host/", "telnet://guest:secret@host/"} {
		ref, err := Parser.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		if got := Of(ref.Locator); strings.Contains(got, "secret") || strings.Contains(got, "someone") {
			t.Errorf("%s is at %s", url, got)
		}
	}
}

// TestRefusedPlaces tests the kind of the error for URLs that have no page.
func TestRefusedPlaces(t *testing.T) {
	for path, want := range map[string]fetch.ErrorKind{
		"/nothing":                      fetch.ErrNotFound,
		"/file//etc/passwd":             fetch.ErrRefused,
		"/file/localhost/etc/passwd":    fetch.ErrRefused,
		"/http/host/":                   fetch.ErrUnsupported,
		"/https/host/":                  fetch.ErrUnsupported,
		"/javascript/alert(1)":          fetch.ErrUnsupported,
		"/ftp/host/a%0D%0ADELE%20x":     fetch.ErrBadURL,
		"/gopher/host/0a%0D%0Ab":        fetch.ErrBadURL,
		"/url?u=file%3A%2F%2F%2Fetc%2F": fetch.ErrRefused,
		"/url":                          fetch.ErrBadURL,
		"/ftp/ho%20st/":                 fetch.ErrBadURL,
		"/ftp/host%2Fa/":                fetch.ErrBadURL,
	} {
		path, query := travelled(t, path)
		if l, err := Locate(path, query); fetch.KindOf(err) != want {
			t.Errorf("%s leads to %v, %v; want %q", path, l, err, want)
		}
	}
}

// TestMended tests paths that clients have written in their own way.
func TestMended(t *testing.T) {
	for path, want := range map[string]string{
		"/ftp/host/pub/./c:/file":        "ftp://host/pub/c:/file",
		"/ftp/host/./././c:/":            "ftp://host/c:/",
		"/ftp/host/dir;type=a/file":      "ftp://host/dir%3Btype=a/file",
		"/ftp/host/dir;type=d/":          "ftp://host/dir%3Btype=d/",
		"/ftp/host/a;b/file;type=a":      "ftp://host/a%3Bb/file;type=a",
		"/ftp/host/dir%3Btype=a/.hidden": "ftp://host/dir%3Btype=a/.hidden",
	} {
		if l, err := Locate(path, nil); err != nil || l.String() != want {
			t.Errorf("%s leads to %v, %v; want %s", path, l, err, want)
		}
	}
}

func FuzzPlace(f *testing.F) {
	for _, tc := range places {
		f.Add(tc.url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		if l, err := Parse(url); err == nil {
			checkTravel(t, l)
		}
	})
}

// TestTrusted tests that a page has links to paths, and to URLs of the schemes of Locators, except to
// local files.
func TestTrusted(t *testing.T) {
	for _, s := range locator.Schemes() {
		text := s.Name + ":x"
		if got := string(trusted(text)); got != text && s.Name != "file" || got != "" && s.Name == "file" {
			t.Errorf("%s: %q", text, got)
		}
	}
	for _, text := range []string{"", "x", "javascript:alert(1)", "JavaScript:/x", " ftp://h/", "data:text/html,x", "vbscript:x", "blob:x", "//h.example/", "../x", "?q", ":", "x/y:z"} {
		if got := At(text); !got.Empty() {
			t.Errorf("%q: %q", text, got.URL)
		}
	}
	for _, path := range []string{"/", "/x:y", "./javascript:x", "#x"} {
		if got := At(path); string(got.URL) != path {
			t.Errorf("%q: %q", path, got.URL)
		}
	}
}

// TestDated tests that the beginning of a path of a page as of a time is cut off as it was written, and
// that no page of a URL has such a path.
func TestDated(t *testing.T) {
	for _, tc := range places {
		l, err := Parse(tc.url)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, ok := CutDated(Of(l)); ok {
			t.Errorf("%s is the path of a time", Of(l))
		}
		stamp, rest, ok := CutDated(Dated("19941201120000") + Of(l))
		if !ok || stamp != "19941201120000" || rest != Of(l) {
			t.Errorf("%s: %q, %q, %t", tc.url, stamp, rest, ok)
		}
	}
	for _, path := range []string{"", "/", "/at", "/atom/1994/x"} {
		if stamp, rest, ok := CutDated(path); ok {
			t.Errorf("%q: %q, %q", path, stamp, rest)
		}
	}
}

// TestAbove tests the folders above a URL, of which the last one is its server.
func TestAbove(t *testing.T) {
	for url, want := range map[string]string{
		"ftp://h/":            "ftp://h/",
		"ftp://h":             "ftp://h/",
		"ftp://h:2121/a/b/c":  "ftp://h:2121/a/b/ ftp://h:2121/a/ ftp://h:2121/",
		"ftp://h/a/b/":        "ftp://h/a/ ftp://h/",
		"gopher://h/0/a.b/c":  "gopher://h/0/a.b/ gopher://h/0/ gopher://h/",
		"news:comp.lang.c":    "news:comp.lang. news:comp. news:",
		"news:a@b":            "news:",
		"news:*":              "news:",
		"nntp://h/comp.c/12":  "nntp://h/comp.c/ nntp://h/",
		"wais://h/db?a/b.c":   "wais://h/",
		"prospero://h/a;b=/c": "prospero://h/",
		"gopher://h/0" + strings.Repeat("/", 1000): "",
	} {
		l, err := Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		got := Above(l)
		if want == "" && len(got) == maxAbove && got[maxAbove-1] == "gopher://h/" {
			continue
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%.100s: %.1000q, want %q", url, got, want)
		}
	}
}

// TestPart tests the links to parts of pages.
func TestPart(t *testing.T) {
	for _, tc := range []struct{ path, id, want string }{
		{"", "a-1", "#a-1"}, {"/x", "Ü \"<#", "/x#%C3%9C%20%22%3C%23"}, {"./y?raw", "b", "./y?raw#b"}, {"javascript:x", "b", "#b"},
	} {
		if got := At(tc.path).Part(tc.id); string(got.URL) != tc.want {
			t.Errorf("%q, %q: %q, want %q", tc.path, tc.id, got.URL, tc.want)
		}
	}
}
