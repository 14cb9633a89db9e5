package ftptest

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// Listings: names (NLST), ls -l (LIST), facts (MLSD). The lines have no line ends here.

// doLIST is also NLST and MLSD. Lines end in CR LF, whatever the type.
func doLIST(f *session, arg string) error {
	command := f.now.verb
	f.parameters.takeRest()
	if octets, err := f.files.listingOctets(command, arg); err != nil {
		return f.fail(err)
	} else if octets != nil {
		defer octets.Close()
		return f.transfer(listingReply, func(d *dataConn) error { return d.send(octets) })
	}
	lines, err := f.files.listing(command, arg)
	if err != nil {
		failure := f.now.failure(err)
		if _, lists := f.srv.Replies[command+" 226 "+f.now.about]; !lists {
			return f.reply(failure)
		}
	}
	f.now.lines = lines
	var text bytes.Buffer
	for _, l := range lines {
		text.WriteString(f.codePage.encode(l) + "\r\n")
	}
	return f.transfer(listingReply, func(d *dataConn) error { return d.send(&text) })
}

const listingReply = "150 Here comes the directory listing."

func doMLSD(f *session, arg string) error {
	switch e, err := f.files.stat(arg); {
	case err != nil: // MLSD accepts no patterns
		return f.fail(err)
	case !e.Dir:
		return f.reply("501 Not a directory.")
	}
	return doLIST(f, arg)
}

// listingOctets returns the octets that the program has for the listing of a directory, or nil.
func (t *files) listingOctets(command, arg string) (io.ReadCloser, error) {
	if t.srv.ListingOctets == nil {
		return nil, nil
	}
	name := t.name(t.withoutFlags(arg))
	if e, err := t.Stat(name); err != nil || !e.Dir {
		return nil, nil
	}
	return t.srv.ListingOctets(command, name)
}

// listing lists a directory, or a file as its only line.
func (t *files) listing(command, arg string) ([]string, error) {
	flagged := arg
	arg = t.withoutFlags(arg)
	flags := strings.TrimSuffix(flagged, arg)
	name := t.name(arg)
	e, err := t.Stat(name)
	if err != nil && strings.ContainsAny(path.Base(arg), "*?[") {
		return t.listMatching(command, arg)
	}
	if err != nil {
		return nil, err
	}
	if !e.Dir {
		e.Name = arg
		return t.format(command, "", flags, e, []tree.Entry{e}), nil
	}
	if !t.may(testserver.List) {
		return nil, fs.ErrPermission
	}
	if lines, ok := first(t.srv.Listings, []string{command + " /" + name, command}); ok {
		return lines, nil
	}
	entries, err := t.List(name)
	if err != nil {
		return nil, err
	}
	if command == "NLST" && t.srv.BareNLST {
		arg = ""
	}
	return t.format(command, arg, flags, e, entries), nil
}

// format formats what the command lists.
func (t *files) format(command, dir, flags string, self tree.Entry, entries []tree.Entry) []string {
	l := Listing{Command: command, Dir: dir, All: strings.Contains(flags, "a"), Self: self.Info(), perm: t.perm}
	l.unique = func(name string) string {
		if dir != "" {
			name = dir + "/" + name
		}
		h := fnv.New32a()
		_, _ = io.WriteString(h, t.name(name))
		return fmt.Sprintf("%x", h.Sum32())
	}
	local := t.srv.ListOffset != nil && (command == "LIST" || command == "STAT")
	for _, e := range entries {
		e.Name = core.OneLine.Replace(e.Name)
		if local {
			e.ModTime = e.ModTime.Add(t.srv.ListOffset())
		}
		l.Entries = append(l.Entries, e.Info())
	}
	format := Listing.Usual
	if t.srv.Listing != nil {
		format = t.srv.Listing
	}
	if command == "MLST" || command == "MLSD" {
		return t.facts.only(format(l))
	}
	return format(l)
}

// listMatching lists the names that match a pattern in the last part of arg, as servers do that run
// ls; clients send such patterns for mget. Hidden names require a pattern that begins with a dot.
func (t *files) listMatching(command, arg string) ([]string, error) {
	if !t.may(testserver.List) {
		return nil, fs.ErrPermission
	}
	dir, pattern := path.Split(arg)
	entries, err := t.List(t.name(dir))
	if err != nil {
		return nil, err
	}
	var fits []tree.Entry
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name, ".") && !strings.HasPrefix(pattern, ".")
		if is, err := path.Match(pattern, e.Name); err != nil || !is || hidden {
			continue
		}
		e.Name = dir + e.Name
		fits = append(fits, e)
	}
	if fits == nil {
		return nil, fs.ErrNotExist
	}
	return t.format(command, "", "", tree.Entry{}, fits), nil
}

