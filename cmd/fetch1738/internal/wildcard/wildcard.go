// Package wildcard matches names with shell patterns in URLs, in which encoded characters
// are literal.
package wildcard

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/internal/urls/percent"
)

// A Pattern is the last segment of a URL's path with "*", "?" and "[...]", for matching
// the names in a directory. It is safe for concurrent use.
type Pattern struct {
	// Name is the decoded segment, with all characters taken literally.
	Name string

	// path.Match knows neither "[!a-z]" nor what a star matches.
	expression *regexp.Regexp
	octets     bool // the segment is not UTF-8: match bytes, not characters
}

// Is reports whether text may be a pattern: a quick check before [Parse].
func Is(text string) bool { return strings.ContainsAny(text, "*?[") }

// Parse parses a segment of a URL. It is split before it is decoded, so that %2A, %3F and
// %5B are literal, and so is a "[" without a "]". Parse returns nil for a segment without
// special characters, and for one with a range that ends before it begins.
func Parse(segment string) *Pattern {
	p := &Pattern{Name: percent.Decode(segment)}
	// An expression takes each byte that is not UTF-8 for this character.
	p.octets = strings.ContainsRune(p.Name, utf8.RuneError)
	var b strings.Builder
	b.WriteString("(?s)^")
	rest := segment
	for {
		end := strings.IndexAny(rest, "*?[")
		if end < 0 {
			break
		}
		b.WriteString(p.quoted(rest[:end]))
		special := rest[end]
		rest = rest[end+1:]
		switch special {
		case '*':
			b.WriteString("(.*)")
		case '?':
			b.WriteString("(.)")
		case '[':
			var set string
			set, rest = p.set(rest)
			b.WriteString(set)
		}
	}
	var err error
	p.expression, err = regexp.Compile(b.String() + p.quoted(rest) + "$")
	if err != nil || p.expression.NumSubexp() == 0 {
		return nil
	}
	return p
}

// set returns the expression for the set of characters that text begins with, behind its "[", and
// what is behind it. Text that is not a set follows a literal "[".
func (p *Pattern) set(text string) (expression, behind string) {
	inside, opening := text, "(["
	if inside != "" && strings.Contains("!^", inside[:1]) {
		inside, opening = inside[1:], "([^"
	}
	// A "]" that comes first is one of the characters.
	first := min(1, len(inside))
	end := strings.IndexByte(inside[first:], ']')
	if end < 0 {
		return `\[`, text
	}
	end += first
	set := p.quoted(encodedHyphen.Replace(inside[:end]))
	return opening + strings.ReplaceAll(set, hyphen, `\-`) + "])", inside[end+1:]
}

// hyphen replaces an encoded "-", which is literal and does not form a range. A URL cannot
// contain NUL.
const hyphen = "\x00"

var encodedHyphen = strings.NewReplacer("%2D", hyphen, "%2d", hyphen)

// quoted returns the expression for a part of the segment without special characters.
func (p *Pattern) quoted(part string) string { return regexp.QuoteMeta(p.text(percent.Decode(part))) }

// text returns s as the expression reads it: with a character for each byte, if p matches bytes.
func (p *Pattern) text(s string) string {
	if !p.octets {
		return s
	}
	characters := make([]rune, len(s))
	for i := range len(s) {
		characters[i] = rune(s[i])
	}
	return string(characters)
}

// Match reports whether a name matches, and returns what each special piece matches, in
// order. A star matches as much as it can, the first one before the others.
func (p *Pattern) Match(name string) ([]string, bool) {
	found := p.expression.FindStringSubmatch(p.text(name))
	if found == nil {
		return nil, false
	}
	values := found[1:]
	for i, value := range values {
		if p.octets {
			octets := make([]byte, 0, len(value))
			for _, r := range value {
				octets = append(octets, byte(r))
			}
			values[i] = string(octets)
		}
	}
	return values, true
}
