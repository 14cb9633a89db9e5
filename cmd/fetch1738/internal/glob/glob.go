// Package glob implements curl's URL globbing: one text that expands to many.
//
//	ftp://ftp.example.org/{README,pub/file[001-100:2]}
package glob

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// A Glob is a URL, or the name of a file to upload, that may contain curl's sets {a,b} and ranges
// [1-10], [001-100:2], [a-z], which may have names, {<name>a,b} or [<name>1-10]. The zero value expands
// to "".
type Glob []part

// A part is one piece of a Glob: a fixed text, a set of texts, or a range.
type part struct {
	fixed  string
	name   string // of a set or range; "" for none
	set    []string
	ranged bool
	first  int64
	last   int64
	step   int64
	width  int  // minimum number of digits, for numbers with leading zeros
	letter bool // a range of letters
}

// maxParts is the maximum number of parts in one text.
const maxParts = 100

// Parse parses the sets and ranges in text. A bracket or brace after a backslash has no special
// meaning, nor have the brackets of an IPv6 address. An error contains the position of the mistake.
func Parse(text string) (Glob, error) {
	if !strings.ContainsAny(text, "{}[]\\") {
		return Fixed(text), nil
	}
	p := parser{text: text, count: 1}
	for p.at < len(text) && p.err == nil {
		p.part()
	}
	p.flush()
	if p.err != nil {
		return nil, p.err
	}
	return p.glob, nil
}

// Fixed returns a Glob that expands to text only, even if it contains sets and ranges.
func Fixed(text string) Glob { return Glob{{fixed: text}} }

// All returns the texts that g expands to, each with the values of its sets and ranges. The last
// set or range varies fastest.
func (g Glob) All() iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		g.expand("", nil, yield)
	}
}

// Names returns the names of the sets and ranges, in the order of their values; "" for those without one.
func (g Glob) Names() (names []string) {
	for _, p := range g {
		if p.varies() {
			names = append(names, p.name)
		}
	}
	return names
}

// MaxCount is the largest result of [Glob.Count].
const MaxCount = 1 << 30

// Count returns the number of texts that g expands to, at most MaxCount.
func (g Glob) Count() int64 {
	n := uint64(1)
	for _, part := range g {
		n = min(MaxCount, n*min(MaxCount, part.count()))
	}
	return int64(n)
}

// count returns the number of values of p.
func (p *part) count() uint64 {
	switch {
	case p.ranged:
		return uint64(p.last-p.first)/uint64(p.step) + 1
	case p.set != nil:
		return uint64(len(p.set))
	}
	return 1
}

// expand yields the texts of g with before in front. It reports false if yield has ended the
// iteration.
func (g Glob) expand(before string, values []string, yield func(string, []string) bool) bool {
	if len(g) == 0 {
		return yield(before, values)
	}
	first, rest := g[0], g[1:]
	if !first.varies() {
		return rest.expand(before+first.fixed, values, yield)
	}
	for value := range first.values() {
		if !rest.expand(before+value, append(values[:len(values):len(values)], value), yield) {
			return false
		}
	}
	return true
}

// varies reports whether p is a set or a range.
func (p *part) varies() bool { return p.ranged || p.set != nil }

// values yields the elements of a set, or the values of a range.
func (p *part) values() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, s := range p.set {
			if !yield(s) {
				return
			}
		}
		for n := p.first; p.ranged && n <= p.last; n += p.step {
			s := strconv.FormatInt(n, 10)
			switch {
			case p.letter:
				s = string([]byte{byte(n)})
			case len(s) < p.width:
				s = strings.Repeat("0", p.width-len(s)) + s
			}
			if !yield(s) || n > p.last-p.step {
				return
			}
		}
	}
}

// FillIn replaces #1, #2, … in the name of an output file with values, and #<name> with the value that has
// this name.
func FillIn(name string, values, names []string) (string, error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(name, "#")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		if named, rest, ok := cutName(after); ok {
			at := slices.Index(names, named)
			if at < 0 || at >= len(values) {
				return "", fmt.Errorf("no set or range of the URL has the name %q", named)
			}
			b.WriteString(values[at])
			name = rest
			continue
		}
		digits := len(after) - len(strings.TrimLeft(after, "0123456789"))
		n, err := strconv.Atoi(after[:digits])
		if err == nil && n >= 1 && n <= len(values) {
			b.WriteString(values[n-1])
		} else {
			b.WriteString("#" + after[:digits])
		}
		name = after[digits:]
	}
}

// cutName cuts "<name>" off the beginning of s.
func cutName(s string) (name, rest string, ok bool) {
	name, rest, ok = strings.Cut(strings.TrimPrefix(s, "<"), ">")
	return name, rest, ok && s[0] == '<' && name != "" && !strings.ContainsAny(name, "{}[]<,")
}

type parser struct {
	text  string
	at    int
	fixed strings.Builder
	glob  Glob
	count uint64 // number of texts of the parts so far
	err   error
}

// fail sets the error, with an offset in the text.
func (p *parser) fail(text string, offset int) {
	p.err = fmt.Errorf("%s in URL position %d", text, offset+1)
}

