package plaintext

import (
	"bytes"
	"strings"

	"github.com/fetch1738/fetch1738/internal/text/charset"
)

// Sniffed is how many bytes of a document of unknown type are looked at.
const Sniffed = 4 << 10

// LooksLikeText reports whether the first bytes of a document are those of a text: no NUL, and few
// control characters.
func LooksLikeText(start []byte) bool {
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

// IsSource reports whether a browser would run documents of a media type, or load more for them.
func IsSource(mediaType string) bool {
	return strings.HasSuffix(mediaType, "html") || strings.HasSuffix(mediaType, "+xml") || strings.HasSuffix(mediaType, "/xml")
}

// IsText reports whether documents of a media type can be read as text.
func IsText(mediaType string) bool {
	switch mediaType {
	case "application/json", "application/xml", "application/mbox", "message/rfc822", "application/x-wais-source":
		return true
	}
	return strings.HasPrefix(mediaType, "text/") || strings.HasSuffix(mediaType, "+xml") || strings.HasSuffix(mediaType, "+json")
}
