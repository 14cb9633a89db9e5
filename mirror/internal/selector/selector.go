// Package selector reads selectors of gopher servers as paths.
package selector

import (
	"path"
	"slices"
	"strings"
)

// A Subtree is the part of a gopher site that is below a menu. The protocol has no hierarchy, but
// most servers use paths as selectors. The zero value is the whole site.
type Subtree [][]string // the components of the menu's path, in one or two ways to read its selector

// Below returns the subtree of the menu with a selector.
func Below(selector string) Subtree {
	var s Subtree
	for _, p := range readings(selector) {
		if last := len(p) - 1; last >= 0 && isMenuFile(p[last]) {
			p = p[:last]
		}
		if len(p) == 0 {
			return nil
		}
		s = append(s, p)
	}
	return s
}

// Has reports whether a selector is that of the menu, or below it.
func (s Subtree) Has(selector string) bool {
	return s == nil || slices.ContainsFunc(readings(selector), func(p []string) bool {
		return slices.ContainsFunc(s, func(start []string) bool { return len(p) >= len(start) && slices.Equal(p[:len(start)], start) })
	})
}

// readings returns the paths that a selector may stand for, without what a server generates from one
// document: "?words" of a script, "|/MBOX/1" of pygopherd. The second one is that without the item
// type, which the selectors of gopherd and GN begin with ("0/pub/file", not "/pub/file"). There is
// none for a selector that leads above the root.
func readings(selector string) (all [][]string) {
	if end := strings.IndexAny(selector, "?|"); end >= 0 {
		selector = selector[:end]
	}
	p, ok := components(selector)
	if !ok {
		return nil
	}
	all = append(all, p)
	if len(selector) > 1 && selector[0] != '/' && selector[1] == '/' {
		if p, ok = components(selector[2:]); ok {
			all = append(all, p)
		}
	}
	return all
}

// components returns the components of a path, with "." and ".." resolved.
func components(selector string) (p []string, ok bool) {
	for part := range strings.SplitSeq(selector, "/") {
		switch part {
		case "", ".":
		case "..":
			if len(p) == 0 {
				return nil, false
			}
			p = p[:len(p)-1]
		default:
			p = append(p, part)
		}
	}
	return p, true
}

// isMenuFile reports whether the last component of a menu's selector is the file that has the menu, as
// in "/phlog/index.gph" of geomyidae, so that what is beside it is below the menu.
func isMenuFile(name string) bool {
	switch path.Ext(name) {
	case ".gph", ".dcgi", ".cgi", ".gophermap":
		return true
	}
	return name == "gophermap"
}
