package wildcard

import (
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPattern(t *testing.T) {
	for _, tc := range []struct {
		segment, name string
		values        []string // nil where the name does not fit
	}{
		{"*.txt", "one.txt", []string{"one"}},
		{"*.txt", ".txt", []string{""}},
		{"*.txt", "one.txt.gz", nil},
		{"*", "a\nb", []string{"a\nb"}},
		{"a?c*", "abcd", []string{"b", "d"}},
		{"?", "\u00fc", []string{"\u00fc"}},
		{"%C3%BC*", "\u00fcber", []string{"ber"}},
		{"?%FC*", "gr\xfcn", nil},
		{"gr?n%FC*", "gr\xfcn\xfcx", []string{"\xfc", "x"}},
		{"%2A*", "*x", []string{"x"}},
		{"%2A*", "x", nil},
		{"a%20b*", "a bc", []string{"c"}},
		{"[a-c]x", "bx", []string{"b"}},
		{"[!a-c]x", "dx", []string{"d"}},
		{"[^a-c]x", "ax", nil},
		{"[]]x", "]x", []string{"]"}},
		{"[!]]x", "ax", []string{"a"}},
		{"[a%2Dc]x", "bx", nil},
		{"[a%2Dc]x", "-x", []string{"-"}},
		{"[[:alpha:]", ":", []string{":"}},
		{"[%5E]*", "^x", []string{"^", "x"}},
		{"[x*", "[xy", []string{"y"}},
		{`\*`, `\a`, []string{"a"}},
		{"*a*?b*", "xaxabaab", []string{"xaxab", "", "a", ""}},
		{"100%*%62", "100%ab", []string{"a"}},
		{"*%EF%BF%BD*", "\xff", nil},
		{"(a|b)+$*", "(a|b)+$", []string{""}},
		{"[%5Ea%5D]*", "]", []string{"]", ""}},
		{"[%2Da-c-]", "-", []string{"-"}},
		{`[\d]*`, "d", []string{"d", ""}},
		{`[\d]*`, "5", nil},
		{"%C3%BC?", "\u00fc\xff", []string{"\xff"}},
		{"a*", "b\na", nil},
		{"*a", "a\n", nil},
	} {
		p := Parse(tc.segment)
		if p == nil {
			t.Errorf("%q is no pattern", tc.segment)
			continue
		}
		if values, ok := p.Match(tc.name); ok != (tc.values != nil) || !slices.Equal(values, tc.values) {
			t.Errorf("%q, %q: %q, %v; want %q", tc.segment, tc.name, values, ok, tc.values)
		}
	}
	for _, segment := range []string{"", "one.txt", "%2A", "a%3Fb", "%5Bx%5D", "[x", "x]", "[]", "[!]", "[z-a]"} {
		if p := Parse(segment); p != nil {
			t.Errorf("%q is a pattern: %+v", segment, p)
		}
	}
}

// FuzzPattern: "*" and "?" mean what they do in package path. Any segment is parsed, and the pieces
// of a name are parts of it, in order.
func FuzzPattern(f *testing.F) {
	f.Add("a*b?c", "axxbyc")
	f.Add("[!a-c%2D]*", "dx")
	f.Add("gr?n%FC*", "gr\xfcn\xfcx")
	f.Add(`[\]^:-]*`, `\x`)
	f.Add("*a*?b*", "xaxabaab")
	f.Add("[a-c-e][--0][]-a]*[", "b-]x[")
	f.Add("*?", "\xe2\x82\xe2\x82\xac")
	f.Add("**??", "€")
	f.Fuzz(func(t *testing.T, segment, name string) {
		p := Parse(segment)
		if p == nil {
			return
		}
		values, ok := p.Match(name)
		rest := name
		for _, value := range values {
			var found bool
			if _, rest, found = strings.Cut(rest, value); !found {
				t.Fatalf("%q, %q: %q", segment, name, values)
			}
		}
		if strings.ContainsAny(segment, `[]\%/`) || strings.Contains(name, "/") || !utf8.ValidString(segment) {
			return
		}
		if strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
			return // a "*" of package path may end within a character
		}
		if want, err := path.Match(segment, name); err == nil && ok != want {
			t.Errorf("%q, %q: %v, want %v", segment, name, ok, want)
		}
	})
}
