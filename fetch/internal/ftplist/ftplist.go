// Package ftplist parses the listings that FTP servers send for LIST and MLSD. RFC 959 leaves
// the format of LIST to the server. These formats are supported:
//
//   - ls -l of Unix and its variants, including NetWare, NetPresenz and AIX
//   - DIR of MS-DOS and Windows
//   - EPLF, Easily Parsed LIST Format
//   - facts, as of MLSD (RFC 3659 §7.2)
//   - OpenVMS, also with an entry on two lines
//   - OS/400, except for files of libraries
//
// Months are known in common languages. If it is not certain which day a date is, such as 07/08/24,
// the time is not known.
//
// A listing is not trusted: a name is never empty, "." or "..", and never contains
// "/" or NUL, so that it names an entry of the listed directory. Some servers write the path of the
// directory before the names.
package ftplist

import (
	"strings"
	"time"
	"unicode/utf8"
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
// ones first, after those of MS-DOS and Unix, which depend on other lines: see parse.
var formats = []func(line string, now time.Time) (Entry, bool){eplf, facts, vms, as400}

// yearPadding says whether a space follows the years of a listing by ls, as that of AIX.
type yearPadding uint8

const (
	anyPadding yearPadding = iota // not known
	padded
	notPadded
)

// A Parser parses the lines of one listing.
type Parser struct {
	// Dirs are the paths of the listed directory that servers may write before its names, each with
	// a slash at the end. A name with another path is not understood.
	Dirs []string
	// Names means that a line is a name and nothing else, as in a listing by NLST.
	Names bool
	// Now is the current time. A date without a year is the latest such date that is not after it.
	Now time.Time

	begun  bool      // there was a line that is not empty
	first  bool      // the line that is parsed is the first of them
	name   string    // of OpenVMS, whose entry continues on the next line
	column int       // offset of the names in a listing of MS-DOS; 0 as long as that is not known
	order  dateOrder // of the dates in a listing of MS-DOS
	years  yearPadding
	open   []string // lines that depend on column, order or years
	parsed []Line
}

// maxOpen is the maximum number of lines that wait for one that shows where names begin, or which
// number of a date is the month.
const maxOpen = 1000

// A Line is a line of a listing, or the two lines of an entry of OpenVMS.
type Line struct {
	Text  string // without the line end
	Class Class
	Entry Entry // if Class is Entries; of the directory itself or the one above it only the name
}

// Class says what a line is.
type Class uint8

// The classes of lines.
const (
	Entries Class = iota // an entry
	Nothing              // no entry, such as "total 12", or an entry for the directory itself or the one above
	Unread               // not understood: it may be an entry
)

// Add parses the next line, with or without its line end. It returns the lines that are known now,
// which are valid until the next call: what a line is may depend on the lines after it.
func (p *Parser) Add(line string) []Line {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	p.parsed = p.parsed[:0]
	p.first = !p.begun && strings.TrimSpace(line) != ""
	p.begun = p.begun || p.first
	switch begun := p.name; {
	case begun != "" && strings.HasPrefix(line, " "):
		line = begun + " " + strings.TrimLeft(line, " ")
	case begun != "":
		p.add(begun)
	}
	p.name = ""
	if name := strings.TrimRight(line, " "); !p.Names && isVMSName(name) {
		p.name = name
	} else if !p.waits(line) {
		p.add(line)
	}
	return p.parsed
}

// End returns the lines that are known at the end of the listing.
func (p *Parser) End() []Line {
	p.parsed = p.parsed[:0]
	if p.years == anyPadding {
		p.years = padded
	}
	p.addOpen()
	if p.name != "" {
		p.add(p.name)
	}
	return p.parsed
}

// waits reports whether a line is to be parsed only when it is known where the names begin in this
// listing, and which number of its dates is the month.
func (p *Parser) waits(line string) bool {
	l, ok := dosOf(line)
	if !ok || p.Names {
		return false
	}
	offset, shows := l.name()
	order := l.day.order()
	if learns := shows && p.column == 0 || order != anyOrder && p.order == anyOrder; learns {
		if shows && p.column == 0 {
			p.column = offset
		}
		if p.order == anyOrder {
			p.order = order
		}
		open := p.open
		p.open = nil
		for _, line := range open {
			if !p.waits(line) {
				p.add(line)
			}
		}
	}
	if isOpen := l.isWide() && p.column == 0 || p.order == anyOrder && l.day.dependsOnOrder(); !isOpen || len(p.open) >= maxOpen {
		return false
	}
	p.open = append(p.open, line)
	return true
}

// addOpen parses the lines that wait.
func (p *Parser) addOpen() {
	open := p.open
	p.open = nil
	for _, line := range open {
		p.add(line)
	}
}

// add parses a line.
func (p *Parser) add(line string) {
	e, left, ok := p.parse(line)
	if left && p.pads(&e, line) {
		return
	}
	l := Line{Text: line, Class: Entries}
	e.Name = p.base(e.Name)
	switch {
	case !ok:
		l.Class = classOf(line, p.first)
	case e.Name == "." || e.Name == "..":
		l.Class, l.Entry.Name = Nothing, e.Name
	case !plain(e.Name):
		l.Class = Unread
	default:
		l.Entry = e
	}
	p.parsed = append(p.parsed, l)
}

// pads removes the space that may follow a year, if it does in this listing. It reports whether the
// line waits for another one that shows this: a name that does not begin with a space.
func (p *Parser) pads(e *Entry, line string) (waits bool) {
	switch spaced := strings.HasPrefix(e.Name, " "); {
	case p.years == anyPadding && spaced && len(p.open) < maxOpen:
		p.open = append(p.open, line)
		return true
	case p.years == anyPadding && spaced:
		p.years = padded
		p.addOpen()
	case p.years == anyPadding:
		p.years = notPadded
		p.addOpen()
	}
	if p.years == padded {
		e.Name = strings.TrimPrefix(e.Name, " ")
	}
	return false
}

// parse parses a line without a line end. The name is that of the line, with its path. left is that of
// unixLine.
func (p *Parser) parse(line string) (e Entry, left, ok bool) {
	if p.Names {
		return Entry{Name: line, Size: -1}, false, line != ""
	}
	if l, ok := dosOf(line); ok {
		e, ok = l.entry(p.column, p.order)
		return e, false, ok
	}
	if e, left, ok = unixLine(line, p.Now); ok {
		return e, left, true
	}
	for _, format := range formats {
		if e, ok := format(line, p.Now); ok {
			return e, false, true
		}
	}
	return Entry{}, false, false
}

// base returns a name without the path of the listed directory.
func (p *Parser) base(name string) string {
	for _, dir := range p.Dirs {
		if rest, ok := strings.CutPrefix(name, dir); ok && plain(rest) {
			return rest
		}
	}
	return name
}

// classOf returns the class of a line that has no supported format. first means that it is the first
// line. The lines that occur around entries are empty, or like these:
//
//	total 12                          (the first line in any language)
//	Directory USER1:[TEMP]
//	Total of 3 files, 68 blocks.
//	 Directory of C:\TEMP
//	       3 File(s)          5,012 bytes
func classOf(line string, first bool) Class {
	words := strings.Fields(strings.ToLower(line))
	isTotal := len(words) == 2 && strings.Trim(words[1], "0123456789.,kmgt") == ""
	if len(words) == 0 || isTotal && (words[0] == "total" || first && meansTotal(words[0])) {
		return Nothing
	}
	if len(words) > 3 && words[0] == "grand" {
		words = words[1:]
	}
	isNumber := func(word string) bool { return strings.Trim(word, "0123456789.,") == "" }
	switch first, last := words[0], words[len(words)-1]; {
	case first == "directory" && (len(words) == 2 && strings.HasSuffix(last, "]") || len(words) > 2 && words[1] == "of"),
		first == "total" && len(words) > 3 && words[1] == "of" && isNumber(words[2]),
		len(words) > 3 && isNumber(first) && (words[1] == "file(s)" || words[1] == "dir(s)"):
		return Nothing
	}
	return Unread
}

// totals are the words of ls in languages that write them in ASCII, each between spaces.
const totals = " total insgesamt totaal totale totalt celkem celkom spolu razem toplam ukupno skupaj kokku jumlah guztira sumo "

// meansTotal reports whether a word before a number is that of ls for the total. Another word is the
// name of a file of that size. Words beyond ASCII are not told apart.
func meansTotal(word string) bool {
	return strings.Contains(totals, " "+word+" ") || strings.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf })
}

// plain reports whether name is valid as the name of a directory entry, or is "." or "..".
func plain(name string) bool { return name != "" && !strings.ContainsAny(name, "/\x00\r\n") }
