package main

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

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

func TestSafeName(t *testing.T) {
	for text, want := range map[string]string{
		"a.txt":                           "a.txt",
		"a%20b":                           "a%20b",
		"..%2F..%2Fetc":                   "_..%2F..%2Fetc",
		"dir/a":                           "a",
		`C:\dir\a`:                        "a",
		"C:x":                             "C_x",
		".bashrc":                         "_.bashrc",
		"-rf":                             "_-rf",
		"~root":                           "_~root",
		"|sh":                             "_sh",
		"a\tb\x7f":                        "a_b_",
		"gnp.\u202Eexe":                   "gnp._exe",
		"nul":                             "_nul",
		"Com1.tar.gz":                     "_Com1.tar.gz",
		"LPT²":                            "_LPT²",
		"COM10":                           "COM10",
		"COMLPT1":                         "COMLPT1",
		"end. . ":                         "end",
		"...":                             "_",
		" ":                               "_",
		"gr\xfc\xdfe":                     "gr%FC%DFe",
		"日本":                              "日本",
		strings.Repeat("a", 300) + ".tar": strings.Repeat("a", 196) + ".tar",
		"a." + strings.Repeat("b", 300):   "a." + strings.Repeat("b", 198),
		strings.Repeat("é", 150) + ".x":   strings.Repeat("é", 99) + ".x",
	} {
		if got, err := safeName(text); err != nil || got != want {
			t.Errorf("safeName(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", "..", "dir/", `dir\`, "a/..", "a\x00b"} {
		if got, err := safeName(text); err == nil {
			t.Errorf("safeName(%q) = %q, want an error", text, got)
		}
	}
}

func FuzzFileName(f *testing.F) {
	for _, seed := range []string{"a", "../x", "CON", "é\xff", "a\u202e", strings.Repeat("x.", 150), " . ", "COM¹.x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, err := safeName(text)
		if err != nil {
			return
		}
		switch {
		case !filepath.IsLocal(name) || filepath.Base(name) != name || name == ".":
			t.Errorf("%q is not one local name", name)
		case !utf8.ValidString(name) || len(name) > maxName:
			t.Errorf("%q is not short UTF-8", name)
		case strings.ContainsAny(name, "<>:\"/\\|?*\x00\n\x1b\u202e") || strings.HasPrefix(name, "-") || isDevice(name):
			t.Errorf("%q is not harmless", name)
		}
		if again, err := safeName(name); err != nil || again != name {
			t.Errorf("safeName(%q) = %q, %v", name, again, err)
		}
	})
}
