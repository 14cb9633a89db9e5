// Package filename makes names of files out of text that may be somebody
// else's.
package filename

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// Max bounds a name in octets.
const Max = 200

// What no name can be made of.
var (
	ErrNone = errors.New("the URL names no file to write to")
	ErrNUL  = errors.New("a file name cannot hold NUL")
)

// Safe is the last component of a path, as "/" and "\" divide it, made a name
// that stays in its directory, names no device, hides nothing, is no option to
// another program, and is the same on every system. The error is [ErrNone] or
// [ErrNUL].
func Safe(text string) (string, error) {
	name := text[strings.LastIndexAny(text, `/\`)+1:]
	switch {
	case name == "" || name == "." || name == "..":
		return "", ErrNone
	case strings.Contains(name, "\x00"):
		return "", ErrNUL
	}
	return safe(name), nil
}

// dividers are what no component can hold.
var dividers = strings.NewReplacer("/", "_", `\`, "_", "\x00", "_")

// Component is a name for what is one component whatever is in it. Unlike that
// of Safe, there always is one.
func Component(text string) string { return safe(dividers.Replace(text)) }

func safe(name string) string {
	if visible(name) == "" && len(name) > 2 || strings.Trim(name, " ") == "" {
		name = encoded(name) // what "_" stands for is not this
	}
	name = shortName(visible(plainName(name)))
	if name == "" || strings.IndexByte(".-~", name[0]) >= 0 || isDevice(name) {
		name = shortName("_" + name)
	}
	return name
}

// encoded is a name of dots and spaces, which says nothing else.
func encoded(name string) string { return strings.NewReplacer(".", "%2E", " ", "%20").Replace(name) }

// visible is a name without what Windows drops from its end.
func visible(name string) string { return strings.TrimRight(name, " .") }

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
	if len(name) <= Max {
		return name
	}
	suffix := path.Ext(name)
	if len(suffix) > 20 {
		suffix = ""
	}
	stem := name[:Max-len(suffix)]
	for !utf8.ValidString(stem) {
		stem = stem[:len(stem)-1]
	}
	return visible(stem + suffix)
}
