package gateway

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// bar is what each page for a person begins with. TestBar has it; other tests need not repeat it.
var bar = regexp.MustCompile(`(?s)<link rel="(?:icon|apple-touch-icon|manifest|help)" [^>]*>\n|<script src="[^"]*/script.js"[^>]*></script>\n|<header class="bar">.*?</header>\n|<nav aria-label="This page">.*?</nav>\n|<div class="way">\n|</div>\n(<main|<section class="capture")`)

// withoutBar is a page without its bar.
func withoutBar(page string) string {
	return strings.Replace(bar.ReplaceAllString(page, "$1"), "<body data-keep>", "<body>", 1)
}

var update = flag.Bool("update", false, "write the golden files of testdata instead of comparing with them")

// goldenPage compares a page without its bar with the file testdata/NAME.
func goldenPage(t *testing.T, name, page string) {
	t.Helper()
	golden(t, name, withoutBar(page))
}

// golden compares a text with the file testdata/NAME.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; with -update it becomes\n%s", file, got)
	}
}

// TestBar compares what each page has before its content, for a person and for a program.
func TestBar(t *testing.T) {
	s := start(t, nil)
	for name, header := range map[string][]string{"person": browser, "program": program} {
		page, _, ok := strings.Cut(pageAt(t, s, "/mailto/a@b", header), "<h1>")
		if !ok {
			t.Fatal(page)
		}
		page = regexp.MustCompile(`integrity="[^"]*"`).ReplaceAllString(page, `integrity=""`) // TestScript has it
		golden(t, "bar/"+name+".html", page)
	}
}
