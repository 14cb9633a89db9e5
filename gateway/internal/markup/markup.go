// Package markup writes HTML in which only constants of the program are markup.
package markup

import (
	"bufio"
	"io"
	"strings"
)

// A constant is markup. Outside of this package only an untyped constant can be one: no value that a
// program computes or receives.
type constant string

// A Writer writes HTML through a buffer. Its first error stays; Flush returns it.
type Writer struct {
	buffer *bufio.Writer
	err    error
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{buffer: bufio.NewWriterSize(w, 16<<10)} }

// Put writes format, in which the next of the values replaces each "%s" and "%u". A "%s" is text, or
// a part of an attribute's value in double quotes. A "%u" is a URL, the whole value of an attribute
// in double quotes. It is written as "#" if a page may not have links of its scheme. There must be
// as many values as places.
func (w *Writer) Put(format constant, values ...string) {
	rest := string(format)
	for _, value := range values {
		markup, after, ok := cut(rest)
		if !ok {
			panic("markup: more values than places in " + string(format))
		}
		w.write(markup)
		if rest = after[1:]; after[0] == 'u' {
			value = urlOf(value)
		}
		w.escape(value)
	}
	if _, _, more := cut(rest); more {
		panic("markup: fewer values than places in " + string(format))
	}
	w.write(rest)
}

// cut splits a format at its first place; after begins with the letter.
func cut(format string) (before, after string, found bool) {
	before, after, found = strings.Cut(format, "%")
	if found && (after == "" || after[0] != 's' && after[0] != 'u') {
		panic("markup: bad place in " + format)
	}
	return before, after, found
}

// escaper escapes text for elements and for values of attributes in double quotes, as html/template
// does.
var escaper = strings.NewReplacer("\x00", "\ufffd", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;", ">", "&gt;")

func (w *Writer) escape(text string) {
	if strings.ContainsAny(text, "\x00\"&'+<>") {
		text = escaper.Replace(text)
	}
	w.write(text)
}

func (w *Writer) write(text string) {
	if w.err == nil {
		_, w.err = w.buffer.WriteString(text)
	}
}

// Failed reports whether nothing more is written, because of an error.
func (w *Writer) Failed() bool { return w.err != nil }

// Flush writes what is in the buffer.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.err = w.buffer.Flush()
	}
	return w.err
}

// urlOf returns a URL with its unsafe octets encoded.
func urlOf(url string) string {
	if before, _, ok := strings.Cut(url, ":"); ok && !strings.Contains(before, "/") && !isScheme(before) {
		return "#"
	}
	var b strings.Builder
	for i := range len(url) {
		c := url[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~!#$&*+,/:;=?@[]", c) >= 0,
			c == '%' && i+2 < len(url) && isHex(url[i+1]) && isHex(url[i+2]):
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte("0123456789abcdef"[c>>4])
			b.WriteByte("0123456789abcdef"[c&15])
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// isScheme reports whether a page may have links of a scheme.
func isScheme(name string) bool {
	switch strings.ToLower(name) {
	case "ftp", "ftps", "gopher", "gophers", "http", "https", "mailto", "news", "snews", "nntp", "nntps", "wais", "prospero", "telnet":
		return true
	}
	return false
}
