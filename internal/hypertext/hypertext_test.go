package hypertext

import (
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/locator"
)

func TestTags(t *testing.T) {
	const text = `<!-- <a href=no> --><A HREF="x&amp;y"><b>1 < 2</b><script>"<a href=no>"</SCRIPT><img alt='>' src=i.png><br/><a href`
	var got []string
	for name, attributes := range Tags(text) {
		got = append(got, name+" "+ValueOf(attributes, "href")+ValueOf(attributes, "src"))
	}
	if want := []string{"a x&y", "b ", "script ", "img i.png", "br "}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestResolve(t *testing.T) {
	base := &locator.HTTP{Server: locator.Server{HostPort: locator.HostPort{Host: "h"}}, Path: "a/b", HasPath: true}
	for ref, want := range map[string]string{"c": "http://h/a/c", " /c#x": "http://h/c", "gopher://g/0x": "gopher://g/0x", "//g/": "http://g/",
		"100%": "http://h/a/100%25", "/%zz|%2F": "http://h/%25zz%7C%2F", "12:30.html?50%": "http://h/a/12:30.html?50%25", "../..": "http://h/", "?": "http://h/a/b?"} {
		if l, err := Resolve(base, ref); err != nil || l.String() != want {
			t.Errorf("%s: %v, %v", ref, l, err)
		}
	}
}

func FuzzTags(f *testing.F) {
	f.Add("<a href='x'>")
	f.Fuzz(func(t *testing.T, text string) {
		size := 0
		for name, attributes := range Tags(text) {
			if size += len(name) + len(attributes); size > len(text) || strings.ToLower(name) != name {
				t.Fatalf("%q, %q", name, attributes)
			}
			ValueOf(attributes, "href")
		}
	})
}
