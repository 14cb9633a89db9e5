package markup

import (
	"errors"
	"html/template"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/locator"
)

// put returns what Put writes.
func put(format constant, values ...string) string {
	var b strings.Builder
	w := NewWriter(&b)
	w.Put(format, values...)
	_ = w.Flush()
	return b.String()
}

// Values are escaped as html/template escapes them, in a text, in an attribute and in a URL.
func FuzzPut(f *testing.F) {
	for _, text := range []string{"", "plain", "<b>&\"'+\x00`=", "\xff\u2028", "ftp://a/b c(d)'%41%4\u00fc", "javascript:alert(1)", " javascript:x", "JAVASCRIPT:x", "/a:b", "a/b:c", "mailto:a@b", "%"} {
		f.Add(text)
	}
	page := template.Must(template.New("").Parse(`<p title="{{.}}">{{.}}</p>`))
	link := template.Must(template.New("").Parse(`<a href="{{.}}">`))
	f.Fuzz(func(t *testing.T, text string) {
		var want strings.Builder
		if err := page.Execute(&want, text); err != nil {
			t.Fatal(err)
		}
		if got := put(`<p title="%s">%s</p>`, text, text); got != want.String() {
			t.Errorf("%q: %s, want %s", text, got, want.String())
		}
		want.Reset()
		if err := link.Execute(&want, text); err != nil {
			t.Fatal(err)
		}
		scheme, _, ok := strings.Cut(text, ":")
		if ok = ok && !strings.Contains(scheme, "/"); ok && isScheme(scheme) {
			return // html/template has fewer schemes
		}
		expected := want.String()
		if ok {
			expected = `<a href="#">`
		}
		if got := put(`<a href="%u">`, text); got != expected {
			t.Errorf("%q: %s, want %s", text, got, expected)
		}
	})
}

// A page has links of the schemes of the locators, except to local files.
func TestSchemes(t *testing.T) {
	for _, s := range locator.Schemes() {
		if isScheme(s.Name) != (s.Name != "file") {
			t.Errorf("isScheme(%q) = %v", s.Name, isScheme(s.Name))
		}
	}
	for _, name := range []string{"", "javascript", "data", "vbscript", "blob", "view-source"} {
		if isScheme(name) {
			t.Errorf("isScheme(%q) = true", name)
		}
	}
}

// A format and its values must match.
func TestPutPanics(t *testing.T) {
	for _, do := range []func(){
		func() { put("%s") }, func() { put("", "x") }, func() { put("%s%", "x") }, func() { put("100%") }, func() { put("%d", "1") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			do()
		}()
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken") }

// An error stays.
func TestFailed(t *testing.T) {
	w := NewWriter(broken{})
	w.Put("%s", strings.Repeat("x", 1<<20))
	if !w.Failed() || w.Flush() == nil || w.Flush() == nil {
		t.Errorf("failed: %v, %v", w.Failed(), w.Flush())
	}
}
