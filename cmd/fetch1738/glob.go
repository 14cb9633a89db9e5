package main

import (
	"fmt"
	"iter"
	"net/netip"
	"strconv"
	"strings"
)

// A glob is a URL, or the name of a file to upload, with curl's sets {a,b} and
// ranges [1-10], [001-100:2], [a-z] in it.
type glob []globPart

// A globPart is one piece of a glob: a fixed text, a set of texts, or a range.
type globPart struct {
	fixed  string
	set    []string
	ranged bool
	first  int64
	last   int64
	step   int64
	width  int  // of a number with leading zeros
	letter bool // the range is of characters
}

// maxGlobParts bounds the sets and ranges in one text.
const maxGlobParts = 100

// A globError says where a glob is malformed.
type globError struct {
	text   string
	offset int
}

func (e *globError) Error() string { return fmt.Sprintf("%s in URL position %d", e.text, e.offset+1) }

// parseGlob reads the sets and ranges in text; with off there are none.
func parseGlob(text string, off bool) (glob, error) {
	if off || !strings.ContainsAny(text, "{}[]\\") {
		return glob{{fixed: text}}, nil
	}
	p := globParser{text: text}
	for p.at < len(text) && p.err == nil {
		p.part()
	}
	p.flush()
	if p.err != nil {
		return nil, p.err
	}
	return p.glob, nil
}

// all are the texts that g stands for, each with what its sets and ranges are
// in it. The last of those varies first.
func (g glob) all() iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		g.expand("", nil, yield)
	}
}

// maxCount is the number of texts from which on they are not counted exactly.
const maxCount = 1 << 30

// count is how many texts g stands for.
func (g glob) count() int64 {
	n := int64(1)
	for _, part := range g {
		switch {
		case part.ranged:
			n *= min(maxCount, (part.last-part.first)/part.step+1)
		case part.set != nil:
			n *= int64(len(part.set))
		}
		n = min(n, maxCount)
	}
	return n
}

func (g glob) expand(before string, values []string, yield func(string, []string) bool) bool {
	if len(g) == 0 {
		return yield(before, values)
	}
	part, rest := g[0], g[1:]
	if !part.varies() {
		return rest.expand(before+part.fixed, values, yield)
	}
	for value := range part.values() {
		if !rest.expand(before+value, append(values[:len(values):len(values)], value), yield) {
			return false
		}
	}
	return true
}

func (p *globPart) varies() bool { return p.ranged || p.set != nil }

func (p *globPart) values() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, s := range p.set {
			if !yield(s) {
				return
			}
		}
		for n := p.first; p.ranged && n <= p.last; n += p.step {
			s := fmt.Sprintf("%0*d", p.width, n)
			if p.letter {
				s = string([]byte{byte(n)})
			}
			if !yield(s) || n > p.last-p.step {
				return
			}
		}
	}
}

// fillIn replaces #1, #2, … in the name of an output file by values.
func fillIn(name string, values []string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(name, "#")
		b.WriteString(before)
		if !found {
			return b.String()
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

type globParser struct {
	text  string
	at    int
	fixed strings.Builder
	glob  glob
	err   error
}

func (p *globParser) fail(text string, offset int) {
	p.err = &globError{text, offset}
}

// part reads one set, range or character.
func (p *globParser) part() {
	rest := p.text[p.at:]
	switch c := rest[0]; {
	case c == '[':
		if n := addressLength(rest); n > 0 || strings.HasPrefix(rest, "[]") {
			n = max(n, len("[]"))
			p.fixed.WriteString(rest[:n])
			p.at += n
			return
		}
		p.varying(p.byteRange)
	case c == '{':
		p.varying(p.set)
	case c == '}' || c == ']':
		p.fail("unmatched close brace/bracket", p.at)
	case escapesGlob(rest):
		p.fixed.WriteByte(rest[1])
		p.at += 2
	default:
		p.fixed.WriteByte(c)
		p.at++
	}
}

func escapesGlob(s string) bool {
	return len(s) > 1 && s[0] == '\\' && strings.IndexByte("{}[]", s[1]) >= 0
}

// addressLength is the length of the IPv6 literal that s starts with, or 0.
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

func (p *globParser) flush() {
	if p.fixed.Len() > 0 || len(p.glob) == 0 {
		p.glob = append(p.glob, globPart{fixed: p.fixed.String()})
		p.fixed.Reset()
	}
}

func (p *globParser) varying(read func() globPart) {
	if p.fixed.Len() > 0 {
		p.flush()
	}
	if part := read(); p.err == nil {
		p.glob = append(p.glob, part)
	}
	if p.err == nil && len(p.glob) > maxGlobParts {
		p.fail("too many globs", p.at)
	}
}

func (p *globParser) set() globPart {
	start := p.at
	p.at++
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
			if p.at == start+2 {
				p.fail("empty string within braces", start+1)
			}
			return globPart{set: set}
		case c == '{' || c == '[':
			p.fail("nested brace", p.at)
			return globPart{}
		case c == ']':
			p.fail("unexpected close bracket", p.at)
			return globPart{}
		case c == '\\' && len(rest) > 1:
			element.WriteByte(rest[1])
			p.at += 2
		default:
			element.WriteByte(c)
			p.at++
		}
	}
	p.fail("unmatched brace", start)
	return globPart{}
}

// byteRange reads "[first-last]" or "[first-last:step]".
func (p *globParser) byteRange() globPart {
	start := p.at
	inside, _, closed := strings.Cut(p.text[start+1:], "]")
	if !closed {
		p.fail("bad range specification", start+1)
		return globPart{}
	}
	p.at = start + 1 + len(inside) + 1
	part, ok := parseRange(inside)
	if !ok {
		p.fail("bad range", start+1)
	}
	return part
}

func parseRange(s string) (globPart, bool) {
	bounds, stepText, hasStep := strings.Cut(s, ":")
	first, last, dash := strings.Cut(bounds, "-")
	part := globPart{ranged: true, step: 1}
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
