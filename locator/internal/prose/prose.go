// Package prose knows the marks around URLs in running text: where a URL ends, and what is no part of it.
package prose

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cut returns the beginning of run that is a URL, by the marks in it. run begins with a scheme and has only
// characters that may be in a URL, before is the text before it, and known reports whether the URLs of a
// scheme, in lower case, have hosts as in RFC 1738. The time is linear in the length of run.
func Cut(before, run string, known func(scheme string) bool) string {
	return trimSentence(before, cutAtEscape(cutAfterHost(run, known)), known)
}

// Escape begins the control sequences of terminals.
const Escape = 0x1B

// ColorLength returns the length of the control sequence that s begins with, such as "ESC [ 32 m", or 1.
// Its last letter must not be taken for the beginning of a scheme.
func ColorLength(s string) int {
	if !strings.HasPrefix(s[1:], "[") {
		return 1
	}
	n := 2
	for n < len(s) && ' ' <= s[n] && s[n] < '@' {
		n++
	}
	return min(n+1, len(s))
}

// WithoutLabel removes the label from "<URL|label>", as Slack writes links. A "|" in a query may belong to
// the URL, if what follows does not look like a label.
func WithoutLabel(s string) string {
	url, label, ok := strings.Cut(s, "|")
	label = strings.TrimSuffix(label, ">")
	if !ok || strings.Contains(url, "?") && !strings.Contains(label, " ") && !strings.HasSuffix(url, label) {
		return s
	}
	return url + ">"
}

// Ends reports whether a character beyond ASCII is one of running text that no URL has: a bracket,
// a quotation mark, a long dash, the East Asian form of a punctuation mark, a line of a box, or an
// invisible mark of layout. Languages that have these marks write no space before and after a URL.
// Letters of all scripts occur in URLs, and so do the joiners between letters and in emoji.
func Ends(r rune) bool {
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
func cutAfterHost(s string, known func(scheme string) bool) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || !known(strings.ToLower(scheme)) {
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
		inHost := r < utf8.RuneSelf && alphanumeric(byte(r))
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
		if s[i] == '\\' && (i+1 == len(s) || alphanumeric(s[i+1]) || strings.IndexByte(`"'\`, s[i+1]) >= 0) {
			return s[:i]
		}
	}
	return s
}

// trimSentence removes the end of s that probably belongs to the surrounding text. before is the text
// before s. First it cuts s where the surrounding text goes on, see enclosed. Then it removes
// punctuation, and the marks of an emphasis, as in "**URL**".
func trimSentence(before, s string, known func(scheme string) bool) string {
	mark := emphasis(before)
	s = s[:enclosed(mark, inTable(before), s, known)]
	if isValue(before) {
		return s
	}
	_, rest, _ := strings.Cut(s, "://")
	hasPath := strings.ContainsAny(rest, "/?#@")
	for len(s) > 0 {
		r, size := utf8.DecodeLastRuneInString(s)
		switch r {
		case '.', ',', ';', ':', '!', '?', '\'', '`', '|', '\\', '^', '[', '{', '}', '#':
		case '-':
			if hasPath {
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
//   - a "(" or "[" without its counterpart in s,
//   - a "[" in the path, as in AsciiDoc's "URL[text]", but not at the beginning of a segment,
//   - a "[/", as in "[url]URL[/url]",
//   - a "|" in the path, which is more often the separator of something else, or in a table,
//   - a "|", "," or ";" before another URL,
//   - the end of an emphasis.
//
// A mark that may be in a URL ends none.
func enclosed(mark string, table bool, s string, known func(scheme string) bool) int {
	var round, square nesting
	inPath := true
	for i := range len(s) {
		switch s[i] {
		case '?', '#':
			inPath = false
		case '(':
			round.open(i)
		case '[':
			if strings.HasPrefix(s[i:], "[/") || inPath && i > 0 && s[i-1] != '/' {
				return min(round.end(i), square.end(i))
			}
			square.open(i)
		case ')':
			round.depth--
		case ']':
			square.depth--
		case '|', ',', ';':
			if s[i] == '|' && (inPath || table) || beginsURL(s[i+1:], known) {
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
func beginsURL(s string, known func(scheme string) bool) bool {
	n := 0
	for n < len(s) && (alphanumeric(s[n]) || strings.IndexByte("+-.", s[n]) >= 0) {
		n++
	}
	return n > 0 && strings.HasPrefix(s[n:], "://") && known(strings.ToLower(s[:n]))
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
