// Package wildcard matches names with shell patterns in URLs, in which encoded characters
// are literal.
package wildcard

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// A Pattern is the last segment of a URL's path with "*", "?" and "[...]", for matching
// the names in a directory. It is safe for concurrent use.
type Pattern struct {
	// Name is the decoded segment, with all characters taken literally.
	Name string

	runs   [][]element // before, between and after the stars
	values int         // number of special pieces
	octets bool        // the segment is not UTF-8: match bytes, not characters
}

// An element matches one character of a name.
type element struct {
	set     []span // of characters; nil means any
	negated bool
	special bool // not a literal character
}

// A span is the range of characters from first to last.
type span struct{ first, last rune }

// fits reports whether the element matches a character.
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

// Is reports whether text may be a pattern: a quick check before [Parse].
func Is(text string) bool { return strings.ContainsAny(text, "*?[") }

// Parse parses a segment of a URL. It is split before it is decoded, so that %2A, %3F and
// %5B are literal, and so is a "[" without a "]". Parse returns nil for a segment without
// special characters.
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
				return nil // [z-a] is not a set
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

// characters returns the characters of s, or its bytes if p matches bytes.
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

// class returns the inside of a set of characters, "[a-z]" or "[!a-z]", and the length of
// the whole, or 0 if text does not start with a set.
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

// spans parses the inside of a set. It reports false for a range that ends before it
// begins.
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

// hyphen replaces an encoded "-", which is literal and does not form a range. A URL cannot
// contain NUL.
const hyphen = '\x00'

var encodedHyphen = strings.NewReplacer("%2D", string(hyphen), "%2d", string(hyphen))

// decoded decodes a part of a URL. A "%" that encodes nothing is literal.
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

// Match reports whether a name matches, and returns what each special piece matches, in
// order. A star matches as much as it can, the first one before the others. The time is
// at most that of comparing the pattern at each character of the name.
func (p *Pattern) Match(name string) ([]string, bool) {
	first, last := p.runs[0], len(p.runs)-1
	start, ok := p.after(first, name)
	if !ok || last == 0 && start < len(name) {
		return nil, false
	}
	// Each run is matched as far to the end as the runs after it permit, so that the
	// stars before it are long.
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

// pieces returns what the special pieces match in a name whose runs begin at starts.
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

// after matches the beginning of a name and returns where the rest begins.
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

// before matches the end of a name and returns where it begins.
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

// invalid is a byte that is not part of a character.
const invalid rune = -1

// character returns the first character of a name and its width in bytes.
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

// lastWidth returns the width of the last character of a name.
func (p *Pattern) lastWidth(name string) int {
	if p.octets {
		return 1
	}
	_, width := utf8.DecodeLastRuneInString(name)
	return width
}
