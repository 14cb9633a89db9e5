// Package wildcard compares names with patterns of the shell's kind that stand in
// URLs, where what is encoded means itself.
package wildcard

import (
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// A Pattern is the last segment of a URL's path with "*", "?" and "[...]" in it,
// to be compared with the names in a directory. It is safe for concurrent use.
type Pattern struct {
	// Name is what the segment is when nothing in it is special, decoded.
	Name string

	matcher *regexp.Regexp
	octets  bool // the segment is no UTF-8: octets are compared, not characters
}

// Is reports whether text may be a pattern: a quick look before [Parse].
func Is(text string) bool { return strings.ContainsAny(text, "*?[") }

// Parse reads a segment as it stands in a URL. It is taken apart before
// it is decoded, so that %2A, %3F and %5B stand for themselves; so does a "["
// without its "]". It is nil for a segment that has nothing special in it.
func Parse(segment string) *Pattern {
	p := &Pattern{Name: decoded(segment)}
	p.octets = !utf8.ValidString(p.Name)
	special := false
	var b strings.Builder
	b.WriteString("(?s)^")
	for rest := segment; rest != ""; {
		end := strings.IndexAny(rest, "*?[")
		if end < 0 {
			end = len(rest)
		}
		b.WriteString(regexp.QuoteMeta(p.characters(decoded(rest[:end]))))
		if rest = rest[end:]; rest == "" {
			break
		}
		width := 1
		switch rest[0] {
		case '*':
			b.WriteString("(.*)")
		case '?':
			b.WriteString("(.)")
		case '[':
			class, n := p.class(rest)
			if n > 0 {
				width = n
				b.WriteString("(" + class + ")")
				break
			}
			b.WriteString(`\[`)
			rest = rest[1:]
			continue
		}
		special = true
		rest = rest[width:]
	}
	if !special {
		return nil
	}
	var err error
	if p.matcher, err = regexp.Compile(b.String() + "$"); err != nil {
		return nil // a set such as [z-a] is none
	}
	return p
}

// characters is s as what is compared: where that is octets, each as a
// character of its own.
func (p *Pattern) characters(s string) string {
	if !p.octets {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// class reads a set of characters, "[a-z]" or "[!a-z]", as an expression
// and tells its length; 0 for what is none.
func (p *Pattern) class(text string) (class string, n int) {
	inside := text[1:]
	negated := inside != "" && (inside[0] == '!' || inside[0] == '^')
	if negated {
		inside = inside[1:]
	}
	// A "]" that comes first is one of the characters.
	end := strings.IndexByte(inside[min(1, len(inside)):], ']')
	if end < 0 {
		return "", 0
	}
	end += min(1, len(inside))
	class = "["
	if negated {
		class = "[^"
	}
	plain := encodedHyphen.Replace(inside[:end])
	for _, r := range p.characters(decoded(plain)) {
		if r == hyphen {
			class += `\-`
			continue
		}
		if r != '-' && strings.ContainsRune(`\[]^&~|:.=`, r) {
			class += `\`
		}
		class += string(r)
	}
	return class + "]", len(text) - len(inside) + end + 1
}

// An encoded "-" is one of the characters and makes no range of them. Of those
// that a URL can have, NUL is not one.
const hyphen = '\x00'

var encodedHyphen = strings.NewReplacer("%2D", string(hyphen), "%2d", string(hyphen))

// decoded is a part of a URL without its encoding.
func decoded(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// Match gives what each special piece stands for in a name that fits, in order.
func (p *Pattern) Match(name string) ([]string, bool) {
	found := p.matcher.FindStringSubmatch(p.characters(name))
	if found == nil {
		return nil, false
	}
	if p.octets {
		for i, s := range found {
			found[i] = octets(s)
		}
	}
	return found[1:], true
}

// octets undoes characters.
func octets(s string) string {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}
