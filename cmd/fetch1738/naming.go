package main

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/locator"
)

// lastSegment is the last part of the path of l as it was typed, still encoded:
// the name that -O gives a file. Of a gopher URL it is that of the selector.
func lastSegment(l locator.Locator, typed string) string {
	if _, isNews := l.(*locator.News); isNews {
		_, name, _ := strings.Cut(typed, ":")
		return name
	}
	_, rest, found := strings.Cut(typed, "://")
	if !found {
		_, rest, _ = strings.Cut(l.String(), "://")
	}
	rest, _, _ = strings.Cut(rest, "#")
	_, p, _ := strings.Cut(rest, "/")
	switch l.(type) {
	case *locator.HTTP:
		p, _, _ = strings.Cut(p, "?")
	case *locator.FTP, *locator.Opaque:
		if typecode := max(0, len(p)-len(";type=i")); strings.EqualFold(p[typecode:max(typecode, len(p)-1)], ";type=") {
			p = p[:typecode]
		}
	case *locator.Gopher:
		p, _, _ = strings.Cut(p, "%09")
		p = p[min(1, len(p)):] // the type
	}
	return p[strings.LastIndexByte(p, '/')+1:]
}

// maxName bounds a file name in octets.
const maxName = 200

// safeName makes a file name out of text that may be somebody else's: it stays
// in its directory, names no device, hides nothing, is no option to another
// program, and is the same on every system.
func safeName(text string) (string, error) {
	name := text[strings.LastIndexAny(text, `/\`)+1:]
	switch {
	case name == "" || name == "." || name == "..":
		return "", errors.New("the URL names no file to write to; name one with -o")
	case strings.Contains(name, "\x00"):
		return "", errors.New("a file name cannot hold NUL; name one with -o")
	}
	const unseen = " ." // dropped from the end of a name by Windows
	name = strings.TrimRight(plainName(name), unseen)
	if name == "" || strings.IndexByte(".-~", name[0]) >= 0 || isDevice(name) {
		name = "_" + name
	}
	return strings.TrimRight(shortName(name), unseen), nil
}

// plainName replaces what some system gives a meaning to.
func plainName(name string) string {
	var b strings.Builder
	for i, size := 0, 0; i < len(name); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(name[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "%%%02X", name[i])
		case r < ' ', 0x7F <= r && r < 0xA0, strings.ContainsRune("<>:\"|?*\u061C\u200E\u200F", r),
			0x2028 <= r && r <= 0x202E, 0x2066 <= r && r <= 0x2069:
			b.WriteByte('_')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isDevice reports whether Windows takes a name for one of its devices,
// whatever its suffix.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	number, isCOM := strings.CutPrefix(stem, "COM")
	number, isLPT := strings.CutPrefix(number, "LPT")
	return isCOM != isLPT && utf8.RuneCountInString(number) == 1 && strings.Contains("0123456789¹²³", number)
}

// shortName cuts a name that is too long but keeps its suffix.
func shortName(name string) string {
	if len(name) <= maxName {
		return name
	}
	suffix := path.Ext(name)
	if len(suffix) > 20 {
		suffix = ""
	}
	stem := name[:maxName-len(suffix)]
	for !utf8.ValidString(stem) {
		stem = stem[:len(stem)-1]
	}
	return stem + suffix
}
