package ftptest

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Listings: names (NLST), ls -l (LIST), facts (MLSD). The lines have no line ends here.

// lineFunc formats one line; prefix is what NLST puts before the name.
type lineFunc func(e core.Entry, prefix string) string

// listing lists a directory, or a file as its only line.
func (f *session) listing(arg string, line lineFunc) ([]string, error) {
	arg = f.withoutFlags(arg)
	name := f.name(arg)
	e, err := f.tree.Stat(name)
	if err != nil && strings.ContainsAny(path.Base(arg), "*?[") {
		return f.fitting(arg, line)
	}
	if err != nil {
		return nil, err
	}
	if !e.Dir {
		e.Name = arg
		return []string{line(e, "")}, nil
	}
	if !f.may(testserver.List) {
		return nil, fs.ErrPermission
	}
	entries, err := f.tree.List(name)
	if err != nil {
		return nil, err
	}
	prefix := ""
	if arg != "" && !f.srv.BareNLST {
		prefix = strings.TrimSuffix(arg, "/") + "/"
	}
	lines := make([]string, len(entries))
	for i, e := range entries {
		e.Name = core.OneLine.Replace(e.Name)
		lines[i] = line(e, prefix)
	}
	return lines, nil
}

// fitting lists the names that match a pattern in the last part of arg, as servers do that run ls;
// clients send such patterns for mget. Hidden names require a pattern that begins with a dot.
func (f *session) fitting(arg string, line lineFunc) ([]string, error) {
	if !f.may(testserver.List) {
		return nil, fs.ErrPermission
	}
	dir, pattern := path.Split(arg)
	entries, err := f.tree.List(f.name(dir))
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name, ".") && !strings.HasPrefix(pattern, ".")
		if fits, err := path.Match(pattern, e.Name); err != nil || !fits || hidden {
			continue
		}
		e.Name = dir + core.OneLine.Replace(e.Name)
		lines = append(lines, line(e, ""))
	}
	if lines == nil {
		return nil, fs.ErrNotExist
	}
	return lines, nil
}

// withoutFlags removes ls flags, as in "-a dir", which some clients send to LIST. It keeps them if
// a file of that name exists.
func (f *session) withoutFlags(arg string) string {
	if !strings.HasPrefix(arg, "-") {
		return arg
	}
	if _, err := f.tree.Stat(f.name(arg)); err == nil {
		return arg
	}
	_, rest, _ := strings.Cut(arg, " ")
	return rest
}

func (f *session) nameLine(e core.Entry, prefix string) string { return prefix + e.Name }

func (f *session) unixLine(e core.Entry, _ string) string {
	mode, links := "-rw-r--r--", 1
	if e.Dir {
		mode, links = "drwxr-xr-x", 2
	}
	date := e.ModTime.UTC().Format("Jan _2  2006")
	if age := time.Since(e.ModTime); age >= 0 && age < 180*24*time.Hour {
		date = e.ModTime.UTC().Format("Jan _2 15:04")
	}
	return fmt.Sprintf("%s %4d ftp      ftp      %12d %s %s", mode, links, e.Size, date, e.Name)
}

// factsLine returns a line of MLSD (RFC 3659 §7.2).
func (f *session) factsLine(e core.Entry, _ string) string {
	modify := e.ModTime.UTC().Format(timeFormat)
	if e.Dir {
		return fmt.Sprintf("type=dir;modify=%s;perm=%s; %s", modify, f.perm("elcmpd"), e.Name)
	}
	return fmt.Sprintf("type=file;size=%d;modify=%s;perm=%s; %s", e.Size, modify, f.perm("radfw"), e.Name)
}

// perm returns the letters of the perm fact for which the user has the right (RFC 3659 §7.5.5).
func (f *session) perm(letters string) string {
	needs := map[rune]testserver.Rights{'r': testserver.Read, 'l': testserver.List, 'd': testserver.Delete, 'f': testserver.Delete, 'p': testserver.Delete,
		'a': testserver.Write, 'c': testserver.Write, 'm': testserver.Write, 'w': testserver.Write}
	return strings.Map(func(letter rune) rune {
		if !f.may(needs[letter]) {
			return -1
		}
		return letter
	}, letters)
}
