package gopher

import "github.com/fetch1738/fetch1738/fetch"

// framing is how the end of a response is marked.
type framing uint8

const (
	untilClose framing = iota // the connection closes; bytes are not changed
	textLines                 // the same, but a last line "." is not part of it
	menuLines                 // a line "."
)

// itemType holds the properties of an item type (RFC 1436 §3.8 and later use).
type itemType struct {
	link    fetch.Kind // of an Item that links to it
	framing framing
	media   string
}

// types has the item types with known properties. Items of all other types are fetched as plain
// bytes.
var types = [256]itemType{
	'0': {framing: textLines, media: "text/plain"},
	'1': {link: fetch.KindMenu, framing: menuLines, media: menuType},
	'2': {link: fetch.KindQuery},
	'4': {media: "application/mac-binhex40"},
	'5': {media: "application/octet-stream"},
	'6': {media: "text/x-uuencode"},
	'7': {link: fetch.KindQuery, framing: menuLines, media: menuType},
	'8': {link: fetch.KindInteractive},
	'9': {media: "application/octet-stream"},
	'T': {link: fetch.KindInteractive},
	'g': {media: "image/gif"},
	'p': {media: "image/png"},
	'h': {framing: textLines, media: "text/html"},
	'H': {framing: textLines, media: "text/html"},
	'P': {media: "application/pdf"},
	'M': {framing: textLines, media: "message/rfc822"},
	'x': {framing: textLines, media: "application/xml"},
	'c': {framing: textLines, media: "text/calendar"},
	'm': {framing: textLines, media: "application/mbox"},
	'r': {framing: textLines, media: "text/rtf"},
	'e': {framing: textLines},
	'u': {framing: textLines},
	'w': {framing: textLines},
}

// The Gopher+ names of a plain menu, and of a menu with the attributes of its items.
const (
	menuType     = "application/gopher-menu"
	plusMenuType = "application/gopher+-menu"
)
