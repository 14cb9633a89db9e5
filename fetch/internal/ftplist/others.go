package ftplist

import (
	"strconv"
	"strings"
	"time"
)

// eplf parses "+i8388621.48594,m825718503,r,s280,\tdjb.html"
// (https://cr.yp.to/ftp/list/eplf.html).
func eplf(line string, _ time.Time) (Entry, bool) {
	said, name, ok := strings.Cut(line, "\t")
	if !ok || !strings.HasPrefix(said, "+") {
		return Entry{}, false
	}
	e := Entry{Name: name, Size: -1, Type: Other}
	for fact := range strings.SplitSeq(said[1:], ",") {
		switch {
		case fact == "/":
			e.Type = Dir
		case fact == "r" && e.Type != Dir:
			e.Type = File
		case strings.HasPrefix(fact, "s"):
			e.Size = size(fact[1:])
		case strings.HasPrefix(fact, "m"):
			if n, err := strconv.ParseInt(fact[1:], 10, 40); err == nil {
				e.ModTime = time.Unix(n, 0).UTC()
			}
		}
	}
	return e, true
}

// facts parses "type=file;size=280;modify=19960301123000; name" (RFC 3659 §7.2).
// The current and the parent directory are not entries.
func facts(line string, _ time.Time) (Entry, bool) {
	list, name, ok := strings.Cut(line, " ")
	if ok && list != "" && !strings.HasSuffix(list, ";") { // a value has a space, such as that of UNIX.groupname
		list, name, ok = strings.Cut(line, "; ")
		list += ";"
	}
	if !ok || !strings.HasSuffix(list, ";") {
		return Entry{}, false
	}
	e := Entry{Name: name, Size: -1, Type: Other}
	for fact := range strings.SplitSeq(strings.TrimSuffix(list, ";"), ";") {
		key, value, ok := strings.Cut(fact, "=")
		if !ok {
			return Entry{}, false
		}
		key = strings.ToLower(key)
		if strings.Contains(value, " ") && (key == "size" || key == "modify" || key == "type" && !strings.Contains(value, ":")) {
			return Entry{}, false // the name begins there: it has a semicolon, and the facts do not end with one
		}
		switch key {
		case "size":
			e.Size = size(value)
		case "modify":
			e.ModTime = stamp(value)
		case "type":
			e.setFactType(value)
		case "perm":
			e.Perm = value
		case "unique":
			e.Unique = value
		}
	}
	return e, true
}

// setFactType sets the type, and the target of a link, from the fact type (RFC 3659 §7.5.1).
func (e *Entry) setFactType(value string) {
	kind, target, _ := strings.Cut(value, ":")
	switch strings.ToLower(kind) {
	case "file":
		e.Type = File
	case "dir":
		e.Type = Dir
	case "cdir", "pdir":
		e.Name = "."
	case "os.unix=slink", "os.unix=symlink":
		e.Type, e.Target = Link, target
	}
}

// dirWidth is the number of characters that IIS and MS-DOS write for "<DIR>" and the spaces after it.
const dirWidth = 15

// A dosLine is a line of DIR with the offsets of its word after the clock, and of what follows that
// and spaces.
type dosLine struct {
	text       string
	day        numericDate
	clock      time.Duration
	word       string // "<DIR>" or a size, for example
	at, behind int
}

// dosOf parses the begin of "04-27-00  09:09PM       <DIR>          licensed" and
// "07-18-00  10:16 AM             5,012 readme.txt".
func dosOf(line string) (l dosLine, ok bool) {
	if line == "" || line[0] < '0' || line[0] > '9' {
		return l, false
	}
	fields := split(line)
	if len(fields) < 4 {
		return l, false
	}
	day, ok := numericDateOf(fields[0].text)
	half := strings.ToUpper(fields[2].text)
	if isHalf := half == "AM" || half == "PM"; isHalf && len(fields) > 4 {
		fields = append(fields[:2], fields[3:]...)
	} else {
		half = ""
	}
	clock, isClock := dosClock(fields[1].text + half)
	word := fields[2]
	return dosLine{line, day, clock, word.text, word.end - len(word.text), fields[3].end - len(fields[3].text)}, ok && isClock
}

// isSpecial reports whether the line is that of a directory or link.
func (l dosLine) isSpecial() bool { return l.word[0] == '<' }

// isWide reports whether more spaces precede the name of a directory or link than IIS and MS-DOS
// write. They belong to the name, or to another server's padding.
func (l dosLine) isWide() bool { return l.isSpecial() && l.behind-l.at > dirWidth }

