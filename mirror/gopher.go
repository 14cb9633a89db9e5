package mirror

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror/internal/selector"
)

// gopherTree is the tree of the menus and documents of one gopher server that are reachable from a
// menu. Gopher has no directories. The path of an item is its selector, because most servers use
// paths as selectors.
type gopherTree struct {
	at      *locator.Gopher
	aliases []locator.Locator // other names of the server, as locators of its root
	within  selector.Subtree  // what is copied of the server
}

func newGopherTree(l *locator.Gopher) *gopherTree { return &gopherTree{at: l} }

// alias adds other names of the server.
func (t *gopherTree) alias(servers []string) error {
	for _, name := range servers {
		ref, err := locator.Parser{}.Parse(t.at.Scheme() + "://" + name)
		at, ok := ref.Locator.(*locator.Gopher)
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

// widened returns the tree of this run and of earlier ones with other options, of which line is the
// start record. It returns nil if that is the tree itself.
func (t *gopherTree) widened(line ManifestLine) *gopherTree {
	wide := &gopherTree{at: t.at, within: t.within}
	if line.Parent {
		wide.within = nil
	}
	_ = wide.alias(line.Aliases) // the manifest may have been changed; what is no name has led to nothing
	known := func(a locator.Locator) bool {
		return slices.ContainsFunc(t.aliases, func(b locator.Locator) bool { return locator.SameServer(a, b) })
	}
	if len(wide.within) == len(t.within) && !slices.ContainsFunc(wide.aliases, func(a locator.Locator) bool { return !known(a) }) {
		return nil
	}
	wide.aliases = append(wide.aliases, t.aliases...)
	return wide
}

// has reports whether an item belongs to the tree. t may be nil.
func (t *gopherTree) has(item fetch.Item) bool {
	if t == nil {
		return false
	}
	item.Locator = t.canonical(item.Locator)
	_, err := t.place(item)
	return err == nil
}

// allAliases returns the aliases of the tree and those of line, in order.
func (t *gopherTree) allAliases(line ManifestLine) (all []string) {
	all = slices.Clone(line.Aliases)
	for _, l := range t.aliases {
		all = append(all, l.(*locator.Gopher).HostPort.String())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// canonical returns the locator of an item, with an alias replaced by the server.
func (t *gopherTree) canonical(l locator.Locator) locator.Locator {
	item, ok := l.(*locator.Gopher)
	if !ok {
		return l
	}
	own := *item
	own.Secure = t.at.Secure // a menu fetched over TLS gives TLS locators for its own host only
	if !slices.ContainsFunc(t.aliases, func(alias locator.Locator) bool { return locator.SameServer(&own, alias) }) {
		return l
	}
	own.HostPort = t.usual()
	return &own
}

// usual returns the server as items name it.
func (t *gopherTree) usual() locator.HostPort {
	at := t.at.HostPort
	if at.Port == locator.DefaultPort(t.at.Scheme()) {
		at.Port = 0
	}
	return at
}

func (t *gopherTree) start() folder { return folder{loc: t.at, path: selectorPath(t.at.Selector)} }

// menuFile is the file name of a menu in its directory. Gopher servers use the same name.
const menuFile = "gophermap"

func (t *gopherTree) place(item fetch.Item) (place, error) {
	l, ok := item.Locator.(*locator.Gopher)
	switch {
	case !ok || !locator.SameServer(l, t.at):
		return place{}, ErrServer
	case hasHeader(item, gopher.HeaderMirror):
		return place{}, ErrOutside
	case item.Kind == fetch.KindQuery || item.Kind == fetch.KindInteractive || isForm(item) || l.Search != "" || l.Plus != "":
		return place{}, errNoFile
	case !t.within.Has(l.Selector):
		return place{}, ErrOutside
	}
	at := place{path: selectorPath(l.Selector), dir: l.Type == '1'}
	if len(at.path) == 0 && !at.dir {
		at.path = []string{item.Name}
	}
	return at, nil
}

// key returns the type and the selector.
func (t *gopherTree) key(l locator.Locator, _ place) string {
	item := l.(*locator.Gopher)
	return string([]byte{item.Type}) + item.Selector
}

// find implements tree.
func (t *gopherTree) find(_ folder, key string, _ bool, _ string) (locator.Locator, []string) {
	l := &locator.Gopher{HostPort: t.usual(), Type: key[0], Selector: key[1:], HasPath: true, Secure: t.at.Secure}
	return l, selectorPath(l.Selector)
}

// selectorPath returns the components of a selector. Components such as ".." are made safe later,
// with all other names.
func selectorPath(selector string) []string {
	return slices.DeleteFunc(strings.Split(selector, "/"), func(s string) bool { return s == "" })
}

// isForm reports whether an item is a Gopher+ form.
func isForm(item fetch.Item) bool { return plusOf(item) == "?" }

// plusOf returns the Gopher+ tag of an item, or "".
func plusOf(item fetch.Item) string {
	for _, f := range item.Header {
		if f.Name == gopher.HeaderPlus {
			return f.Value
		}
	}
	return ""
}

// attributesOf returns the locator of the attributes of all items of a menu (RFC 1738 §3.4.9).
func (t *gopherTree) attributesOf(menu locator.Locator) locator.Locator {
	l, ok := menu.(*locator.Gopher)
	if !ok {
		return nil
	}
	all := *l
	all.Plus, all.Fields, all.Type, all.HasPath = "$", 2, '1', true
	return &all
}
