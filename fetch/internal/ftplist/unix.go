package ftplist

import (
	"strings"
	"time"
)

// unix parses "-rw-r--r--   1 user group   531 Jan 29 03:26 README" and its variants.
// Between the permissions and the size there may be a number of links, a user,
// a group, flags of NetWare, or the word "folder" of NetPresenz. Therefore unix searches
// for the date; the size is the field before it.
func unix(line string, now time.Time) (Entry, bool) {
	fields := split(line)
	if len(fields) < 5 || !permissions(fields[0].text) {
		return Entry{}, false
	}
	for i := 2; i < len(fields)-1; i++ {
		when, used := date(fields[i:], now)
		if used == 0 {
			continue
		}
		e := Entry{Size: size(fields[i-1].text), ModTime: when}
		if e.Size < 0 && i < 3 {
			continue
		}
		// One space follows the date; the rest is the name.
		rest := line[fields[i+used-1].end:]
		if rest == "" {
			return Entry{}, false
		}
		name := rest[1:]
		if len(fields[0].text) == 1 { // NetWare pads with spaces
			name = strings.TrimLeft(name, " ")
		}
		e.setUnixName(line[0], name)
		return e, true
	}
	return Entry{}, false
}

// permissions reports whether s is like "drwxr-xr-x", with an optional mark for an access
// control list, or the single "d" or "-" of NetWare.
func permissions(s string) bool {
	if strings.IndexByte("-dlLbcpsD", s[0]) < 0 {
		return false
	}
	return len(s) == 1 || len(s) >= 10 && len(s) <= 12 && strings.Trim(s[1:], "-rwxsStTlL+.@") == ""
}

// setUnixName sets the type by the first character of the permissions, and the name without what ls
// adds: the slash of a directory, the target of a link.
func (e *Entry) setUnixName(kind byte, name string) {
	e.Name = name
	switch kind {
	case '-':
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

// date parses "Jan 29 03:26", "Jan 29 03:26:07 1997", "Jan 29 1997", "29 Jan 1997" or
// "1997-01-29 03:26 [+0100]" and returns the number of fields used; 0 if there is no date.
func date(fields []field, now time.Time) (time.Time, int) {
	if len(fields) > 2 && fields[0].text[0] >= '0' && fields[0].text[0] <= '9' {
		if _, ok := month(fields[1].text); ok {
			fields = []field{fields[1], fields[0], fields[2]}
		}
	}
	if len(fields) < 2 {
		return time.Time{}, 0
	}
	if day, err := time.Parse(time.DateOnly, fields[0].text); err == nil {
		at, ok := clock(fields[1].text)
		if !ok {
			return time.Time{}, 0
		}
		if len(fields) > 2 {
			if zone, err := time.Parse("-0700", fields[2].text); err == nil {
				_, offset := zone.Zone()
				return day.Add(at - time.Duration(offset)*time.Second), 3
			}
		}
		return day.Add(at), 2
	}
	m, ok := month(fields[0].text)
	if !ok || len(fields) < 3 {
		return time.Time{}, 0
	}
	day, ok := number(fields[1].text, 1, 31)
	if !ok {
		return time.Time{}, 0
	}
	if at, ok := clock(fields[2].text); ok {
		if len(fields) > 4 && strings.Count(fields[2].text, ":") == 2 { // ls -lT of BSD
			if year, ok := number(fields[3].text, 1900, 9999); ok {
				return time.Date(year, m, day, 0, 0, 0, 0, time.UTC).Add(at), 4
			}
		}
		return recent(m, day, at, now), 3
	}
	if year, ok := number(fields[2].text, 1900, 9999); ok {
		return time.Date(year, m, day, 0, 0, 0, 0, time.UTC), 3
	}
	return time.Time{}, 0
}
