package locator

import "fmt"

// SyntaxError says where and by which section of RFC 1738 a text is no URL. It
// never shows a password.
type SyntaxError struct {
	Text    string // the offending URL, password removed, cut to a printable length
	Offset  int    // in octets from the start of the text handed to Parse
	Section string // such as "3.1"; of RFC 1738 unless it says otherwise
	Msg     string // what is wrong and what would be right
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("bad URL %q: %s at offset %d (RFC 1738 section %s)", e.Text, e.Msg, e.Offset, e.Section)
}
