package wildcard

import (
	"path"
	"regexp"
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

// FuzzPattern: "*" and "?" mean what they do in package path, and the pieces are
// those that a regular expression with greedy stars finds.
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
		reference := expression(segment)
		if (p == nil) != (reference == nil) {
			t.Fatalf("%q: %+v, %v", segment, p, reference)
		}
		if p == nil {
			return
		}
		values, ok := p.Match(name)
		if strings.ContainsRune(p.Name, utf8.RuneError) && !utf8.ValidString(name) {
			return // an octet that is no character is that one to an expression only
		}
		want := reference.FindStringSubmatch(compared(p, name))
		if ok != (want != nil) {
			t.Fatalf("%q, %q: %v, want %v", segment, name, ok, !ok)
		}
		if ok {
			for i, value := range values {
				values[i] = compared(p, value)
			}
			if !slices.Equal(values, want[1:]) {
				t.Fatalf("%q, %q: %q, want %q", segment, name, values, want[1:])
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

// compared is a name as an expression sees it: where octets are compared, each is
// a character.
func compared(p *Pattern, name string) string {
	if p.octets {
		return string(p.characters(name))
	}
	return name
}

// expression is a segment as a regular expression; nil for one with nothing
// special in it.
func expression(segment string) *regexp.Regexp {
	p := &Pattern{octets: !utf8.ValidString(decoded(segment))}
	special := false
	var b strings.Builder
	b.WriteString("(?s)^")
	for rest := segment; rest != ""; {
		end := strings.IndexAny(rest, "*?[")
		if end < 0 {
			end = len(rest)
		}
		b.WriteString(regexp.QuoteMeta(compared(p, decoded(rest[:end]))))
		if rest = rest[end:]; rest == "" {
			break
		}
		piece, width := map[byte]string{'*': "(.*)", '?': "(.)", '[': `\[`}[rest[0]], 1
		special = special || rest[0] != '['
		if rest[0] == '[' {
			if inside, negated, n := class(rest); n > 0 {
				piece, width, special = "([", n, true
				if negated {
					piece = "([^"
				}
				for _, r := range p.characters(decoded(encodedHyphen.Replace(inside))) {
					switch {
					case r == hyphen:
						piece += `\-`
						continue
					case r != '-' && strings.ContainsRune(`\[]^&~|:.=`, r):
						piece += `\`
					}
					piece += string(r)
				}
				piece += "])"
			}
		}
		b.WriteString(piece)
		rest = rest[width:]
	}
	matcher, err := regexp.Compile(b.String() + "$")
	if !special || err != nil {
		return nil
	}
	return matcher
}