// part parses one set, range or character.
func (p *parser) part() {
	rest := p.text[p.at:]
	switch c := rest[0]; {
	case c == '[':
		if n := addressLength(rest); n > 0 || strings.HasPrefix(rest, "[]") {
			n = max(n, len("[]"))
			p.fixed.WriteString(rest[:n])
			p.at += n
			return
		}
		p.addVarying(p.byteRange)
	case c == '{':
		p.addVarying(p.set)
	case c == '}' || c == ']':
		p.fail("unmatched close brace/bracket", p.at)
	case escapes(rest):
		p.fixed.WriteByte(rest[1])
		p.at += 2
	default:
		p.fixed.WriteByte(c)
		p.at++
	}
}

// escapes reports whether s begins with a backslash and a bracket or brace.
func escapes(s string) bool {
	return len(s) > 1 && s[0] == '\\' && strings.IndexByte("{}[]", s[1]) >= 0
}

// addressLength returns the length of the IPv6 literal at the start of s, or 0.
func addressLength(s string) int {
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return 0
	}
	address := strings.ReplaceAll(s[1:end], "%25", "%")
	if addr, err := netip.ParseAddr(address); err != nil || !addr.Is6() {
		return 0
	}
	return end + 1
}

// flush ends the current fixed text.
func (p *parser) flush() {
	if p.fixed.Len() > 0 || len(p.glob) == 0 {
		p.glob = append(p.glob, part{fixed: p.fixed.String()})
		p.fixed.Reset()
	}
}

// addVarying adds the set or range that read parses, and checks the number of texts.
func (p *parser) addVarying(read func() part) {
	if p.fixed.Len() > 0 {
		p.flush()
	}
	start := p.at
	name, _, named := cutName(p.text[p.at+1:])
	if !named {
		name = ""
	}
	found := read()
	if p.err != nil {
		return
	}
	if named && slices.ContainsFunc(p.glob, func(before part) bool { return before.name == name }) {
		p.fail("duplicate glob name", start+len("{<"+name+">"))
		return
	}
	found.name = name
	p.glob = append(p.glob, found)
	high, count := bits.Mul64(p.count, found.count())
	p.count = count
	switch {
	case len(p.glob) > maxParts:
		p.fail("too many globs", p.at)
	case high > 0 || count > math.MaxInt64:
		p.fail("range overflow (the globs make too many URLs)", start)
	}
}

// set parses "{a,b,c}".
func (p *parser) set() part {
	start := p.at
	p.at++
	if name, _, named := cutName(p.text[p.at:]); named {
		p.at += len("<" + name + ">")
	}
	begins := p.at
	var set []string
	var element strings.Builder
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		switch c := rest[0]; {
		case c == ',' || c == '}':
			set = append(set, element.String())
			element.Reset()
			p.at++
			if c == ',' {
				continue
			}
			if p.at == begins+1 {
				p.fail("empty string within braces", begins)
			}
			return part{set: set}
		case c == '{' || c == '[':
			p.fail("nested brace", p.at)
			return part{}
		case c == ']':
			p.fail("unexpected close bracket", p.at)
			return part{}
		case c == '\\' && len(rest) > 1:
			element.WriteByte(rest[1])
			p.at += 2
		default:
			element.WriteByte(c)
			p.at++
		}
	}
	p.fail("unmatched brace", start)
	return part{}
}

// byteRange parses "[first-last]" or "[first-last:step]".
func (p *parser) byteRange() part {
	start := p.at
	inside, _, closed := strings.Cut(p.text[start+1:], "]")
	if !closed {
		p.fail("bad range specification", start+1)
		return part{}
	}
	p.at = start + 1 + len(inside) + 1
	if _, rest, named := cutName(inside); named {
		inside = rest
	}
	part, ok := parseRange(inside)
	if !ok {
		p.fail("bad range", start+1)
	}
	return part
}

// parseRange parses what is between the brackets of a range.
func parseRange(s string) (part, bool) {
	bounds, stepText, hasStep := strings.Cut(s, ":")
	first, last, dash := strings.Cut(bounds, "-")
	part := part{ranged: true, step: 1}
	var err1, err2, err3 error
	switch {
	case !dash || first == "" || last == "":
		return part, false
	case isLetter(first) && isLetter(last) && last[0]-first[0] < 26:
		part.letter, part.first, part.last = true, int64(first[0]), int64(last[0])
	case isDigits(first) && isDigits(last):
		part.first, err1 = strconv.ParseInt(first, 10, 64)
		part.last, err2 = strconv.ParseInt(last, 10, 64)
		if first[0] == '0' {
			part.width = len(first)
		}
	default:
		return part, false
	}
	if hasStep {
		part.step, err3 = strconv.ParseInt(stepText, 10, 64)
	}
	ok := err1 == nil && err2 == nil && err3 == nil && part.step > 0 && part.first <= part.last
	if part.first == part.last {
		return part, ok && part.step == 1
	}
	return part, ok && part.step <= part.last-part.first
}

func isLetter(s string) bool {
	return len(s) == 1 && 'a' <= s[0]|0x20 && s[0]|0x20 <= 'z'
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
