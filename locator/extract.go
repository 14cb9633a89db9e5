package locator

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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
	case c == esc:
		x.i += colorLength(x.text[x.i:])
		return Reference{}, false
	}
	x.i++
	return Reference{}, false
}

// esc begins the control sequences of terminals.
const esc = 0x1B

// colorLength returns the length of the control sequence that s begins with, such as "ESC [ 32 m", or 1.
// Its last letter must not be taken for the beginning of a scheme.
func colorLength(s string) int {
	if !strings.HasPrefix(s[1:], "[") {
		return 1
	}
	n := 2
	for n < len(s) && ' ' <= s[n] && s[n] < '@' {
		n++
	}
	return min(n+1, len(s))
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
	r, bad := x.reference(withoutLabel(s))
	r.Text = s
	return r, bad.msg == ""
}

// withoutLabel removes the label from "<URL|label>", as Slack writes links. A "|" in a query may belong to
// the URL, if what follows does not look like a label.
func withoutLabel(s string) string {
	url, label, ok := strings.Cut(s, "|")
	label = strings.TrimSuffix(label, ">")
	if !ok || strings.Contains(url, "?") && !strings.Contains(label, " ") && !strings.HasSuffix(url, label) {
		return s
	}
	return url + ">"
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
	s := trimSentence(x.text[:start], cutAtEscape(cutAfterHost(x.text[start:x.end])))
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
		return x.Tolerate&(UnsafeOctets|ModernHosts) != 0 && !unicode.IsSpace(r) && !unicode.IsControl(r) && !endsURL(r)
	}
	return r > ' ' && r != 0x7F && r != '<' && r != '>' && r != '"'
}

// endsURL reports whether a character beyond ASCII is one of running text that no URL has: a bracket,
// a quotation mark, a long dash, the East Asian form of a punctuation mark, a line of a box, or an
// invisible mark of layout. Languages that have these marks write no space before and after a URL.
// Letters of all scripts occur in URLs, and so do the joiners between letters and in emoji.
func endsURL(r rune) bool {
	switch {
	case '\u2500' <= r && r <= '\u259F': // lines of boxes, blocks
		return true
	case unicode.Is(unicode.Cf, r):
		return r != '\u200C' && r != '\u200D' // the joiners
	}
	return unicode.In(r, unicode.Ps, unicode.Pe, unicode.Pi, unicode.Pf) || strings.ContainsRune("—―、。，．：；！？｡､＂＇", r)
}

