package place

import (
	"strings"

	"github.com/fetch1738/fetch1738/locator"
)

// Menus are the menus from a server's first one to an item. It is a guess, because selectors need
// not be paths.
func Menus(l *locator.Gopher) []*locator.Gopher {
	root := locator.Gopher{HostPort: l.HostPort, Secure: l.Secure, Type: '1', HasPath: true}
	way := []*locator.Gopher{&root}
	selector := l.Selector
	if l.Type == '2' || l.Type == '8' || l.Type == 'T' || strings.HasPrefix(strings.TrimPrefix(selector, "/"), "URL:") || strings.HasPrefix(selector, "GET ") {
		return way // no path
	}
	// Some servers repeat the type before the path: "0/about.txt" is in "1/".
	begin := ""
	if len(selector) > 1 && selector[0] == l.Type && selector[1] == '/' {
		begin, selector = "1", selector[1:]
	}
	if strings.HasPrefix(selector, "/") {
		begin += "/"
	}
	parts := strings.Split(strings.Trim(selector, "/"), "/")
	for i, part := range parts {
		if part == "" {
			continue
		}
		at := root
		at.Selector = begin + strings.Join(parts[:i+1], "/")
		way = append(way, &at)
	}
	return way
}