// withoutFlags removes ls flags, as in "-a dir", which some clients send to LIST. It keeps them if
// a file of that name exists.
func (t *files) withoutFlags(arg string) string {
	if !strings.HasPrefix(arg, "-") {
		return arg
	}
	if _, err := t.stat(arg); err == nil {
		return arg
	}
	_, rest, _ := strings.Cut(arg, " ")
	return rest
}

// perm returns the letters of the perm fact for which the user has the right (RFC 3659 §7.5.5).
func (t *files) perm(letters string) string {
	needs := map[rune]testserver.Rights{'r': testserver.Read, 'l': testserver.List, 'd': testserver.Delete, 'f': testserver.Delete, 'p': testserver.Delete,
		'a': testserver.Write, 'c': testserver.Write, 'm': testserver.Write, 'w': testserver.Write}
	return strings.Map(func(letter rune) rune {
		right, known := needs[letter]
		if known && !t.may(right) {
			return -1
		}
		return letter
	}, letters)
}

// Listing is what a command lists.
type Listing struct {
	// Command is LIST, NLST, MLSD, MLST or STAT.
	Command string
	// Dir is the argument if it is a directory; "" means the working directory, or no directory.
	Dir string
	// All means that the command has the option -a: some servers list names that begin with a dot only
	// then.
	All bool
	// Self is the directory, or the file.
	Self fs.FileInfo
	// Entries are what the directory has, sorted by name, or Self alone. Their modes are 0755 and
	// 0644.
	Entries []fs.FileInfo

	perm   func(letters string) string // those for which the user has the right
	unique func(name string) string    // the fact unique of an entry, or of "." or ".."
}

// Usual formats a listing as servers without a function Listing do: ls -l, names, or facts.
func (l Listing) Usual() []string {
	return l.lines("%s %4d ftp      ftp      %12d %s %s", "Jan _2", func(e fs.FileInfo, modify string) string {
		if e.IsDir() {
			return fmt.Sprintf("type=dir;modify=%s;perm=%s;", modify, l.perm("elcmpd"))
		}
		return fmt.Sprintf("type=file;size=%d;modify=%s;perm=%s;", e.Size(), modify, l.perm("radfw"))
	})
}

// lines formats a listing: names, facts, or lines of ls -l by a format for the mode, the number of
// links, the size, the date and the name. Day is the layout of the first part of a date.
func (l Listing) lines(format, day string, facts func(e fs.FileInfo, modify string) string) []string {
	lines := make([]string, len(l.Entries))
	for i, e := range l.Entries {
		switch l.Command {
		case "NLST":
			lines[i] = l.prefix() + e.Name()
		case "MLSD", "MLST":
			lines[i] = facts(e, e.ModTime().UTC().Format(timeFormat)) + " " + e.Name()
		default:
			links := 1
			if e.IsDir() {
				links = 2
			}
			lines[i] = fmt.Sprintf(format, e.Mode(), links, e.Size(), date(e.ModTime(), day), e.Name())
		}
	}
	return lines
}

// likeLS returns the listing of a directory without the names that begin with a dot, or if All is
// set, with "." and "..", as ls lists it.
func (l Listing) likeLS() Listing {
	if !l.Self.IsDir() {
		return l
	}
	above := []fs.FileInfo{named{l.Self, "."}, named{l.Self, ".."}}
	if l.All {
		l.Entries = append(above, l.Entries...)
		return l
	}
	l.Entries = slices.DeleteFunc(slices.Clone(l.Entries), func(e fs.FileInfo) bool { return strings.HasPrefix(e.Name(), ".") })
	return l
}

// A named is a file or directory under another name.
type named struct {
	fs.FileInfo
	name string
}

func (n named) Name() string { return n.name }

// prefix is what precedes the names in a listing of a directory that is the argument.
func (l Listing) prefix() string {
	if l.Dir == "" {
		return ""
	}
	return strings.TrimSuffix(l.Dir, "/") + "/"
}

// files formats what LIST and STAT list: each file or directory by itself.
func (l Listing) files(line func(fs.FileInfo) string) []string {
	if l.Command != "LIST" && l.Command != "STAT" {
		return l.Usual()
	}
	lines := make([]string, len(l.Entries))
	for i, e := range l.Entries {
		lines[i] = line(e)
	}
	return lines
}

