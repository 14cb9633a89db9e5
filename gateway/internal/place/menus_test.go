package place

import (
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/locator"
)

// TestMenus tests the way to an item, whose selector is a path, has its type before the path, or is no
// path at all.
func TestMenus(t *testing.T) {
	for url, want := range map[string]string{
		"gopher://h.example/":                 "gopher://h.example/",
		"gopher://h.example/0/a/b.txt":        "gopher://h.example/ gopher://h.example/1/a gopher://h.example/1/a/b.txt",
		"gopher://h.example/0a//b.txt":        "gopher://h.example/ gopher://h.example/1a gopher://h.example/1a//b.txt",
		"gopher://h.example/00/a/b.txt":       "gopher://h.example/ gopher://h.example/11/a gopher://h.example/11/a/b.txt",
		"gopher://h.example/hURL:http://x.y/": "gopher://h.example/",
		"gopher://h.example/8guest/x":         "gopher://h.example/",
	} {
		l, err := Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, at := range Menus(l.(*locator.Gopher)) {
			got = append(got, at.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %s", url, got, want)
		}
	}
}
