package browse

import (
	"strings"

	"github.com/fetch1738/fetch1738/internal/text/hypertext"
	"github.com/fetch1738/fetch1738/locator"
)

// above returns the directory, menu, newsgroup or database that l is in, as far as its URL tells, or
// nil at the top of a server.
func above(l locator.Locator) locator.Locator {
	switch l := l.(type) {
	case *locator.FTP, *locator.File, *locator.HTTP:
		ref := ".."
		path, _, _ := strings.Cut(l.String(), "?")
		switch {
		case strings.Count(path, "/") == 2: // of "http://host"
			return nil
		case !strings.HasSuffix(path, "/"):
			ref = "."
		}
		if up, err := hypertext.Resolve(l, ref); err == nil && !locator.Equal(up, l) {
			return up
		}
	case *locator.Gopher:
		return menuAbove(l)
	case *locator.NNTP:
		switch {
		case l.Article != "":
			return &locator.NNTP{HostPort: l.HostPort, Secure: l.Secure, Group: l.Group}
		case l.Group != "":
			return &locator.NNTP{HostPort: l.HostPort, Secure: l.Secure}
		}
	case *locator.News:
		if !l.All {
			return &locator.News{All: true, HostPort: l.HostPort, Secure: l.Secure}
		}
	case *locator.WAIS:
		switch {
		case l.Form != locator.WAISDatabase:
			return &locator.WAIS{HostPort: l.HostPort, Database: l.Database}
		case l.Database != "":
			return &locator.WAIS{HostPort: l.HostPort}
		}
	case *locator.Prospero:
		name := strings.TrimRight(l.HSOName, "/")
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			return &locator.Prospero{HostPort: l.HostPort, HSOName: name[:max(i, 1)]}
		}
	}
	return nil
}

// menuAbove returns the menu of an item, which is a guess: a selector need not be a path. Some servers
// repeat the type before it: "0/pub/about.txt" is in "1/pub".
func menuAbove(l *locator.Gopher) locator.Locator {
	up := &locator.Gopher{HostPort: l.HostPort, Secure: l.Secure, Type: '1', HasPath: true}
	path := l.Selector
	if before, _, ok := l.SearchWords(); ok {
		path = before
	}
	path = strings.TrimRight(path, "/")
	begin := ""
	if len(path) > 1 && path[0] == l.Type && path[1] == '/' {
		begin, path = "1", path[1:]
	}
	if path == "" && (l.Type == '1' || l.Type == 0) {
		return nil
	}
	if i := strings.LastIndexByte(path, '/'); i > 0 && !strings.Contains(path, "URL:") {
		up.Selector = begin + path[:i]
	}
	return up
}