// name returns the offset of the name, and whether it shows where names begin in this listing.
func (l dosLine) name() (offset int, shows bool) {
	if !l.isSpecial() {
		return l.at + len(l.word) + 1, true
	}
	return l.behind, l.behind-l.at == dirWidth
}

// entry returns the entry. column is the offset of the names in this listing, and order that of its
// dates, if they are known.
func (l dosLine) entry(column int, order dateOrder) (Entry, bool) {
	offset, _ := l.name()
	switch {
	case !l.isWide():
	case column == 0:
		offset = l.at + dirWidth
	case column > l.at+len(l.word) && column < offset:
		offset = column
	}
	e := Entry{Name: l.text[offset:], Size: -1}
	if day := l.day.in(order); !day.IsZero() {
		e.ModTime = day.Add(l.clock)
	}
	switch l.word {
	case "<DIR>":
		e.Type = Dir
	case "<JUNCTION>", "<SYMLINK>", "<SYMLINKD>":
		e.Type = Link
		if name, target, ok := strings.Cut(e.Name, " ["); ok && strings.HasSuffix(target, "]") {
			e.Name, e.Target = name, strings.TrimSuffix(target, "]")
		}
	default:
		e.Size = max(groupedSize(l.word), size(strings.ReplaceAll(l.word, ",", ""))) // 12,34,567 in India
		return e, e.Size >= 0
	}
	return e, true
}

// dosClock parses "09:09PM", or a time of 24 hours.
func dosClock(s string) (time.Duration, bool) {
	if at, err := time.Parse("3:04PM", strings.ToUpper(s)); err == nil {
		return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, true
	}
	return clock(s)
}

// as400 parses "QSYS   1234 02/23/00 15:09:55 *STMF      a.txt" of OS/400. The type has ten columns
// and a space. Files of libraries and their members are not supported: a name may be a directory.
func as400(line string, _ time.Time) (Entry, bool) {
	fields := split(line)
	if len(fields) < 6 || !strings.HasPrefix(fields[4].text, "*") {
		return Entry{}, false
	}
	day, isDay := numericDateOf(fields[2].text)
	at, isClock := clock(fields[3].text)
	e := Entry{Size: size(fields[1].text)}
	if !isDay || !isClock || e.Size < 0 {
		return Entry{}, false
	}
	if when := day.certain(); !when.IsZero() {
		e.ModTime = when.Add(at)
	}
	start := fields[4].end - len(fields[4].text) + len("*STMF      ")
	e.Name = line[min(start, fields[5].end-len(fields[5].text)):]
	switch fields[4].text {
	case "*STMF", "*DSTMF", "*DOC":
		return e, true
	case "*DIR", "*DDIR", "*FLR", "*LIB":
		e.Type, e.Size, e.Name = Dir, -1, strings.TrimSuffix(e.Name, "/")
		return e, true
	}
	return Entry{}, false
}

// vms parses "README.TXT;1   2 30-DEC-1996 17:44 [SYSTEM] (RWED,RWED,RE,RE)". The
// size is in blocks of unknown length, so it is not used. A directory is a file of type DIR.
func vms(line string, _ time.Time) (Entry, bool) {
	if line == "" || line[0] == ' ' || !strings.Contains(line, ";") {
		return Entry{}, false
	}
	fields := split(line)
	if len(fields) < 4 {
		return Entry{}, false
	}
	if !isVMSName(fields[0].text) {
		return Entry{}, false
	}
	name, _, _ := strings.Cut(fields[0].text, ";")
	day, err := time.Parse("2-Jan-2006", titleMonth(fields[2].text))
	at, ok := clock(fields[3].text)
	if err != nil || !ok {
		return Entry{}, false
	}
	if i := strings.LastIndexByte(name, ']'); i >= 0 { // DISK:[DIRECTORY]NAME
		name = name[:i+1] + "/" + name[i+1:]
	}
	e := Entry{Name: name, Size: -1, ModTime: day.Add(at)}
	if dir, ok := strings.CutSuffix(name, ".DIR"); ok {
		e.Name, e.Type = dir, Dir
	}
	return e, true
}

// isVMSName reports whether s is like "README.TXT;1". A line with nothing but a long name is followed
// by the rest of the entry.
func isVMSName(s string) bool {
	name, version, _ := strings.Cut(s, ";")
	_, ok := number(version, 1, 32767)
	return ok && name != "" && !strings.Contains(name, " ")
}

// titleMonth converts "30-DEC-1996" to "30-Dec-1996".
func titleMonth(s string) string {
	day, rest, ok := strings.Cut(s, "-")
	if !ok || len(rest) < 3 {
		return s
	}
	return day + "-" + rest[:1] + strings.ToLower(rest[1:])
}
