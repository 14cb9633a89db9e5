package wais

import (
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/locator"
)

// The types with a special meaning.
const (
	typeText   = "TEXT" // also means documents without a type
	typeSource = "WSRC" // the description of a database
	typeURL    = "URL"  // the headline is the URL of the document
)

var mediaTypes = map[string]string{
	typeText: "text/plain", "WCAT": "text/plain", "TEXT-FTP": "text/plain", "HTML": "text/html",
	"GIF": "image/gif", "TIFF": "image/tiff", "JPEG": "image/jpeg", "JFIF": "image/jpeg", "JPG": "image/jpeg",
	"PICT": "image/x-pict", "PPM": "image/x-portable-pixmap", "PS": "application/postscript", "DVI": "application/x-dvi",
	"MIME": "message/rfc822", typeSource: "application/x-wais-source", typeURL: "",
}

// mediaType returns the media type for a WAIS type. There is no registry of WAIS types.
func mediaType(typ string) string {
	if known, ok := mediaTypes[strings.ToUpper(typ)]; ok {
		return known
	}
	return "application/octet-stream"
}

// linkSchemes are the schemes that a document of type URL may lead to. Local files and scripts are
// not among them.
var linkSchemes = []string{
	"http", "https", "ftp", "gopher", "mailto", "news", "nntp", "telnet", "tn3270", "wais", "prospero",
}

var linkParser = locator.Parser{
	Tolerate: locator.UnsafeOctets | locator.StrayPercent | locator.Fragments | locator.ModernHosts | locator.EmptyPort | locator.ReservedOctets,
}

// parseLink returns the locator of a URL that a server sent, or nil if it is not valid or not
// allowed.
func parseLink(url string) locator.Locator {
	ref, err := linkParser.Parse(url)
	if err != nil || !slices.Contains(linkSchemes, ref.Locator.Scheme()) {
		return nil
	}
	return ref.Locator
}

// date parses a date as servers write it: yymmdd or yyyymmdd. It returns the zero time for anything
// else, such as "0".
func date(s string) time.Time {
	layout := map[int]string{6: "060102", 8: "20060102"}[len(s)]
	t, err := time.Parse(layout, s)
	if layout == "" || err != nil {
		return time.Time{}
	}
	return t
}

// headline removes the marks and control codes that some headlines contain: ESC and a parenthesis
// around words that were found, and ESC with four more octets at a paragraph.
func headline(s string) string {
	const esc = 0x1B
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == esc && i+1 < len(s) && (s[i+1] == '(' || s[i+1] == ')'):
			i++
		case c == esc:
			i += 4
		case c == '\r' || c == '\n', c <= ' ' && len(b) == 0:
		default:
			b = append(b, c)
		}
	}
	return string(b)
}