// date formats a time as ls does: with the year if it is long ago.
func date(t time.Time, day string) string {
	if age := time.Since(t); age >= 0 && age < 180*24*time.Hour {
		return t.UTC().Format(day + " 15:04")
	}
	return t.UTC().Format(day + "  2006")
}

// DOSListing is a Listing in the style of MS-DOS, which IIS has: the date as month, day and year, and
// <DIR> in place of the size of a directory.
func DOSListing(l Listing) []string {
	return l.files(func(e fs.FileInfo) string {
		size := fmt.Sprintf("%21d", e.Size())
		if e.IsDir() {
			size = "       <DIR>         "
		}
		return e.ModTime().UTC().Format("01-02-06  03:04PM") + size + " " + e.Name()
	})
}

// EPLFListing is a Listing in the Easily Parsed LIST Format (https://cr.yp.to/ftp/list/eplf.html):
// facts that end in commas, a TAB, and the name.
func EPLFListing(l Listing) []string {
	return l.files(func(e fs.FileInfo) string {
		kind := fmt.Sprintf("r,s%d,", e.Size())
		if e.IsDir() {
			kind = "/,"
		}
		return fmt.Sprintf("+%sm%d,\t%s", kind, e.ModTime().Unix(), e.Name())
	})
}

// pureListing is the Listing of Pure-FTPd.
func pureListing(l Listing) []string {
	facts := func(name, typ, modify, size string, mode fs.FileMode) string {
		return fmt.Sprintf("type=%s;%s;modify=%s;UNIX.mode=%04o;UNIX.uid=65534;UNIX.gid=65534;unique=fe01g%s;", typ, size, modify, mode.Perm(), l.unique(name))
	}
	lines := l.lines("%s %4d ftp        ftp        %10d %s %s", "Jan _2", func(e fs.FileInfo, modify string) string {
		if e.IsDir() {
			return facts(e.Name(), "dir", modify, "sizd=4096", e.Mode())
		}
		return facts(e.Name(), "file", modify, fmt.Sprintf("size=%d", e.Size()), e.Mode())
	})
	modify := l.Self.ModTime().UTC().Format(timeFormat)
	switch {
	case l.Command == "MLST":
		lines[0] = strings.Replace(lines[0], "; /", "; ", 1)
	case l.Command == "MLSD":
		lines = append(lines, facts(".", "cdir", modify, "sizd=4096", 0o755)+" .", facts("..", "pdir", modify, "sizd=4096", 0o755)+" ..")
	case l.Command == "NLST" && l.Self.IsDir():
		lines = append(lines, l.prefix()+".", l.prefix()+"..")
	}
	return lines
}

// lsListing is what ls -l prints: the columns are as wide as their contents.
func lsListing(l Listing) []string {
	var widest int64
	for _, e := range l.Entries {
		widest = max(widest, onDisk(e))
	}
	width := len(strconv.FormatInt(widest, 10))
	return withTotal(l, l.lines("%s %2d ftp  ftp  %"+strconv.Itoa(width)+"d %s %s", "Jan _2", nil))
}

// withTotal adds the line with which ls begins: the number of KiB on the disk.
func withTotal(l Listing, lines []string) []string {
	if l.Command != "LIST" || !l.Self.IsDir() {
		return lines
	}
	var total int64
	for _, e := range l.Entries {
		total += (onDisk(e) + 4095) / 4096 * 4
	}
	return append([]string{fmt.Sprint("total ", total)}, lines...)
}

// onDisk returns the size of a file, or that which a directory usually has.
func onDisk(e fs.FileInfo) int64 {
	if e.IsDir() {
		return 4096
	}
	return e.Size()
}

// narrow is a listing with one link for each file.
func narrow(l Listing, day string) []string {
	lines := l.lines("%s %d ftp ftp %12d %s %s", day, func(e fs.FileInfo, modify string) string {
		return fmt.Sprintf("Type=%s;Size=%d;Modify=%s;", typeOf(e), onDisk(e), modify)
	})
	for i, line := range lines {
		if strings.HasPrefix(line, "d") && l.Command == "LIST" {
			lines[i] = strings.Replace(line, " 2 ", " 1 ", 1)
		}
	}
	return lines
}

// typeOf returns the value of the fact type.
func typeOf(e fs.FileInfo) string {
	if e.IsDir() {
		return "dir"
	}
	return "file"
}
