package relative

import (
	"net/url"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/locator"
)

// TestResolve has the examples of RFC 3986 §5.4, and references that net/url refuses or changes.
func TestResolve(t *testing.T) {
	for base, cases := range map[string]map[string]string{
		"http://a/b/c/d;p?q": {
			"g:h": "g:h", "g": "http://a/b/c/g", "./g": "http://a/b/c/g", "g/": "http://a/b/c/g/", "/g": "http://a/g", "//g": "http://g", "?y": "http://a/b/c/d;p?y",
			"g?y": "http://a/b/c/g?y", "#s": "http://a/b/c/d;p?q#s", "g#s": "http://a/b/c/g#s", "g?y#s": "http://a/b/c/g?y#s", ";x": "http://a/b/c/;x", "g;x": "http://a/b/c/g;x",
			"": "http://a/b/c/d;p?q", ".": "http://a/b/c/", "./": "http://a/b/c/", "..": "http://a/b/", "../": "http://a/b/", "../g": "http://a/b/g", "../..": "http://a/",
			"../../": "http://a/", "../../g": "http://a/g", "../../../g": "http://a/g", "/./g": "http://a/g", "/../g": "http://a/g", "g.": "http://a/b/c/g.", "..g": "http://a/b/c/..g",
			"./../g": "http://a/b/g", "./g/.": "http://a/b/c/g/", "g/../h": "http://a/b/c/h", "g;x=1/../y": "http://a/b/c/y", "g?y/../x": "http://a/b/c/g?y/../x", "g#s/../x": "http://a/b/c/g#s/../x",
			"//g/h/../i?j": "http://g/i?j", "//g?y/..": "http://g/?y/..", "//": "http://",
			"100%": "http://a/b/c/100%", "%zz%2F|": "http://a/b/c/%zz%2F|", "1:2": "http://a/b/c/1:2", "a b:c": "http://a/b/c/a b:c", "\\\\g\\h": "http://a/b/c/\\\\g\\h", "%2e%2e/x": "http://a/b/c/%2e%2e/x",
			"//g//h//..//i": "http://g//h//i",
		},
		"http://a/%3Cb":          {"\"<c>": "http://a/%22%3Cc%3E", "mailto:<a@b>": "mailto:<a@b>"},
		"http://a":               {"g": "http://a/g", "?y": "http://a/?y", "": "http://a", "#s": "http://a#s", "/": "http://a/", "//g": "http://g"},
		"https://u:p@a:81/b%2Fc": {"g": "https://u:p@a:81/g", "?y": "https://u:p@a:81/b%2Fc?y"},
		"gopher://a/1/b/c":       {"g": "gopher://a/1/b/g", "/0x": "gopher://a/0x", "//g/": "gopher://g/"},
		"ftp://a/b/c;type=i":     {"g": "ftp://a/b/g", "..": "ftp://a/"},
		"news:a.b":               {"c.d": "news:c.d", "//g": "news://g"},
	} {
		l, err := locator.Parser{Tolerate: locator.TolerateUsual}.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		for ref, want := range cases {
			if got := Resolve(l.Locator, ref); got != want {
				t.Errorf("%q at %s: %q, want %q", ref, base, got, want)
			}
		}
	}
}

// FuzzResolve compares with net/url, for the references that it does not change.
func FuzzResolve(f *testing.F) {
	for _, ref := range []string{"g", "../g", "/a/./b/../c", "?y", "#s", "//g/x/..", "g;x=1/../y", ".../..", "a/b/../../..", "", "?", "a:b"} {
		f.Add(ref)
	}
	base := &locator.HTTP{Server: locator.Server{HostPort: locator.HostPort{Host: "a"}}, HasPath: true, Path: "b/c/d;p", HasSearch: true, Search: "q"}
	at, err := url.Parse(base.String())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		if strings.Trim(ref, "abcdefghijklmnopqrstuvwxyz0123456789/.?;=-_:#") != "" || strings.Contains(ref, "//") || strings.Count(ref, "#") > 1 || strings.HasSuffix(ref, "#") {
			return
		}
		r, err := url.Parse(ref)
		if err != nil || r.Scheme != "" {
			return
		}
		if got, want := Resolve(base, ref), at.ResolveReference(r).String(); got != want {
			t.Errorf("%q: %q, want %q", ref, got, want)
		}
	})
}
