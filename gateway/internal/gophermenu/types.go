// Package gophermenu has what the page of a gopher menu needs and that needs no request: the symbols for
// the types of items, and which lines of text are drawings, columns and prose.
package gophermenu

import "github.com/fetch1738/fetch1738/internal/entry"

// icons are the symbols for the item types of gopher.
var icons = map[byte]string{
	'0': "text", '1': "folder", '2': "people", '4': "archive", '5': "archive", '6': "archive", '7': "search", '8': "terminal", 'T': "terminal",
	'g': "picture", 'I': "picture", 'p': "picture", ':': "picture", ';': "video", 'v': "video", '<': "sound", 's': "sound", 'h': "text", 'H': "text",
	'd': "text", 'P': "text", 'M': "mail", 'm': "mail", 'x': "text", 'c': "text", 'e': "text", 'r': "text", 'w': "text", 'u': "text",
}

// TypeOf is the word for an item type of gopher, and its symbol.
func TypeOf(typ string) (word, icon string) {
	icon = "file"
	if typ != "" && icons[typ[0]] != "" {
		icon = icons[typ[0]]
	}
	return entry.TypeWord(typ), icon
}
