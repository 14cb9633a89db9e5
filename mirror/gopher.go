package mirror

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/locator"
)

// gopherTree is the menus and documents of one gopher server that a menu leads
// to. Gopher has no directories: the place of an item is its selector, as most
// servers make these of paths.
type gopherTree struct {
	at     locator.Locator
	path   []string
	scheme string
	server locator.HostPort
	// aliases are other names of the server.
	aliases []locator.HostPort
}

func newGopherTree(l locator.Locator, item *locator.Gopher) *gopherTree {
	return &gopherTree{at: l, path: selectorPath(item.Selector), scheme: l.Scheme(), server: item.HostPort}
}

// alias gives the server other names.
func (t *gopherTree) alias(names []string) error {
	for _, name := range names {
		l, err := locator.Parse("gopher://" + name)
		at, ok := l.(*locator.Gopher)
		if err != nil || !ok || at.HasPath {
			return fmt.Errorf("alias %s: expected HOST or HOST:PORT", fetch.Printable(name))
		}
		if at.Port == 0 {
			at.Port = t.server.Port
		}
		t.aliases = append(t.aliases, at.HostPort)
	}
	return nil
}

// own is the locator on this server that an item has on an alias of it.
func (t *gopherTree) own(l locator.Locator) locator.Locator {
	item, ok := gopher.Item(l)
	if !ok || !slices.ContainsFunc(t.aliases, func(at locator.HostPort) bool { return sameServer(item.HostPort, at, "gopher") }) {
		return l
	}
	own := *item
	own.HostPort = t.usual()
	return t.secured(&own)
}

// usual is the server as items name it.
func (t *gopherTree) usual() locator.HostPort {
	at := t.server
	if at.Port == locator.DefaultPort("gopher") {
		at.Port = 0
	}
	return at
}

func (t *gopherTree) start() folder { return folder{loc: t.at, path: t.path} }

// menuFile is what a menu is called in its directory, as servers do.
const menuFile = "gophermap"

func (t *gopherTree) place(item fetch.Item) (place, error) {
	if item.Locator == nil || item.Locator.Scheme() != t.scheme {
		return place{}, ErrServer
	}
	l, ok := gopher.Item(item.Locator)
	switch {
	case !ok || !sameServer(l.HostPort, t.server, "gopher"):
		return place{}, ErrServer
	case has(item, gopher.HeaderMirror):
		return place{}, errElsewhere
	case item.Kind == fetch.KindQuery || item.Kind == fetch.KindInteractive || isForm(item) || l.Search != "" || l.Plus != "":
		return place{}, errNoFile
	}
	at := place{path: selectorPath(l.Selector), dir: l.Type == '1'}
	if len(at.path) == 0 && !at.dir {
		at.path = []string{item.Name}
	}
	return at, nil
}

// key implements tree: the type and the selector.
func (t *gopherTree) key(l locator.Locator, _ place) string {
	item, _ := gopher.Item(l)
	return string([]byte{item.Type}) + item.Selector
}

// find implements tree.
func (t *gopherTree) find(_ folder, key string, _ bool, _ string) (locator.Locator, []string) {
	l := &locator.Gopher{HostPort: t.usual(), Type: key[0], Selector: key[1:], HasPath: true}
	return t.secured(l), selectorPath(l.Selector)
}

// secured is l under the scheme of the tree.
func (t *gopherTree) secured(l *locator.Gopher) locator.Locator {
	if t.scheme == gopher.Secure {
		return &locator.Opaque{Name: gopher.Secure, Rest: strings.TrimPrefix(l.String(), "gopher:")}
	}
	return l
}

// selectorPath are the components of a selector. What would lead elsewhere is
// made harmless with the names.
func selectorPath(selector string) []string {
	return slices.DeleteFunc(strings.Split(selector, "/"), func(s string) bool { return s == "" })
}

// isForm tells whether an item is one that wants a form filled in.
func isForm(item fetch.Item) bool { return plusOf(item) == "?" }

func plusOf(item fetch.Item) string {
	for _, f := range item.Header {
		if f.Name == gopher.HeaderPlus {
			return f.Value
		}
	}
	return ""
}

// attributesOf is the request for the attributes of all items of a menu
// (RFC 1738 §3.4.9).
func (t *gopherTree) attributesOf(menu locator.Locator) locator.Locator {
	l, ok := gopher.Item(menu)
	if !ok {
		return nil
	}
	all := *l
	all.Plus, all.Fields, all.Type, all.HasPath = "$", 2, '1', true
	return t.secured(&all)
}
