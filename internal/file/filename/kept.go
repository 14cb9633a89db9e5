package filename

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/internal/urls/percent"
)

// Keep says which names of a server the files of a copy keep.
type Keep uint8

// What is kept. No value keeps names that lead to another directory (".", "..", separators), names
// with NUL, names that are too long, and those of this program's own files.
const (
	// KeepSafe keeps the names that [Safe] keeps, unless a program runs or reads such files by itself.
	KeepSafe Keep = iota
	// KeepUsual keeps all names, unless a program runs or reads such files by itself, or the name has
	// characters that control a terminal.
	KeepUsual
	// KeepAll keeps all names that a file can have.
	KeepAll
)

// A Naming gives files of a copy their names. Names that it does not keep have some of their octets
// encoded, as in "a%3Ab", so that different names on the server are different here.
type Naming struct {
	Keep Keep
	// Portable means that the file system cannot have every name, like those of Windows and macOS.
	Portable bool
}

// own is how the names of this program's own files in a copy begin.
const own = ".fetch1738"

// maxKept is the maximum length in bytes of a name in a copy. Systems permit no longer ones.
const maxKept = 255

// Name returns the name of the file for a name of the server, which is one component of a path.
func (n Naming) Name(name string) string {
	switch {
	case name == "":
		return "_"
	case n.keeps(name):
		return name
	}
	encoded := n.encode(name)
	short := shortened(encoded)
	if short != encoded && !n.permits(short) { // because of how it begins
		return shortened(encodedFirst(encoded))
	}
	return short
}

// keeps reports whether a name stays. One that can be kept, but is what another name becomes, does
// not stay. A listing has no names with "/" or NUL, so those are not looked at.
func (n Naming) keeps(name string) bool {
	if !n.permits(name) {
		return false
	}
	decoded := percent.Decode(name)
	return decoded == name || strings.ContainsAny(decoded, "/\x00") || n.encode(decoded) != name || n.keeps(decoded)
}

// permits reports whether a file may have a name.
func (n Naming) permits(name string) bool {
	switch {
	case name == "" || name == "." || name == ".." || len(name) > maxKept || strings.ContainsAny(name, "/\\\x00"):
		return false
	case isOwn(name):
		return false
	case n.Portable && !isPortable(name):
		return false
	case n.Keep == KeepAll:
		return true
	case isAutomatic(name) || strings.ContainsFunc(name, isControl):
		return false
	}
	return n.Keep == KeepUsual || isPortable(name) && strings.IndexByte(".-~", name[0]) < 0
}

// isOwn reports whether a name is one of this program's own files in a copy, perhaps in another way
// of writing: in another case, with characters that HFS+ ignores, or as the short name that Windows
// gives such a file, as in "FETCH1~1".
func isOwn(name string) bool {
	if seen := visible(name); len(seen) >= len(own) && strings.EqualFold(seen[:len(own)], own) {
		return true
	}
	stem, number, short := strings.Cut(name, "~")
	return short && len(name) <= 8 && len(stem) >= 2 && strings.Trim(number, "0123456789") == "" && number != "" &&
		(strings.EqualFold(stem, "fetch1738"[:min(len(stem), 6)]) || len(stem) == 6 && strings.EqualFold(stem[:2], "fe") && isHex(stem[2:]))
}

// isHex reports whether text consists of hexadecimal digits.
func isHex(text string) bool {
	return strings.Trim(text, "0123456789abcdefABCDEF") == ""
}

// isPortable reports whether every system can have a file of this name.
func isPortable(name string) bool {
	return plainName(name) == name && trimEnd(name) == name && !isDevice(name)
}

// encode encodes the octets of a name that some system cannot have, and each "%". If that is not
// enough, it encodes the first octet.
func (n Naming) encode(name string) string {
	var b strings.Builder
	end := len(trimEnd(name))
	for i, size := 0, 0; i < len(name); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(name[i:])
		if i >= end || r == utf8.RuneError && size == 1 || isControl(r) || strings.ContainsRune(`%/\`+notOnWindows, r) {
			b.WriteString(percent.Encode(name[i:i+size], always))
		} else {
			b.WriteString(name[i : i+size])
		}
	}
	encoded := b.String()
	if len(encoded) <= maxKept && !n.permits(encoded) {
		return encodedFirst(encoded)
	}
	return encoded
}

// encodedFirst encodes the first octet of a name.
func encodedFirst(name string) string {
	return percent.Encode(name[:1], always) + name[1:]
}

func always(byte) bool { return true }

// shortened shortens a name that is too long, but keeps its suffix. The checksum of the name keeps
// different names apart.
func shortened(name string) string {
	if len(name) <= maxKept {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	suffix := path.Ext(name)
	if len(suffix) > 20 {
		suffix = ""
	}
	suffix = "~" + hex.EncodeToString(sum[:8]) + suffix
	stem := name[:maxKept-len(suffix)]
	for !utf8.ValidString(stem) || stem[len(stem)-1] == '%' || stem[len(stem)-2] == '%' {
		stem = stem[:len(stem)-1]
	}
	return stem + suffix
}

// IsNameOf reports whether a copy may have given a file of the server this name: by one of the
// namings, or by Component, as copies of earlier versions did.
func IsNameOf(file, name string) bool {
	if file == Component(name) {
		return true
	}
	for keep := KeepSafe; keep <= KeepAll; keep++ {
		if file == (Naming{Keep: keep}).Name(name) || file == (Naming{Keep: keep, Portable: true}).Name(name) {
			return true
		}
	}
	return false
}
