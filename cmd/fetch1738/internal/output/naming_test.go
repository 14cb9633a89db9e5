package output

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
		"wais://h/db/TEXT/162/1=h%3A210;2=/wais/db;3=0%20162%20/wais/docs/whale.txt;4=h%3A210;5=/wais/db;6=0%20162%20/wais/docs/whale.txt;7=%00;": "whale.txt",
		"wais://h/db/TEXT/162%2F1%3Dh%3B3%3D0%20162%20%2Fdocs%2Fwhale.txt%3B7%3D%00%3B":                                                           "whale.txt",
		"wais://h/db/TEXT/162/1=h%3A210;2=/wais/db;3=42;7=%00;":                                                                                   "42",
		"wais://h/db/TEXT/docs/whale.txt": "whale.txt",
		"wais://h/db?whale":               "db?whale",
		"http:h/dir/x":                    "x",
		"news:local.test":                 "local.test",
		"news:../../a%2Fb@h":              "../../a%2Fb@h", // made safe by package filename
		"nntp://h/local.test/12":          "12",
		"nntp://h/local.test":             "local.test",
		"nntps://h/local.test/12":         "12",
		"snews:local.test":                "local.test",
		"snews://h/local.test":            "local.test",
		"snews://h/a%2Fb@c":               "a%2Fb@c",
		"gophers://h/0readme":             "readme",
		"ftps://h/dir/x;type=i":           "x",
	} {
		ref, err := locator.Parser{Tolerate: locator.TolerateAll}.Parse(typed)
		if err != nil {
			t.Errorf("%s: %v", typed, err)
			continue
		}
		if got := LastSegment(ref.Locator, typed); got != want {
			t.Errorf("LastSegment(%q) = %q, want %q", typed, got, want)
		}
	}
}
