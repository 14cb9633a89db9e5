package files

import (
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/urls/percent"
	"github.com/fetch1738/fetch1738/locator"
)

// A spot is a file or directory by the directory that has it and its name there.
type spot struct {
	dir   locator.Locator // of an ftp, file or http URL; it ends in a slash
	name  string          // "" for the root, or the login directory: dir itself
	slash bool            // the URL ends in a slash
}

// spotOf returns the spot of an ftp, file or http URL.
func spotOf(l locator.Locator) (spot, error) {
	switch l := l.(type) {
	case *locator.FTP:
		if l.Type != 0 {
			return spot{}, localerr.Errorf(localerr.BadURL, "remove ;type=%c from %s: it says how a file is transferred", l.Type, l.Redacted())
		}
		at := *l
		at.HasPath, at.Name = true, ""
		s := spot{&at, l.Name, l.Name == ""}
		if last := len(at.CWD) - 1; s.slash && last >= 0 {
			s.name, at.CWD = at.CWD[last], slices.Clip(at.CWD[:last])
		}
		if i := strings.LastIndexByte(s.name, '/'); i >= 0 { // the part of the URL was %2Fdir%2Fname
			at.CWD = append(slices.Clip(at.CWD), s.name[:max(1, i)])
			s.name = s.name[i+1:]
		}
		return s, s.check(l)
	case *locator.File:
		at := *l
		at.Segments = slices.DeleteFunc(slices.Clone(l.Segments), func(part string) bool { return part == "" })
		s := spot{dir: &at, slash: len(l.Segments) == 0 || l.Segments[len(l.Segments)-1] == ""}
		if last := len(at.Segments) - 1; last >= 0 {
			s.name, at.Segments = at.Segments[last], at.Segments[:last]
		}
		at.Segments = append(slices.Clip(at.Segments), "")
		return s, s.check(l)
	case *locator.HTTP:
		if l.HasSearch {
			return spot{}, localerr.Errorf(localerr.BadURL, "%s has a query; a directory of a web server has none", l.Redacted())
		}
		at := *asFolder(l)
		s := spot{dir: &at, slash: isFolder(l)}
		path := strings.TrimSuffix(at.Path, "/")
		i := strings.LastIndexByte(path, '/') + 1
		at.Path, s.name = path[:i], percent.Decode(path[i:])
		return s, s.check(l)
	}
	return spot{}, localerr.Errorf(localerr.Unsupported, "%s URLs have no directories", l.Scheme())
}

// check refuses a path whose end says nothing about the directory that has the file.
func (s spot) check(l locator.Locator) error {
	if s.name == "." || s.name == ".." {
		return localerr.Errorf(localerr.BadURL, "%s ends in %s; give the name of the file or directory", l.Redacted(), s.name)
	}
	return driver.CheckOctets(l)
}

// isRoot reports whether the spot is the root of the server, or the login directory.
func (s spot) isRoot() bool { return s.name == "" }

// as returns the URL of the spot as that of a file or a directory.
func (s spot) as(isDir bool) locator.Locator {
	if s.isRoot() {
		return s.dir
	}
	return child(s.dir, s.name, isDir)
}

// child returns the URL of a file or directory in dir, which ends in a slash.
func child(dir locator.Locator, name string, isDir bool) locator.Locator {
	if l, ok := dir.(*locator.HTTP); ok {
		at := *l
		at.HasPath, at.Path = true, l.Path+percent.Encode(name, isReserved)
		if isDir {
			at.Path += "/"
		}
		return &at
	}
	switch at := client.InDirectory(dir, name).(type) {
	case *locator.FTP:
		if isDir {
			at.CWD, at.Name = append(slices.Clip(at.CWD), name), ""
		}
		return at
	case *locator.File:
		if isDir {
			at.Segments = append(at.Segments, "")
		}
		return at
	}
	return dir
}

// isReserved reports whether a path of HTTP has an octet of a name encoded only.
func isReserved(c byte) bool {
	return c <= ' ' || c >= 0x7F || strings.IndexByte(`"#%/<>?[\]^`+"`{|}", c) >= 0
}
