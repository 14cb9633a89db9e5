package ftplist

import (
	"strings"
	"time"
)

// unixLine parses "-rw-r--r--   1 user group   531 Jan 29 03:26 README" and its variants.
// Between the permissions and the size there may be a number of links, a user,
// a group, flags of NetWare, or the word "folder" of NetPresenz. Therefore it searches
// for the date; the size is the field before it. left means that a year ends the date as AIX writes it,
// which has a space after it.
func unixLine(line string, now time.Time) (e Entry, left, ok bool) {
	fields := split(line)
	if len(fields) < 5 || !permissions(fields[0].text) {
		return Entry{}, false, false
	}
	for i := 2; i < len(fields)-1; i++ {
		d := dateAt(fields[i:], now)
		if d.fields == 0 {
			continue
		}
		e = Entry{Size: groupedSize(fields[i-1].text), ModTime: d.when}
		switch {
		case i == 2 && (e.Size < 0 || dateAt(fields[min(i+d.fields, len(fields)):], now).fields > 0):
			continue // a user named for a month, a group and a size
		case i > maxColumns && hasNumber(fields[3:i-1]) && fields[0].text[0] != 'b' && fields[0].text[0] != 'c':
			return Entry{}, false, false // one of them is the size, so that this date is a part of the name
		}
		// One space follows the date; the rest is the name.
		rest := line[fields[i+d.fields-1].end:]
		if d.pad && len(rest) > 1 && rest[1] == ' ' {
			rest = rest[1:]
		}
		if rest == "" {
			return Entry{}, false, false
		}
		name := rest[1:]
		if len(fields[0].text) == 1 { // NetWare pads with spaces
			name = strings.TrimLeft(name, " ")
		}
		e.setUnixName(line[0], name)
		return e, d.left, true
	}
	return Entry{}, false, false
}

// maxColumns is the number of fields that usually precede a date: the permissions, the number of
// links, the user, the group and the size. Names of users and groups may have spaces.
const maxColumns = 5

// hasNumber reports whether one of fields is a number.
func hasNumber(fields []field) bool {
	for _, f := range fields {
		if strings.Trim(f.text, "0123456789") == "" {
			return true
		}
	}
	return false
}

// permissions reports whether s is like "drwxr-xr-x", with an optional mark for an access
// control list or a letter less, or the single "d" or "-" of NetWare. Some servers write "-[RWCEMFA]"
// or, for files, "rw-rw-rw-".
func permissions(s string) bool {
	switch {
	case len(s) == 9 && s[0] == 'r':
		return strings.Trim(s, "-rwxsStT") == ""
	case strings.IndexByte("-dlLbcpsD", s[0]) < 0:
		return false
	case len(s) > 3 && s[1] == '[':
		return strings.Trim(s[2:], "-RWCEAFMS") == "]"
	}
	return len(s) == 1 || len(s) >= 9 && len(s) <= 12 && strings.Trim(s[1:], "-rwxsStTlL+.@") == ""
}

// setUnixName sets the type by the first character of the permissions, and the name without what ls
// adds: the slash of a directory, the target of a link.
func (e *Entry) setUnixName(kind byte, name string) {
	e.Name = name
	switch kind {
	case '-', 'r':
		e.Type = File
	case 'd':
		e.Type, e.Size = Dir, -1
		e.Name = strings.TrimSuffix(name, "/") // ls -F
	case 'l', 'L': // ftpserverlib
		e.Type, e.Size = Link, -1
		e.Name, e.Target, _ = strings.Cut(name, " -> ")
	default:
		e.Type, e.Size = Other, -1
	}
}
