// Package gophermenu has what the page of a gopher menu needs and that needs no request: the words for
// the types of items, and which lines of text are drawings, columns and prose.
package gophermenu

// itemTypes are the words and the symbols for the item types of gopher.
var itemTypes = map[byte]struct{ word, icon string }{
	'0': {"text", "text"}, '1': {"menu", "folder"}, '2': {"phone book", "people"}, '4': {"BinHex", "archive"}, '5': {"archive", "archive"},
	'6': {"uuencoded", "archive"}, '7': {"search", "search"}, '8': {"telnet", "terminal"}, '9': {"binary", "file"}, 'T': {"tn3270", "terminal"},
	'g': {"GIF", "picture"}, 'I': {"image", "picture"}, 'p': {"PNG", "picture"}, ':': {"bitmap", "picture"}, ';': {"video", "video"},
	'v': {"video", "video"}, '<': {"sound", "sound"}, 's': {"sound", "sound"}, 'h': {"HTML", "text"}, 'H': {"HTML", "text"},
	'd': {"document", "text"}, 'P': {"PDF", "text"}, 'M': {"mail", "mail"}, 'm': {"mailbox", "mail"}, 'x': {"XML", "text"}, 'c': {"calendar", "text"},
	'e': {"event", "text"}, 'r': {"RTF", "text"}, 'w': {"wiki", "text"}, 'u': {"Usenet", "text"}, '!': {"program", "file"},
}

// TypeOf is the word for an item type of gopher, and its symbol.
func TypeOf(typ string) (word, icon string) {
	if typ == "" {
		return "entry", "file"
	}
	if t, ok := itemTypes[typ[0]]; ok {
		return t.word, t.icon
	}
	return "type " + typ, "file"
}
