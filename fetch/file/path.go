package file

import (
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// systemPath is the path that a locator designates on this machine. Its
// segments are taken as they are: "." and ".." mean what they mean to the
// system, and an empty segment is none, as in any path.
func systemPath(l *locator.File) (string, error) {
	if !thisMachine(l.Host) {
		return "", &fetch.Error{Kind: fetch.BadURL, Section: "3.10",
			Err: errors.New("the file is on the host " + l.Host + ", not on this machine; leave the host empty or write localhost")}
	}
	segments := l.Segments
	if n := len(segments); n > 1 && segments[n-1] == "" {
		segments = segments[:n-1] // that the last slash wants a directory is checked elsewhere
	}
	path := "/" + strings.Join(segments, "/")
	if runtime.GOOS != "windows" {
		return path, nil
	}
	if slices.ContainsFunc(l.Segments, func(s string) bool { return strings.ContainsAny(s, `\`) }) {
		return "", &fetch.Error{Kind: fetch.BadURL, Section: "3.10", Err: errors.New(`"\" in a component of the path`)}
	}
	// "/C:/dir" is "C:\dir" there; "//server/share" would be another machine's.
	return filepath.FromSlash(strings.TrimLeft(path, "/")), nil
}

// thisMachine reports whether host is "the machine from which the URL is being
// interpreted" (§3.10). 127.0.0.1 is what some programs write for localhost.
func thisMachine(host string) bool {
	return host == "" || host == "127.0.0.1" || strings.EqualFold(host, "localhost")
}
