package file

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// systemPath is the path that a locator designates on this machine. Its
// segments are taken as they are: "." and ".." mean what they mean to the
// system, and an empty segment is none, as in any path.
func systemPath(l *locator.File) (string, error) {
	if !thisMachine(l.Host) {
		return "", &fetch.Error{Kind: fetch.ErrBadURL, Section: "3.10",
			Err: fmt.Errorf("the file is on the host %s, not on this machine; leave the host empty or write localhost", l.Host)}
	}
	segments := l.Segments
	if n := len(segments); n > 1 && segments[n-1] == "" {
		segments = segments[:n-1] // that the last slash wants a directory is checked elsewhere
	}
	if runtime.GOOS == "windows" {
		return windowsPath(segments)
	}
	return "/" + strings.Join(segments, "/"), nil
}

// windowsPath is the path on a system with drives: "C:" or "C|" is the first
// segment. An empty one there would begin the name of another machine.
func windowsPath(segments []string) (string, error) {
	fail := func(text string) (string, error) {
		return "", &fetch.Error{Kind: fetch.ErrBadURL, Section: "3.10", Err: errors.New(text)}
	}
	if len(segments) == 0 || len(segments[0]) != 2 || !isLetter(segments[0][0]) || segments[0][1] != ':' && segments[0][1] != '|' {
		return fail("the path does not begin with a drive, as in file:///C:/")
	}
	for _, s := range segments[1:] {
		if strings.ContainsAny(s, `\:`) {
			return fail(`"\" or ":" in a component of the path`)
		}
	}
	return segments[0][:1] + `:\` + strings.Join(segments[1:], `\`), nil
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// thisMachine reports whether host is "the machine from which the URL is being
// interpreted" (§3.10). 127.0.0.1 is what some programs write for localhost.
func thisMachine(host string) bool {
	return host == "" || host == "127.0.0.1" || strings.EqualFold(host, "localhost")
}
