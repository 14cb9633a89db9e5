package entry

import (
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/locator"
)

// typeWords are the words for the item types of gopher.
var typeWords = map[byte]string{
	'0': "text", '1': "menu", '2': "phone book", '4': "BinHex", '5': "archive", '6': "uuencoded", '7': "search", '8': "telnet", '9': "binary", 'T': "tn3270",
	'g': "GIF", 'I': "image", 'p': "PNG", ':': "bitmap", ';': "video", 'v': "video", '<': "sound", 's': "sound", 'h': "HTML", 'H': "HTML",
	'd': "document", 'P': "PDF", 'M': "mail", 'm': "mailbox", 'x': "XML", 'c': "calendar", 'e': "event", 'r': "RTF", 'w': "wiki", 'u': "Usenet", '!': "program",
}

// TypeWord returns the word for an item type of gopher: "entry" if it is empty, and "type X" if it is
// not known.
func TypeWord(typ string) string {
	if typ == "" {
		return "entry"
	}
	if word, ok := typeWords[typ[0]]; ok {
		return word
	}
	return "type " + typ
}

// The words for entries of directories that are no documents.
const (
	Folder  = "folder"
	Link    = "link"
	Special = "special" // a device, a socket, …
)

// DocumentWord returns what a document is, as far as its media type says, or else its name: "image",
// "sound", "video", "text" or "archive". If neither says more, it is a "file".
func DocumentWord(name, mediaType string) string {
	if mediaType == "" {
		mediaType = filename.MediaType(name)
	}
	switch family, _, _ := strings.Cut(mediaType, "/"); family {
	case "image", "video", "text":
		return family
	case "audio":
		return "sound"
	}
	switch mediaType {
	case "application/gzip", "application/x-compress", "application/x-bzip2", "application/x-xz", "application/zstd", "application/zip", "application/x-tar", "application/x-iso9660-image":
		return "archive"
	}
	return "file"
}

// Word returns what an item is, in a word for people. The listings of the command and the pages of the
// gateway use the same. The Locator must not be nil.
func Word(it *fetch.Item) string {
	typ := Field(it, gopher.HeaderType)
	switch {
	case Field(it, fetch.HeaderLink) != nil:
		return Link
	case Field(it, fetch.HeaderSpecial) != nil:
		return Special
	case typ != nil:
		return itemWord(it, *typ)
	}
	switch it.Kind {
	case fetch.KindDirectory, fetch.KindMenu:
		return Folder
	case fetch.KindQuery:
		return "search"
	case fetch.KindDocument:
		return DocumentWord(it.Name, it.MediaType)
	}
	return schemeWord(it.Locator)
}

// itemWord returns what an item of a menu is, whose type says less than its URL.
func itemWord(it *fetch.Item, typ string) string {
	switch l := it.Locator.(type) {
	case *locator.Gopher:
		if plus := Field(it, gopher.HeaderPlus); plus != nil && *plus == "?" {
			return "form"
		}
		return TypeWord(typ)
	default:
		return schemeWord(l)
	}
}

// schemeWord returns what a URL leads to that is not of the protocol of the listing.
func schemeWord(l locator.Locator) string {
	switch scheme := l.Scheme(); scheme {
	case "http", "https":
		return "web"
	case "mailto":
		return "mail"
	default:
		return scheme
	}
}
