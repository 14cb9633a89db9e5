package main

import (
	"testing"

	"github.com/fetch1738/fetch1738/locator"
)

func TestLastSegment(t *testing.T) {
	for typed, want := range map[string]string{
		"ftp://h/pub/a.txt":               "a.txt",
		"ftp://h/pub/a%20b%2Fc":           "a%20b%2Fc",
		"ftp://h/pub/a.txt;type=i":        "a.txt",
		"ftp://h/pub/a.txt;TYPE=A":        "a.txt",
		"ftp://h/pub/":                    "",
		"ftp://h":                         "",
		"ftp://u:p@h/x":                   "x",
		"http://h/a/b.html?q=/x/y":        "b.html",
		"http://h/a#frag/ment":            "a",
		"http://h?q":                      "",
		"gopher://h/0/docs/readme.txt":    "readme.txt",
		"gopher://h/0readme":              "readme",
		"gopher://h/7/search%09two words": "search",
		"gopher://h/1":                    "",
		"gopher://h/":                     "",
		"file:///etc/hostname":            "hostname",
		"file://localhost/":               "",
		"http:h/dir/x":                    "x",
		"news:local.test":                 "local.test",
		"news:../../a%2Fb@h":              "../../a%2Fb@h", // made safe by package filename
		"nntp://h/local.test/12":          "12",
		"nntp://h/local.test":             "local.test",
		"nntps://h/local.test/12":         "12",
	} {
		ref, err := locator.Parser{Tolerate: locator.TolerateAll}.Parse(typed)
		if err != nil {
			t.Errorf("%s: %v", typed, err)
			continue
		}
		if got := lastSegment(ref.Locator, typed); got != want {
			t.Errorf("lastSegment(%q) = %q, want %q", typed, got, want)
		}
	}
}
