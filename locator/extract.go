package locator

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Extract yields the URLs in running text, in order, by the Appendix: those in
// angle brackets, with or without "URL:", white space and line breaks inside
// left out; and those that stand free in the text, if their scheme is one of RFC
// 1738 or "//" follows it, without the punctuation of the sentence around them.
// What is not a URL is passed over. The URLs themselves are strict; see
// [Parser.Extract].
func Extract(text string) iter.Seq[Reference] { return Parser{}.Extract(text) }

// Extract is [Extract] for URLs with the departures of p.Tolerate; [Fragments]
// and [WrappedText] are always tolerated. Time is linear in the length of text.
func (p Parser) Extract(text string) iter.Seq[Reference] {
	p.Tolerate |= Fragments | WrappedText
	return func(yield func(Reference) bool) {
		x := extractor{Parser: p, text: text}
		for x.i < len(text) {
			if r, ok := x.next(); ok && !yield(r) {
				return
			}
		}
	}
}

// extractor walks over a text. Each of its steps moves i behind all that it
// looked at, or remembers how far it looked: that keeps it linear.
type extractor struct {
	Parser
	text string
	i    int

	end   int // of the run of octets that may be in a URL, if i is in one
	tries int // how often there was no URL in that run where one seemed to start
}

// maxTries is how often a run is searched for another start of a URL.
const maxTries = 16

// next makes one step, and returns the URL it found there, if any.
func (x *extractor) next() (Reference, bool) {
	switch c := x.text[x.i]; {
	case c == '<':
		return x.bracketed()
	case (alpha | digit).has(c):
		return x.free()
	}
	x.i++
	return Reference{}, false
}

// bracketed reads from a "<" to its ">".
func (x *extractor) bracketed() (Reference, bool) {
	start := x.i
	x.i++
	n := strings.IndexAny(x.text[x.i:], "<>")
	if n < 0 || x.text[x.i+n] == '<' {
		// Nothing before the next "<" is in brackets.
		return Reference{}, false
	}
	s := x.text[start : x.i+n+1]
	if !plausible(s) {
		return Reference{}, false
	}
	x.i = start + len(s)
	if len(s) > MaxLength {
		return Reference{}, false
	}
	r, bad := x.reference(s)
	return r, bad.msg == ""
}

// plausible reports whether a text in brackets is meant to be a URL: without
// "URL:" every "<word:word>" could be one.
func plausible(s string) bool {
	s = strings.TrimLeft(s[1:], whiteSpace)
	if len(s) >= len("URL:") && strings.EqualFold(s[:4], "URL:") {
		return true
	}
	n := schemeLength(s)
	return n > 0 && startsURL(s[:n], s[n+1:])
}

// free reads a URL that stands free in the text, or a word that is none.
func (x *extractor) free() (Reference, bool) {
	start := x.i
	n := schemeLength(x.text[start:])
	if n == 0 {
		for x.i < len(x.text) && schemeOctet.has(x.text[x.i]) {
			x.i++
		}
		return Reference{}, false
	}
	x.i += n + 1
	if !startsURL(x.text[start:start+n], x.text[x.i:]) {
		return Reference{}, false
	}
	x.enterRun()
	if x.tries == maxTries || x.end-start > MaxLength {
		x.i = x.end
		return Reference{}, false
	}
	s := trimSentence(x.text[start:x.end])
	r, bad := x.reference(s)
	if bad.msg != "" {
		x.tries++
		x.i = max(x.i, start+bad.offset)
		return Reference{}, false
	}
	x.i = start + len(s)
	return r, true
}

// enterRun finds the end of the run of octets around i that may be in a URL.
func (x *extractor) enterRun() {
	if x.i < x.end {
		return
	}
	x.tries = 0
	for x.end = x.i; x.end < len(x.text); {
		r, size := utf8.DecodeRuneInString(x.text[x.end:])
		if !x.inURL(r) {
			break
		}
		x.end += size
	}
}

// schemeLength is the length of the scheme that s starts with, or 0.
func schemeLength(s string) int {
	n := 0
	for n < len(s) && schemeOctet.has(s[n]) {
		n++
	}
	if n == len(s) || s[n] != ':' {
		return 0
	}
	return n
}

// startsURL reports whether "scheme:rest" looks like a URL rather than like a
// word and a colon.
func startsURL(scheme, rest string) bool {
	switch strings.ToLower(scheme) {
	case "mailto", "news":
		return true
	}
	return strings.HasPrefix(rest, "//")
}

// inURL reports whether a character may stand in a URL in running text.
func (x *extractor) inURL(r rune) bool {
	if r >= utf8.RuneSelf {
		return x.Tolerate&(UnsafeOctets|ModernHosts) != 0 && !unicode.IsSpace(r) && !unicode.IsControl(r)
	}
	return r > ' ' && r != 0x7F && r != '<' && r != '>' && r != '"'
}

// trimSentence takes off the end of s what more likely belongs to the text
// around it: a "]" that is not opened inside with all behind it, as in Markdown's
// "[URL](URL)", then punctuation and a ")" that is not opened inside.
func trimSentence(s string) string {
	inside := 0
	for i := range len(s) {
		if s[i] == '[' {
			inside++
		} else if s[i] == ']' {
			if inside--; inside < 0 {
				s = s[:i]
				break
			}
		}
	}
	open := strings.Count(s, "(") - strings.Count(s, ")")
	for len(s) > 0 {
		r, size := utf8.DecodeLastRuneInString(s)
		switch r {
		case '.', ',', ';', ':', '!', '?', '\'', '`', '|', '\\', '^', '[', '{', '}', '#':
		case ')':
			if open >= 0 {
				return s
			}
			open++
		default:
			if r < utf8.RuneSelf || !unicode.IsPunct(r) {
				return s
			}
		}
		s = s[:len(s)-size]
	}
	return s
}
