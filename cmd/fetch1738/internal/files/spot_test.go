package files

import (
	"testing"

	"github.com/fetch1738/fetch1738/locator"
)

func parse(t *testing.T, url string) locator.Locator {
	t.Helper()
	ref, err := locator.Parser{Tolerate: locator.TolerateUsual}.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return ref.Locator
}

func TestSpotOf(t *testing.T) {
	for url, want := range map[string]struct{ dir, name, asDir string }{
		"ftp://h/a/b":          {"ftp://h/a/", "b", "ftp://h/a/b/"},
		"ftp://h/a/b/":         {"ftp://h/a/", "b", "ftp://h/a/b/"},
		"ftp://h/a":            {"ftp://h/", "a", "ftp://h/a/"},
		"ftp://h":              {"ftp://h/", "", "ftp://h/"},
		"ftp://h/%2F":          {"ftp://h/%2F/", "", "ftp://h/%2F/"},
		"ftp://h/%2Fetc":       {"ftp://h/%2F/", "etc", "ftp://h/%2F/etc/"},
		"ftp://h/%2Fetc%2Fx/":  {"ftp://h/%2Fetc/", "x", "ftp://h/%2Fetc/x/"},
		"ftp://u:p@h/%2Fetc/x": {"ftp://u:p@h/%2Fetc/", "x", "ftp://u:p@h/%2Fetc/x/"},
		"ftps://h/a%20b/*":     {"ftps://h/a%20b/", "*", "ftps://h/a%20b/*/"},
		"file:///a//b":         {"file:///a/", "b", "file:///a/b/"},
		"file:///a/":           {"file:///", "a", "file:///a/"},
		"file:///":             {"file:///", "", "file:///"},
		"http://h":             {"http://h/", "", "http://h/"},
		"http://u:p@h/a%20b/c": {"http://u:p@h/a%20b/", "c", "http://u:p@h/a%20b/c/"},
		"https://h/a/b%23/":    {"https://h/a/", "b#", "https://h/a/b%23/"},
	} {
		s, err := spotOf(parse(t, url))
		if err != nil || s.dir.String() != want.dir || s.name != want.name || s.as(true).String() != want.asDir {
			t.Errorf("%s: %v, %q, %v, %v", url, s.dir, s.name, s.as(true), err)
		}
	}
	for _, url := range []string{"ftp://h/a/..", "ftp://h/a/../", "file:///a/.", "ftp://h/a;type=i", "http://h/a?x", "http://h/a/..", "http://h/%2E%2E/", "gopher://h/1a", "ftp://h/a%0D%0ADELE%20b"} {
		if s, err := spotOf(parse(t, url)); err == nil {
			t.Errorf("%s: %+v", url, s)
		}
	}
}
