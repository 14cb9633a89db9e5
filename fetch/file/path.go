package file

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// systemPath returns the local path of a locator. Its segments are not changed: "." and ".." have
// the meaning that they have to the system, which also ignores empty segments.
func systemPath(l *locator.File) (string, error) {
	if !isLocalHost(l.Host) {
		return "", &fetch.Error{Kind: fetch.ErrBadURL, Section: "3.10",
			Err: fmt.Errorf("the file is on the host %s, not on this computer; leave the host empty or use localhost", l.Host)}
	}
	segments := l.Segments
	if n := len(segments); n > 1 && segments[n-1] == "" {
		segments = segments[:n-1] // checkKind checks that a path with a trailing slash is a directory
	}
	if runtime.GOOS == "windows" {
		return windowsPath(segments)
	}
	return "/" + strings.Join(segments, "/"), nil
}

// windowsPath returns the path on a system with drives. The first segment must be "C:" or "C|". An
// empty first segment would make it a path on another host.
func windowsPath(segments []string) (string, error) {
	fail := func(text string) (string, error) {
		return "", &fetch.Error{Kind: fetch.ErrBadURL, Section: "3.10", Err: errors.New(text)}
	}
	if len(segments) == 0 || len(segments[0]) != 2 || !isLetter(segments[0][0]) || segments[0][1] != ':' && segments[0][1] != '|' {
		return fail("the path must begin with a drive, as in file:///C:/")
	}
	for _, s := range segments[1:] {
		if strings.ContainsAny(s, `\:`) {
			return fail(`a component of the path contains "\" or ":"`)
		}
	}
	return segments[0][:1] + `:\` + strings.Join(segments[1:], `\`), nil
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// isLocalHost reports whether host is "the machine from which the URL is being
// interpreted" (§3.10). Some programs write 127.0.0.1 for localhost.
func isLocalHost(host string) bool {
	return host == "" || host == "127.0.0.1" || strings.EqualFold(host, "localhost")
}
