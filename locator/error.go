package locator

import (
	"fmt"
	"strings"
)

// SyntaxError says where a text departs from the grammar of RFC 1738, and from which section. It
// never contains a password.
type SyntaxError struct {
	// Text is the text for display: one line of printable ASCII without the password, at most 120
	// bytes.
	Text string
	// Offset is the position of the error, in bytes from the start of the text that was passed to
	// Parse. It is the first byte that is not allowed; the "@" of a login, if the scheme has none;
	// the start of a port or address that is out of range; or the length of the text, if something
	// is missing at its end.
	Offset int
	// Section is the section of RFC 1738 that Text departs from, such as "3.1". It is empty if a
	// limit of this package is exceeded.
	Section string
	// Msg says what is wrong and what would be correct. It quotes at most one byte.
	Msg string
}

// Error returns one line of printable ASCII of at most 300 bytes.
func (e *SyntaxError) Error() string {
	if e.Section == "" {
		return fmt.Sprintf(`bad URL "%s": %s`, e.Text, e.Msg)
	}
	return fmt.Sprintf(`bad URL "%s": %s, at offset %d (RFC 1738, section %s)`, e.Text, e.Msg, e.Offset, e.Section)
}

// failure has the facts of a SyntaxError. It is cheap, for callers that only need to know whether a
// text is a URL.
type failure struct {
	offset       int
	section, msg string
}

// error returns the SyntaxError for text.
func (f failure) error(text string) *SyntaxError {
	return &SyntaxError{Text: displayed(text), Offset: f.offset, Section: f.section, Msg: f.msg}
}

// tooLong returns the error of a text that exceeds MaxLength.
func tooLong(text string) *SyntaxError {
	return &SyntaxError{
		Text:   displayed(text),
		Offset: MaxLength,
		Msg:    fmt.Sprintf("URL of %d bytes; the limit is %d", len(text), MaxLength),
	}
}

const maxDisplayed = 120

// displayed returns text as a SyntaxError shows it.
func displayed(text string) string {
	var b strings.Builder
	for _, octet := range []byte(redact(text)) {
		shown := string(rune(octet))
		if octet < ' ' || octet > '~' {
			shown = `\x` + hex(octet)
		}
		if b.Len()+len(shown) > maxDisplayed-len("...") {
			b.WriteString("...")
			break
		}
		b.WriteString(shown)
	}
	return b.String()
}
