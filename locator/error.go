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
		Msg:    fmt.Sprintf("URL of %d octets, at most %d", len(text), MaxLength),
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

// redact replaces by "***" whatever may be a password in a text that need not
// be a URL: too much rather than too little.
func redact(text string) string {
	from, to := findPassword(text)
	if from == to {
		return text
	}
	return text[:from] + "***" + text[to:]
}

// findPassword returns where a password may stand in text: from the first colon
// behind the scheme to the last "@". Nothing in between ends the search, since a
// malformed password may hold any octet.
func findPassword(text string) (from, to int) {
	scheme, body := skipScheme(text)
	end := strings.LastIndexByte(text, '@')
	if end < body {
		return findUnfinished(text, scheme, body)
	}
	if body > 0 && text[body-1] == ':' && !hasAddress(scheme) {
		// Without slashes it may be "user:password@host".
		return body, end
	}
	if i := strings.IndexByte(text[body:end], ':'); i >= 0 {
		return body + i + 1, end
	}
	return 0, 0
}

// findUnfinished is findPassword for a text without "@": "ftp://user:password".
func findUnfinished(text, scheme string, body int) (from, to int) {
	if scheme == "news" || DefaultPort(scheme) == 0 && body > 0 && text[body-1] == ':' {
		return 0, 0 // no such scheme has a login
	}
	authority := text[body:]
	if i := strings.IndexByte(authority, '/'); i >= 0 {
		authority = authority[:i]
	}
	if i := strings.IndexByte(authority, ']'); i >= 0 && strings.Trim(authority[:i], "[0123456789ABCDEFabcdef:.") == "" {
		authority = authority[i:] // past an IPv6 address
		body += i
	}
	i := strings.IndexByte(authority, ':')
	if i < 0 || strings.Trim(authority[i+1:], "0123456789") == "" {
		return 0, 0 // at most a port
	}
	return body + i + 1, len(text)
}

// skipScheme returns the scheme that text starts with, in lower case, and the
// index of what follows it, slashes left out. A wrapper is skipped.
func skipScheme(text string) (scheme string, body int) {
	const space = " \t\r\n"
	rest := strings.TrimLeft(text, space+"<")
	if len(rest) >= 4 && strings.EqualFold(rest[:4], "URL:") {
		rest = strings.TrimLeft(rest[4:], space)
	}
	n := 0
	for n < len(rest) && schemeOctet.has(rest[n]) {
		n++
	}
	if n < len(rest) && rest[n] == ':' {
		scheme = strings.ToLower(rest[:n])
		rest = strings.TrimLeft(rest[n+1:], space+`/\`)
	}
	return scheme, len(text) - len(rest)
}

// hasAddress reports whether an "@" is part of what URLs of a scheme locate.
func hasAddress(scheme string) bool {
	switch scheme {
	case "mailto", "news", "mid", "cid", "mailserver":
		return true
	}
	return false
}
