// Package wildcard compares names with patterns of the shell's kind that stand in
// URLs, where what is encoded means itself.
package wildcard

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// A Pattern is the last segment of a URL's path with "*", "?" and "[...]" in it,
// to be compared with the names in a directory. It is safe for concurrent use.
type Pattern struct {
	// Name is what the segment is when nothing in it is special, decoded.
	Name string

	runs   [][]element // what stands before, between and after the stars
	values int         // special pieces
	octets bool        // the segment is no UTF-8: octets are compared, not characters
}

// An element fits one character of a name.
type element struct {
	set     []span // of characters; nil is any
	negated bool
	special bool // not a character of the segment itself
}

// A span is the characters from first to last.
type span struct{ first, last rune }

func (e *element) fits(r rune) bool {
	if e.set == nil {
		return true
	}
	for _, s := range e.set {
		if s.first <= r && r <= s.last {
			return !e.negated
		}
	}
	return e.negated
}

// Is reports whether text may be a pattern: a quick look before [Parse].
func Is(text string) bool { return strings.ContainsAny(text, "*?[") }

// Parse reads a segment as it stands in a URL. It is taken apart before
// it is decoded, so that %2A, %3F and %5B stand for themselves; so does a "["
// without its "]". It is nil for a segment that has nothing special in it.
func Parse(segment string) *Pattern {
	p := &Pattern{Name: decoded(segment)}
	p.octets = !utf8.ValidString(p.Name)
	var run []element
	for rest := segment; rest != ""; {
		end := strings.IndexAny(rest, "*?[")
		if end < 0 {
			end = len(rest)
		}
		for _, r := range p.characters(decoded(rest[:end])) {
			run = append(run, element{set: []span{{r, r}}})
		}
		if rest = rest[end:]; rest == "" {
			break
		}
		width := 1
		switch rest[0] {
		case '*':
			p.runs, run = append(p.runs, run), nil
			p.values++
		case '?':
			run = append(run, element{special: true})
			p.values++
		case '[':
			inside, negated, n := class(rest)
			if n == 0 {
				run = append(run, element{set: []span{{'[', '['}}})
				break
			}
			set, ok := p.spans(inside)
			if !ok {
				return nil // a set such as [z-a] is none
			}
			run = append(run, element{set: set, negated: negated, special: true})
			p.values++
			width = n
		}
		rest = rest[width:]
	}
	if p.values == 0 {
		return nil
	}
	p.runs = append(p.runs, run)
	return p
}

// characters are those of s that are compared: its octets where p compares octets.
func (p *Pattern) characters(s string) []rune {
	if !p.octets {
		return []rune(s)
	}
	octets := make([]rune, len(s))
	for i := range len(s) {
		octets[i] = rune(s[i])
	}
	return octets
}

// class finds the inside of a set of characters, "[a-z]" or "[!a-z]", and tells
// the length of the whole; 0 for what is none.
func class(text string) (inside string, negated bool, n int) {
	inside = text[1:]
	negated = inside != "" && (inside[0] == '!' || inside[0] == '^')
	if negated {
		inside = inside[1:]
	}
	// A "]" that comes first is one of the characters.
	end := strings.IndexByte(inside[min(1, len(inside)):], ']')
	if end < 0 {
		return "", false, 0
	}
	end += min(1, len(inside))
	return inside[:end], negated, len(text) - len(inside) + end + 1
}

// spans reads the inside of a set. It reports false for a range that ends before
// it begins.
func (p *Pattern) spans(inside string) ([]span, bool) {
	characters := p.characters(decoded(encodedHyphen.Replace(inside)))
	plain := func(r rune) rune {
		if r == hyphen {
			return '-'
		}
		return r
	}
	var set []span
	for i := 0; i < len(characters); i++ {
		s := span{plain(characters[i]), plain(characters[i])}
		if i+2 < len(characters) && characters[i+1] == '-' {
			i += 2
			s.last = plain(characters[i])
		}
		if s.last < s.first {
			return nil, false
		}
		set = append(set, s)
	}
	return set, true
}

// An encoded "-" is one of the characters and makes no range of them. Of those
// that a URL can have, NUL is not one.
const hyphen = '\x00'

var encodedHyphen = strings.NewReplacer("%2D", string(hyphen), "%2d", string(hyphen))

// decoded is a part of a URL without its encoding. A "%" that encodes nothing
// stands for itself.
func decoded(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if octet, err := url.PathUnescape(s[i:min(i+3, len(s))]); s[i] == '%' && err == nil {
			b.WriteString(octet)
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// Match gives what each special piece stands for in a name that fits, in order.
// A star stands for as much as it can, the first before the others. The time is
// at most that of comparing the pattern at each character of the name.
func (p *Pattern) Match(name string) ([]string, bool) {
	first, last := p.runs[0], len(p.runs)-1
	start, ok := p.after(first, name)
	if !ok || last == 0 && start < len(name) {
		return nil, false
	}
	// Each run is put as far to the end as those behind it let it, which makes
	// the stars before it long.
	starts := make([]int, len(p.runs))
	end := len(name)
	for i := last; i > 0; i-- {
		for {
			if starts[i], ok = p.before(p.runs[i], name[start:end]); ok {
				break
			}
			if i == last || start == end {
				return nil, false
			}
			end -= p.lastWidth(name[start:end])
		}
		starts[i] += start
		end = starts[i]
	}
	return p.pieces(name, starts), true
}

// pieces is what the special pieces stand for in a name in which each run begins
// where starts tells.
func (p *Pattern) pieces(name string, starts []int) []string {
	values := make([]string, 0, p.values)
	at := 0
	for i, run := range p.runs {
		if i > 0 {
			values = append(values, name[at:starts[i]])
			at = starts[i]
		}
		for _, e := range run {
			_, width := p.character(name[at:])
			if e.special {
				values = append(values, name[at:at+width])
			}
			at += width
		}
	}
	return values
}

// after compares the beginning of a name and tells where the rest begins.
func (p *Pattern) after(run []element, name string) (int, bool) {
	at := 0
	for _, e := range run {
		if at == len(name) {
			return 0, false
		}
		r, width := p.character(name[at:])
		if !e.fits(r) {
			return 0, false
		}
		at += width
	}
	return at, true
}

// before compares the end of a name and tells where it begins.
func (p *Pattern) before(run []element, name string) (int, bool) {
	at := len(name)
	for i := len(run) - 1; i >= 0; i-- {
		if at == 0 {
			return 0, false
		}
		width := p.lastWidth(name[:at])
		r, _ := p.character(name[at-width : at])
		if !run[i].fits(r) {
			return 0, false
		}
		at -= width
	}
	return at, true
}

// invalid is an octet that is no part of a character.
const invalid rune = -1

// character is the first one of a name and its width in octets.
func (p *Pattern) character(name string) (rune, int) {
	if p.octets {
		return rune(name[0]), 1
	}
	r, width := utf8.DecodeRuneInString(name)
	if r == utf8.RuneError && width == 1 {
		r = invalid
	}
	return r, width
}

// lastWidth is the width of the last character of a name.
func (p *Pattern) lastWidth(name string) int {
	if p.octets {
		return 1
	}
	_, width := utf8.DecodeLastRuneInString(name)
	return width
}
