package place

import (
	"strings"
	"testing"
)

// TestResolve tests where the links of a document lead.
func TestResolve(t *testing.T) {
	for document, links := range map[string]map[string]string{
		"ftp://h.example/a/b/README.md": {
			"NEWS.md": "/a/b/NEWS.md", "./NEWS.md#top": "/a/b/NEWS.md #top", "sub/": "/a/b/sub/", "../c%20d": "/a/c%20d", "..": "/a/", "/top": "/top", "a//b": "/a/b/a/b", "%2Fx": "/a/b/%2Fx",
			"ftp://other.example/x": "ftp://other.example/x", "https://w.example/?q#f%20g": "https://w.example/?q #f g", "mailto:a@b.example": "mailto:a@b.example", "gopher://h.example/": "gopher://h.example/",
			"../../..": "", "#t%C3%B6p": " #töp", "javascript:alert(1)": "", "JavaScript:x": "", "a:b": "", "%zz": "", "data:text/html,x": "", "": "", "//evil.example/x": "",
		},
		"ftp://h.example/a/": {"x.md": "/a/x.md", "../x": "/x", "../../x": ""},
		"gopher://h.example/0/a/b.md": {
			"c.md": "/0/a/c.md", "d/": "/1/a/d/", "../e": "/1/e", "/f.gif": "/g/f.gif", "f.png": "/I/a/f.png", "g.tar.gz": "/9/a/g.tar.gz", "h.html": "/h/a/h.html", "i.ogg": "/s/a/i.ogg",
			"../../x": "", "a%0d%0ab": "", "a%09b": "", "javascript:x": "", "ftp://h.example/x": "ftp://h.example/x",
		},
		"gopher://h.example/0about":  {"c.md": "", "/c.md": ""},
		"gopher://h.example/7/a%09b": {"c.md": ""},
		"news:comp.lang.c":           {"c.md": "", "news:a@b": "news:a@b"},
		"wais://h.example/db?words":  {"c.md": ""},
	} {
		base, err := Parse(document)
		if err != nil {
			t.Fatal(err)
		}
		scheme, rest, _ := strings.Cut(document, "//")
		host, _, _ := strings.Cut(rest, "/")
		server := scheme + "//" + host
		for link, want := range links {
			to, fragment := Resolve(base, link)
			got := ""
			if to != nil && trusted(to.String()) != "" {
				got = strings.TrimPrefix(to.String(), server)
			}
			if fragment != "" {
				got += " #" + fragment
			}
			if got != want {
				t.Errorf("%s: %q leads to %q, want %q", document, link, got, want)
			}
		}
	}
}
