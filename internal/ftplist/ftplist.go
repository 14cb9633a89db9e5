// Package ftplist reads the lines that FTP servers answer LIST with. RFC 959
// says of them only that they are for people, so each kind of server has its
// own; these are understood:
//
//   - ls -l of Unix in its varieties, also those of NetWare and NetPresenz
//   - DIR of MS-DOS and Windows
//   - EPLF, Easily Parsed LIST Format
//   - facts, as of MLSD (RFC 3659 §7.2)
//   - OpenVMS, where an entry is on one line
//
// A listing is not trusted: a name is never empty, "." or "..", and never holds
// "/" or NUL, so that it names something in the directory listed.
package ftplist

import (
	"strings"
	"time"
)

// Entry is what one line says.
type Entry struct {
	// Name is the name within the directory, as octets.
	Name string
	// Target is where a symbolic link points, if the line tells.
	Target string
	Type   Type
	// Size is in octets; -1 when the line does not tell.
	Size int64
	// ModTime is zero when the line does not tell. Most formats do not say in
	// which time zone they mean it; UTC is assumed.
	ModTime time.Time
	// Perm is the fact of that name (RFC 3659 §7.5.5); empty in other formats.
	Perm string
}

// Type is the kind of an Entry.
type Type uint8

// The types of an Entry.
const (
	File Type = iota
	Dir
	Link  // a symbolic link to either
	Other // a device, a socket, …
)

// formats in the order in which they are tried: those that cannot be mistaken
// come first.
var formats = []func(line string, now time.Time) (Entry, bool){eplf, facts, dos, vms, unix}

// Parse reads a line, with or without its line end. It is false for a line that
// holds no entry, such as "total 12" (a zero Entry), or an entry whose name cannot be one. Dates
// without a year are taken as the latest that is not after now.
func Parse(line string, now time.Time) (Entry, bool) {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	for _, format := range formats {
		if e, ok := format(line, now); ok {
			return e, Plain(e.Name)
		}
	}
	return Entry{}, false
}

// Strange tells whether a line is of no format that is understood, and none of
// those that stand between entries: an empty one, or "total 12" in whatever
// language.
func Strange(line string, now time.Time) bool {
	if e, ok := Parse(line, now); ok || e != (Entry{}) {
		return false
	}
	words := strings.Fields(line)
	if len(words) != 2 {
		return len(words) > 0
	}
	return strings.Trim(words[1], "0123456789.,KMGT") != ""
}

// Plain tells whether name can be that of an entry in a directory.
func Plain(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00\r\n")
}
