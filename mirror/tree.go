package mirror

import (
	"errors"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror/internal/loop"
)

// A tree maps the resources of one scheme to paths.
type tree interface {
	// start returns the folder of the start URL.
	start() folder
	// place returns the place of an item of a listing in the copy. If the item is not mirrored, the
	// error is the reason.
	place(item fetch.Item) (place, error)
	// key returns a short text that identifies an entry in its folder. find returns the locator and
	// the path of the entry again. An entry for which find returns something else is not packed.
	key(l locator.Locator, p place) string
	find(in folder, key string, dir bool, id string) (locator.Locator, []string)
}

// A folder is a directory or menu of the tree.
type folder struct {
	loc    locator.Locator
	from   fetch.Provenance
	path   []string
	chain  []string     // the ids of the folder and of those above it, as far as they are known
	listed *loop.Listed // of the folder if it has been listed, or else of the one above it
}

// A place is the place of an entry in the copy.
type place struct {
	path []string // components below the start, with the names of the server
	dir  bool     // a directory or menu
	id   string   // identifies the document or folder; another document at the same path has another one
}

// ErrServer is the reason of a Skipped event for an item that is on another server or has another
// scheme.
var ErrServer = errors.New("on another server or of another scheme")

// ErrOutside is the reason of a Skipped event for an item that is not below the start URL, although it
// is on the same server.
var ErrOutside = errors.New("not below the start URL")

// ErrCut is the reason of a Skipped event for a directory whose listing ends without a line end.
// Files may be missing in it, so nothing in it counts as gone.
var ErrCut = errors.New("the last line of the listing is cut; nothing in this directory is deleted")

// ErrNames is the reason of a Skipped event for a directory of which the server lists only names
// (NLST). Directories may be missing, or be listed as files, so nothing below it counts as gone.
var ErrNames = errors.New("the server lists names only; nothing in this directory is deleted")

// Reasons of Skipped events.
var (
	errPart    = errors.New("the command for listings may list a part only; nothing in this directory is deleted")
	errLink    = errors.New("symbolic link")
	errSpecial = errors.New("not a regular file or directory")
	errNoFile  = errors.New("not a document (search, form or session)")
)

// reasons lists them. A packed item holds the index of its reason.
var reasons = [...]error{errLink, errSpecial, ErrOutside, ErrServer, errNoFile}

// reasonOf returns the index of err in reasons, or -1.
func reasonOf(err error) int64 { return int64(slices.Index(reasons[:], err)) }

// below returns the place of path p, which must be below start. The last component of a directory
// is empty.
func below(start, p []string, item fetch.Item) (place, error) {
	if len(p) <= len(start) || !slices.Equal(p[:len(start)], start) {
		return place{}, ErrOutside
	}
	at := place{path: p[len(start):]}
	if at.dir = item.Kind == fetch.KindDirectory; at.dir {
		at.path = slices.DeleteFunc(slices.Clone(at.path), func(s string) bool { return s == "" })
	}
	switch {
	case hasHeader(item, fetch.HeaderLink):
		return at, errLink
	case hasHeader(item, fetch.HeaderSpecial):
		return at, errSpecial
	case len(at.path) == 0 || slices.ContainsFunc(at.path, dotted):
		return at, ErrOutside
	}
	return at, nil
}

// dotted reports whether a component is empty, "." or "..".
func dotted(s string) bool { return s == "" || s == "." || s == ".." }

func hasHeader(item fetch.Item, name string) bool {
	_, ok := header(item, name)
	return ok
}

// header returns the value of a header, and whether the item has it.
func header(item fetch.Item, name string) (string, bool) {
	for _, f := range item.Header {
		if f.Name == name {
			return f.Value, true
		}
	}
	return "", false
}

// join returns a new path of p and name.
func join(p []string, name string) []string { return append(p[:len(p):len(p)], name) }

// keyOf returns the key of a path on the server in maps. No name in a listing has NUL.
func keyOf(p []string) string { return strings.Join(p, "\x00") }