// cutAfterHost cuts a URL at the first character that can neither be in a host and port nor follow
// them, such as "|" in "http://host|text". It does not cut a URL with a login, which may contain such
// characters, nor one of an unknown scheme, whose hosts may have any form.
func cutAfterHost(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if _, known := SchemeOf(strings.ToLower(scheme)); !ok || !known {
		return s
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	if strings.Contains(rest, "@") {
		return s
	}
	inPort := false
	last := strings.LastIndexByte(strings.TrimRight(rest, "."), '.') + 1 // where the last label begins
	plain := last > 0                                                    // no character of it was beyond ASCII
	for i, r := range rest {
		inHost := (alpha | digit).has(byte(r))
		if r >= utf8.RuneSelf {
			// No top-level domain has letters of ASCII and of another script.
			isWord := plain && i > last && unicode.In(r, unspaced...)
			inHost = !inPort && !unicode.IsPunct(r) && !unicode.IsSymbol(r) && !isWord
			plain = plain && i < last
		}
		if r == '[' && i > 0 || r == ']' && rest[0] != '[' || !inHost && !strings.ContainsRune(`-._:%[]\`, r) {
			return s[:len(scheme)+len("://")+i]
		}
		inPort = r == ':' || inPort && r != ']' // of an IPv6 address
	}
	return s
}

// unspaced are the scripts of languages that write no space between a URL and a word behind it.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul}

// entities are those of HTML for characters that end a URL in running text.
var entities = []string{"&lt;", "&gt;", "&quot;", "&apos;", "&nbsp;", "&#34;", "&#39;"}

// cutAtEscape cuts a URL at an entity of HTML for a character that ends one, and at a backslash that begins
// an escape sequence of a programming language, such as "\n" or "\"", in a text that shows a string in this
// form. It does not cut before the path, where a backslash makes a URL ambiguous, nor in file URLs, whose
// paths on Windows have backslashes.
func cutAtEscape(s string) string {
	for i := range len(s) {
		if s[i] == '&' && slices.ContainsFunc(entities, func(e string) bool { return strings.HasPrefix(s[i:], e) }) {
			s = s[:i]
			break
		}
	}
	scheme, rest, ok := strings.Cut(s, "://")
	path := strings.IndexAny(rest, "/?#")
	if !ok || path < 0 || strings.EqualFold(scheme, "file") {
		return s
	}
	for i := len(s) - len(rest) + path; i < len(s); i++ {
		if s[i] == '\\' && (i+1 == len(s) || (alpha | digit).has(s[i+1]) || strings.IndexByte(`"'\`, s[i+1]) >= 0) {
			return s[:i]
		}
	}
	return s
}

// trimSentence removes the end of s that probably belongs to the surrounding text. before is the text
// before s. First it cuts s where the surrounding text goes on, see enclosed. Then it removes
// punctuation, and the marks of an emphasis, as in "**URL**".
func trimSentence(before, s string) string {
	mark := emphasis(before)
	s = s[:enclosed(mark, inTable(before), s)]
	if isValue(before) {
		return s
	}
	for len(s) > 0 {
		r, size := utf8.DecodeLastRuneInString(s)
		switch r {
		case '.', ',', ';', ':', '!', '?', '\'', '`', '|', '\\', '^', '[', '{', '}', '#':
		case '-':
			if _, rest, _ := strings.Cut(s, "://"); strings.ContainsAny(rest, "/?#@") {
				return s
			}
		case '*', '_', '~':
			if !strings.HasPrefix(mark, string(r)) && !strings.HasSuffix(s, "**") && !strings.HasSuffix(s, "~~") {
				return s
			}
			s = strings.TrimRight(s, string(r))
			continue
		default:
			if r < utf8.RuneSelf || !unicode.IsPunct(r) && !unicode.Is(unicode.Cf, r) {
				return s
			}
		}
		s = s[:len(s)-size]
	}
	return s
}

// isValue reports whether a URL is the whole value of an attribute or of a key, as in href="URL" and in
// {"url": "URL"}, by the text before it. Marks at its end belong to it.
func isValue(before string) bool {
	key, ok := strings.CutSuffix(before, `"`)
	return ok && (strings.HasSuffix(key, "=") || strings.HasSuffix(strings.TrimRight(key, " "), `":`))
}

// emphasis returns the mark of an emphasis that the text before a URL ends in, such as "**", or "".
func emphasis(before string) string {
	if before == "" || strings.IndexByte("*_~", before[len(before)-1]) < 0 {
		return ""
	}
	return before[len(strings.TrimRight(before, before[len(before)-1:])):]
}

// inTable reports whether the text before a URL ends in the border of a cell, "|", and spaces.
func inTable(before string) bool {
	return strings.HasSuffix(strings.TrimRight(before, " \t"), "|")
}

// enclosed returns the length of the beginning of s that ends before
//
//   - a ")" or "]" without its counterpart in s, as in Markdown's "[URL](URL)",
//   - a "(" or "[" without its counterpart in s, as in AsciiDoc's "URL[some text]",
//   - a "[/", as in "[url]URL[/url]",
//   - a "|" in the path, which is more often the separator of something else, or in a table,
//   - a "|", "," or ";" before another URL,
//   - the end of an emphasis.
//
// A mark that may be in a URL ends none.
func enclosed(mark string, table bool, s string) int {
	var round, square nesting
	inPath := true
	for i := range len(s) {
		switch s[i] {
		case '?', '#':
			inPath = false
		case '(':
			round.open(i)
		case '[':
			if strings.HasPrefix(s[i:], "[/") {
				return min(round.end(i), square.end(i))
			}
			square.open(i)
		case ')':
			round.depth--
		case ']':
			square.depth--
		case '|', ',', ';':
			if s[i] == '|' && (inPath || table) || beginsURL(s[i+1:]) {
				return min(round.end(i), square.end(i))
			}
		}
		if round.depth < 0 || square.depth < 0 || len(mark) > 1 && mark[0] != '_' && strings.HasPrefix(s[i:], mark) {
			return min(round.end(i), square.end(i))
		}
	}
	return min(round.end(len(s)), square.end(len(s)))
}

// nesting counts the brackets of a kind that are open.
type nesting struct{ depth, outer int }

// open notes an opening bracket at offset i.
func (n *nesting) open(i int) {
	if n.depth == 0 {
		n.outer = i
	}
	n.depth++
}

// end returns the offset of the first bracket that is not closed, or end.
func (n *nesting) end(end int) int {
	if n.depth > 0 {
		return n.outer
	}
	return end
}

// beginsURL reports whether s begins with a known scheme and "//".
func beginsURL(s string) bool {
	n := schemeLength(s)
	if n == 0 || !strings.HasPrefix(s[n+1:], "//") {
		return false
	}
	_, known := SchemeOf(strings.ToLower(s[:n]))
	return known
}
