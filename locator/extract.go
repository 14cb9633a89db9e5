package locator

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/locator/internal/prose"
)

// Extract yields the URLs in running text, in order, by the Appendix of RFC 1738. It finds URLs in
// angle brackets, with or without "URL:", and removes white space and line breaks from them. It also
// finds URLs without brackets, if "//" follows the scheme or the scheme is mailto or news, and leaves
// out the punctuation of the sentence around them. It skips everything else. It accepts the
// departures of p.Tolerate, and always [Fragments] and [WrappedText]. Its time is linear in the length
// of text.
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

// extractor scans a text. Each step moves i past everything it has read, or remembers how far it has
// read, so that the total time is linear.
type extractor struct {
	Parser
	text string
	i    int

	end   int // end of the run of octets allowed in a URL, if i is in such a run
	tries int // number of failed attempts to read a URL in that run
}

// maxTries is the maximum of extractor.tries.
const maxTries = 16

// next makes one step and returns the URL that it found, if any.
func (x *extractor) next() (Reference, bool) {
	switch c := x.text[x.i]; {
	case c == '<':
		return x.bracketed()
	case (alpha | digit).has(c):
		return x.free()
	case c == prose.Escape:
		x.i += prose.ColorLength(x.text[x.i:])
		return Reference{}, false
	}
	x.i++
	return Reference{}, false
}

// bracketed reads a URL from a "<" to its ">".
func (x *extractor) bracketed() (Reference, bool) {
	start := x.i
	x.i++
	n := strings.IndexAny(x.text[x.i:], "<>")
	if n < 0 || x.text[x.i+n] == '<' {
		// There is no ">" before the next "<".
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
	r, bad := x.reference(prose.WithoutLabel(s))
	r.Text = s
	return r, bad.msg == ""
}

// plausible reports whether a text in brackets is probably a URL. Without this check every
// "<word:word>" could be one.
func plausible(s string) bool {
	s = strings.TrimLeft(s[1:], whiteSpace)
	if len(s) >= len("URL:") && strings.EqualFold(s[:4], "URL:") {
		return true
	}
	n := schemeLength(s)
	return n > 0 && startsURL(s[:n], s[n+1:])
}

// free reads a URL without brackets, or skips a word that is not a URL.
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
	s := prose.Cut(x.text[:start], x.text[start:x.end], known)
	r, bad := x.reference(s)
	if bad.msg != "" {
		x.tries++
		x.i = max(x.i, start+bad.offset)
		return Reference{}, false
	}
	x.i = start + len(s)
	return r, true
}

// enterRun finds the end of the run of octets around i that are allowed in a URL.
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

// schemeLength returns the length of the scheme that s starts with, or 0.
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

// startsURL reports whether "scheme:rest" looks like a URL, and not like a word with a colon.
func startsURL(scheme, rest string) bool {
	switch strings.ToLower(scheme) {
	case "mailto", "news":
		return true
	}
	return strings.HasPrefix(rest, "//")
}

// inURL reports whether a character can be part of a URL in running text.
func (x *extractor) inURL(r rune) bool {
	if r >= utf8.RuneSelf {
		return x.Tolerate&(UnsafeOctets|ModernHosts) != 0 && !unicode.IsSpace(r) && !unicode.IsControl(r) && !prose.Ends(r)
	}
	return r > ' ' && r != 0x7F && r != '<' && r != '>' && r != '"'
}

// known reports whether the URLs of a scheme, in lower case, have hosts as in RFC 1738.
func known(scheme string) bool {
	_, ok := SchemeOf(scheme)
	return ok
}
