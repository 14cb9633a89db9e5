// Package ftplist parses the listings that FTP servers send for LIST and MLSD. RFC 959 leaves
// the format of LIST to the server. These formats are supported:
//
//   - ls -l of Unix and its variants, including NetWare and NetPresenz
//   - DIR of MS-DOS and Windows
//   - EPLF, Easily Parsed LIST Format
//   - facts, as of MLSD (RFC 3659 §7.2)
//   - OpenVMS, with each entry on one line
//
// A listing is not trusted: a name is never empty, "." or "..", and never contains
// "/" or NUL, so that it names an entry of the listed directory.
package ftplist

import (
	"strings"
	"time"
)

// An Entry is an entry of a listing.
type Entry struct {
	// Name is the name within the directory, as raw bytes.
	Name string
	// Target is the target of a symbolic link, if the line has it.
	Target string
	Type   Type
	// Size is the size in bytes, or -1 if the line has none.
	Size int64
	// ModTime is the modification time, or zero if the line has none. Most formats
	// have no time zone; UTC is assumed.
	ModTime time.Time
	// Perm is the fact "perm" (RFC 3659 §7.5.5); empty in other formats.
	Perm string
	// Unique is the fact "unique" (RFC 3659 §7.5.2); empty in other formats.
	Unique string
}

// Type is the kind of an Entry.
type Type uint8

// The types of an Entry.
const (
	File Type = iota
	Dir
	Link  // a symbolic link
	Other // a device, a socket, …
)

// formats lists the formats in the order in which they are tried, the most distinctive
// ones first.
var formats = []func(line string, now time.Time) (Entry, bool){eplf, facts, dos, vms, unix}

// Parse parses a line, with or without its line end. It returns false for a line without an
// entry, such as "total 12" (with a zero Entry), and for an entry with an invalid name. A
// date without a year is the latest such date that is not after now.
func Parse(line string, now time.Time) (Entry, bool) {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	for _, format := range formats {
		if e, ok := format(line, now); ok {
			return e, Plain(e.Name)
		}
	}
	return Entry{}, false
}

// Strange reports whether a line has no supported format and is not one of the lines that
// occur between entries: empty, or like "total 12" in any language.
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

// Plain reports whether name is valid as the name of a directory entry.
func Plain(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00\r\n")
}
