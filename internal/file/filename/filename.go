// Package filename makes safe file names from untrusted text.
package filename

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// Max is the maximum length of a name in bytes.
const Max = 200

// Errors for text from which no name can be made.
var (
	ErrNone = errors.New("the URL has no file name")
	ErrNUL  = errors.New("a file name cannot contain NUL")
)

// Safe returns a safe name for the last component of a path with separators "/" or "\". The name
// stays in its directory, is not a device, is not hidden, is not an option of another program, and
// is the same on every system. The error is [ErrNone] or [ErrNUL].
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

// dividers are the characters that no component can contain.
var dividers = strings.NewReplacer("/", "_", `\`, "_", "\x00", "_")

// Component returns a safe name for text, all of which is one component. Unlike Safe, it always
// returns a name.
func Component(text string) string { return safe(dividers.Replace(text)) }

// safe returns a safe name for one component of a path.
func safe(name string) string {
	if trimEnd(name) == "" && len(name) > 2 || strings.Trim(name, " ") == "" {
		name = encodeDots(name) // else all such names would become "_"
	}
	name = shortName(trimEnd(plainName(name)))
	if name == "" || strings.IndexByte(".-~", name[0]) >= 0 || isDevice(name) {
		name = shortName("_" + name)
	}
	return name
}

// encodeDots encodes the dots and spaces of a name that consists of nothing else.
func encodeDots(name string) string { return strings.NewReplacer(".", "%2E", " ", "%20").Replace(name) }

// trimEnd removes the characters that Windows drops from the end of a name.
func trimEnd(name string) string { return strings.TrimRight(name, " .") }

// plainName replaces characters with a special meaning on some system.
func plainName(name string) string {
	var b strings.Builder
	for i, size := 0, 0; i < len(name); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(name[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "%%%02X", name[i])
		case isControl(r), strings.ContainsRune(notOnWindows, r):
			b.WriteByte('_')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// notOnWindows are the characters that no name has on Windows, but for separators.
const notOnWindows = "<>:\"|?*"

// isControl reports whether a character controls a terminal, or the direction of text.
func isControl(r rune) bool {
	return r < ' ' || 0x7F <= r && r < 0xA0 || strings.ContainsRune("\u061C\u200E\u200F", r) ||
		0x2028 <= r && r <= 0x202E || 0x2066 <= r && r <= 0x2069
}

// isDevice reports whether a name is that of a device on Windows, whatever its suffix.
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

// shortName shortens a name that is too long, but keeps its suffix.
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
	return trimEnd(stem + suffix)
}
