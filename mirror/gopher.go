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
	at      *locator.Gopher
	aliases []locator.Locator // roots of the same server by other names
}

func newGopherTree(l *locator.Gopher) *gopherTree { return &gopherTree{at: l} }

// alias gives the server other names.
func (t *gopherTree) alias(names []string) error {
	for _, name := range names {
		l, err := locator.Parse(t.at.Scheme() + "://" + name)
		at, ok := l.(*locator.Gopher)
		if err != nil || !ok || at.HasPath {
			return fmt.Errorf("alias %s: expected HOST or HOST:PORT", fetch.Printable(name))
		}
		if at.Port == 0 {
			at.Port = t.at.Port
		}
		t.aliases = append(t.aliases, at)
	}
	return nil
}

// own is the locator on this server that an item has on an alias of it.
func (t *gopherTree) own(l locator.Locator) locator.Locator {
	item, ok := l.(*locator.Gopher)
	if !ok {
		return l
	}
	own := *item
	own.Secure = t.at.Secure // of a menu under TLS only what is on the same host is so, too
	if !slices.ContainsFunc(t.aliases, func(alias locator.Locator) bool { return sameServer(&own, alias) }) {
		return l
	}
	own.HostPort = t.usual()
	return &own
}

// usual is the server as items name it.
func (t *gopherTree) usual() locator.HostPort {
	at := t.at.HostPort
	if at.Port == locator.DefaultPort(t.at.Scheme()) {
		at.Port = 0
	}
	return at
}

func (t *gopherTree) start() folder { return folder{loc: t.at, path: selectorPath(t.at.Selector)} }

// menuFile is what a menu is called in its directory, as servers do.
const menuFile = "gophermap"

func (t *gopherTree) place(item fetch.Item) (place, error) {
	l, ok := item.Locator.(*locator.Gopher)
	switch {
	case !ok || !sameServer(l, t.at):
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
	item := l.(*locator.Gopher)
	return string([]byte{item.Type}) + item.Selector
}

// find implements tree.
func (t *gopherTree) find(_ folder, key string, _ bool, _ string) (locator.Locator, []string) {
	l := &locator.Gopher{HostPort: t.usual(), Type: key[0], Selector: key[1:], HasPath: true, Secure: t.at.Secure}
	return l, selectorPath(l.Selector)
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
	l, ok := menu.(*locator.Gopher)
	if !ok {
		return nil
	}
	all := *l
	all.Plus, all.Fields, all.Type, all.HasPath = "$", 2, '1', true
	return &all
}
