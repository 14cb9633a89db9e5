package testserver

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
)

// Listings: names (NLST), ls -l (LIST), facts (MLSD). The lines have no line ends here.

// lineFunc formats one line; prefix is what NLST puts before the name.
type lineFunc func(e entry, prefix string) string

// oneLine replaces characters that would break a line, as Unix servers do.
var oneLine = strings.NewReplacer("\r", "?", "\n", "?", "\x00", "?")

// listing lists a directory, or a file as its only line.
func (f *ftpSession) listing(arg string, line lineFunc) ([]string, error) {
	arg = f.withoutFlags(arg)
	name := f.name(arg)
	e, err := f.srv.tree.stat(name)
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
	entries, err := f.srv.tree.list(name)
	if err != nil {
		return nil, err
	}
	prefix := ""
	if arg != "" && !f.srv.BareNLST {
		prefix = strings.TrimSuffix(arg, "/") + "/"
	}
	lines := make([]string, len(entries))
	for i, e := range entries {
		e.Name = oneLine.Replace(e.Name)
		lines[i] = line(e, prefix)
	}
	return lines, nil
}

// fitting lists the names that match a pattern in the last part of arg, as servers do that run ls;
// clients send such patterns for mget. Hidden names require a pattern that begins with a dot.
func (f *ftpSession) fitting(arg string, line lineFunc) ([]string, error) {
	dir, pattern := path.Split(arg)
	entries, err := f.srv.tree.list(f.name(dir))
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name, ".") && !strings.HasPrefix(pattern, ".")
		if fits, err := path.Match(pattern, e.Name); err != nil || !fits || hidden {
			continue
		}
		e.Name = dir + oneLine.Replace(e.Name)
		lines = append(lines, line(e, ""))
	}
	if lines == nil {
		return nil, fs.ErrNotExist
	}
	return lines, nil
}

// withoutFlags removes ls flags, as in "-a dir", which some clients send to LIST. It keeps them if
// a file of that name exists.
func (f *ftpSession) withoutFlags(arg string) string {
	if !strings.HasPrefix(arg, "-") {
		return arg
	}
	if _, err := f.srv.tree.stat(f.name(arg)); err == nil {
		return arg
	}
	_, rest, _ := strings.Cut(arg, " ")
	return rest
}

func (f *ftpSession) nameLine(e entry, prefix string) string { return prefix + e.Name }

func (f *ftpSession) unixLine(e entry, _ string) string {
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
func (f *ftpSession) factsLine(e entry, _ string) string {
	modify := e.ModTime.UTC().Format(ftpTime)
	if e.Dir {
		return fmt.Sprintf("type=dir;modify=%s;perm=%s; %s", modify, f.perm("el", "cmpd"), e.Name)
	}
	return fmt.Sprintf("type=file;size=%d;modify=%s;perm=%s; %s", e.Size, modify, f.perm("r", "adfw"), e.Name)
}

func (f *ftpSession) perm(read, write string) string {
	if f.srv.ReadOnly {
		return read
	}
	return read + write
}
