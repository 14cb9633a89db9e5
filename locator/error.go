package locator

import (
	"fmt"
	"strings"
)

// SyntaxError says where and by which section of RFC 1738 a text is no URL. It
// never shows a password.
type SyntaxError struct {
	// Text is the offending text for display: password hidden, one line of
	// printable ASCII, cut to at most 120 octets.
	Text string
	// Offset is that of the first octet that can't stand where it stands, of the
	// "@" of a login where none is allowed, of the start of a port or address out
	// of range, or the text's length if something is missing at its end. It counts
	// octets from the start of the text handed to Parse.
	Offset int
	// Section of RFC 1738 that Text departs from, such as "3.1"; empty for limits
	// of this package.
	Section string
	// Msg is what is wrong and what would be right. It quotes at most one octet.
	Msg string
}

// Error is one line of printable ASCII, at most 300 octets.
func (e *SyntaxError) Error() string {
	if e.Section == "" {
		return fmt.Sprintf(`bad URL "%s": %s`, e.Text, e.Msg)
	}
	return fmt.Sprintf(`bad URL "%s": %s, at offset %d (RFC 1738, section %s)`, e.Text, e.Msg, e.Offset, e.Section)
}

// failure is a SyntaxError in the making: cheap, for callers that only want to
// know whether a text is a URL.
type failure struct {
	offset       int
	section, msg string
}

func (f failure) error(text string) *SyntaxError {
	return &SyntaxError{Text: displayed(text), Offset: f.offset, Section: f.section, Msg: f.msg}
}

func tooLong(text string) *SyntaxError {
	return &SyntaxError{
		Text:   displayed(text),
		Offset: MaxLength,
		Msg:    fmt.Sprintf("URL of %d bytes; the limit is %d", len(text), MaxLength),
	}
}

const maxDisplayed = 120

// displayed is text as a SyntaxError shows it.
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
