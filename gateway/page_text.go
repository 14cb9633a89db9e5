package gateway

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/internal/text/charset"
)

// visible makes a name from a server safe to show: control characters and those that change the
// direction of text are shown by their code, and octets that are not UTF-8 as Latin-1.
func visible(s string) string { return shown(s, "") }

// visibleText is visible for text of several lines: line ends and tabs stay. Each of CR LF, CR, LF
// and the form feed between pages is the end of a line.
func visibleText(s string) string { return shown(s, "\n\r\f\t") }

// shown is visible, except for the control characters in layout.
func shown(s, layout string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			r = rune(s[i])
		}
		i += n
		switch {
		case r >= ' ' && r <= '~':
			b.WriteByte(byte(r))
		case r == '\t' && layout != "":
			b.WriteByte('\t')
		case r <= '\r' && strings.ContainsRune(layout, r):
			if r != '\r' || i == len(s) || s[i] != '\n' {
				b.WriteByte('\n')
			}
		case unicode.IsControl(r), unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp), r == '\ufeff':
			fmt.Fprintf(&b, "<%02X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// breakable splits a text where a browser may break a line: after the slashes of words that are
// longer than a line of a small screen, and after other marks in what is still too long.
func breakable(text string) []string {
	const long = 24 // letters of a heading
	parts := []string{""}
	for word := range strings.SplitAfterSeq(text, " ") {
		if len(word) <= long {
			parts[len(parts)-1] += word
			continue
		}
		for name := range strings.SplitAfterSeq(word, "/") {
			begin := 0
			for i := range len(name) {
				if len(name) > long && strings.IndexByte("._-@", name[i]) >= 0 {
					parts, begin = append(parts, name[begin:i+1]), i+1
				}
			}
			parts = append(parts, name[begin:])
		}
	}
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}

// sizeText is a number of bytes for people; empty if it is negative, which means unknown.
func sizeText(n int64) string {
	switch {
	case n < 0:
		return ""
	case n < 1024:
		return strconv.FormatInt(n, 10) + " B"
	}
	f, unit := float64(n)/1024, 0
	for ; f >= 999.5 && unit < 5; unit++ {
		f /= 1024
	}
	decimals := 0
	if f < 9.95 {
		decimals = 1
	}
	return strconv.FormatFloat(f, 'f', decimals, 64) + " " + "KMGTPE"[unit:unit+1] + "iB"
}

// charsets are the links to the text in other charsets; that of the current one has no link.
func (v *visit) charsets(current charset.Charset) []crumb {
	var choices []crumb
	for _, name := range charset.Names() {
		choice := crumb{Text: name, NoFollow: true}
		if name != current.Name() {
			choice.Link = here(v).With("charset=" + url.QueryEscape(strings.ToLower(name)))
			if v.query.Has("wrap") {
				choice.Link = choice.Link.With("wrap=" + url.QueryEscape(v.query.Get("wrap")))
			}
		}
		choices = append(choices, choice)
	}
	return choices
}

// sniffed is how many bytes of a document of unknown type are looked at.
const sniffed = 4 << 10

// looksLikeText reports whether the first bytes of a document are those of a text: no NUL, and few
// control characters.
func looksLikeText(start []byte) bool {
	if bytes.IndexByte(start, 0) >= 0 { // as a text in UTF-16 has
		start = []byte(charset.Guess(start).Decode(string(start)))
	}
	control := 0
	for _, b := range start {
		switch {
		case b == 0:
			return false
		case b < ' ' && !strings.ContainsRune("\t\n\r\f\b\x1b\x1a", rune(b)), b == 0x7f:
			control++
		}
	}
	return control*50 <= len(start)
}
