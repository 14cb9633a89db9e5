// Package render formats untrusted bytes for people and for programs.
package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/fetch/telnet"
)

// JSON writes v as one line of ASCII JSON. Unlike encoding/json it escapes all characters above
// U+007E, for safe display on terminals, and does not escape "<", ">" and "&".
func JSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	line := make([]byte, 0, b.Len())
	for _, r := range b.String() {
		switch {
		case r < 0x7F:
			line = append(line, byte(r))
		case r > 0xFFFF:
			r -= 0x10000
			line = fmt.Appendf(line, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		default:
			line = fmt.Appendf(line, `\u%04x`, r)
		}
	}
	_, err := w.Write(line)
	return err
}

// Chars maps each byte to the character of the same number, U+0000 to U+00FF.
func Chars(octets string) string {
	var b strings.Builder
	for i := range len(octets) {
		b.WriteRune(rune(octets[i]))
	}
	return b.String()
}

// AsGiven returns text for use in JSON: unchanged if it is valid UTF-8, otherwise its Chars.
func AsGiven(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return Chars(text)
}

// Quote returns octets in double quotes: printable ASCII unchanged, other bytes as \n, \r, \t or
// \xNN.
func Quote(octets string) string {
	b := []byte{'"'}
	for i := range len(octets) {
		switch c := octets[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case ' ' <= c && c <= '~':
			b = append(b, c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		default:
			b = fmt.Appendf(b, `\x%02x`, c)
		}
	}
	return string(append(b, '"'))
}

// Plain returns s unchanged if it is printable ASCII and not empty, otherwise quoted.
func Plain(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return Quote(s)
	}
	return s
}

// Paragraph returns lead and text in lines of at most width columns; only a longer word exceeds them.
// All lines but the first are indented by below spaces.
func Paragraph(lead, text string, below, width int) string {
	var b strings.Builder
	line, empty := lead, true
	for word := range strings.FieldsSeq(text) {
		switch {
		case empty:
			line += word
		case len(line)+1+len(word) > width:
			b.WriteString(line + "\n")
			line = strings.Repeat(" ", below) + word
		default:
			line += " " + word
		}
		empty = false
	}
	return b.String() + line + "\n"
}

// Fold returns the lines of a Paragraph that is not indented.
func Fold(text string, width int) []string {
	return strings.Split(strings.TrimSuffix(Paragraph("", text, 0, width), "\n"), "\n")
}

// Telnet describes telnet commands in words. Other data, such as a request to a proxy, is returned
// unchanged.
func Telnet(octets []byte) string {
	if words := telnet.Describe(octets); words != "" {
		return words
	}
	return string(octets)
}
