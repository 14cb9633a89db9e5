package mirror

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/internal/urls/idn"
	"github.com/fetch1738/fetch1738/locator"
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

// treeOf returns the tree whose start URL is l.
func treeOf(l locator.Locator) (tree, error) {
	refuse := func(format string, args ...any) error {
		return driver.Fail(fetch.OpMirror, l, fetch.ErrUnsupported, fmt.Errorf(format, args...))
	}
	l, _ = idn.Locator(l) // as in the URLs of items
	switch l := l.(type) {
	case *locator.FTP:
		if l.Type != 0 && l.Type != 'd' {
			return nil, refuse("only a directory can be mirrored: remove ;type=%c", l.Type)
		}
		return newFTPTree(*l), nil
	case *locator.Gopher:
		if l.Type != '1' && l.Type != 0 || l.Search != "" || l.Plus != "" {
			return nil, refuse("only a menu (item type 1) can be mirrored")
		}
		return newGopherTree(l), nil
	case *locator.File:
		at := *l
		if n := len(at.Segments); n == 0 || at.Segments[n-1] != "" {
			at.Segments = append(slices.Clip(l.Segments), "")
		}
		return &fileTree{&at}, nil
	case *locator.NNTP:
		if l.Article != "" {
			return nil, refuse("only a newsgroup can be mirrored, not a single article")
		}
		return &newsTree{l}, nil
	case *locator.News:
		if l.Group == "" {
			return nil, refuse("give the name of a newsgroup, as in news:comp.lang.go")
		}
		return &newsTree{l}, nil
	}
	return nil, refuse("only ftp, gopher, file, news and nntp URLs can be mirrored (also over TLS)")
}

// ftpTree is the tree below a directory of an FTP server.
type ftpTree struct{ at *locator.FTP }

// newFTPTree returns the tree of the directory at, also if at has no slash at its end.
func newFTPTree(at locator.FTP) *ftpTree {
	at.Type, at.HasPath = 0, true
	if at.Name != "" {
		at.CWD, at.Name = append(slices.Clip(at.CWD), at.Name), ""
	}
	return &ftpTree{&at}
}

func (t *ftpTree) start() folder { return folder{loc: t.at} }

func (t *ftpTree) place(item fetch.Item) (place, error) {
	l, ok := item.Locator.(*locator.FTP)
	if !ok || !locator.SameServer(l, t.at) {
		return place{}, ErrServer
	}
	p := append(slices.Clip(l.CWD), l.Name)
	at, err := below(t.at.CWD, p, item)
	if at.dir {
		at.id, _ = value(item, ftp.HeaderUnique)
	}
	return at, err
}

// key returns the last component.
func (t *ftpTree) key(l locator.Locator, _ place) string {
	path := l.(*locator.FTP)
	if path.Name == "" && len(path.CWD) > 0 {
		return path.CWD[len(path.CWD)-1]
	}
	return path.Name
}

// find implements tree.
func (t *ftpTree) find(in folder, key string, dir bool, _ string) (locator.Locator, []string) {
	l := *in.loc.(*locator.FTP)
	if dir {
		l.CWD = join(l.CWD, key)
	} else {
		l.Name = key
	}
	return &l, join(in.path, key)
}

// fileTree is the tree below a local directory.
type fileTree struct{ at *locator.File }

func (t *fileTree) start() folder { return folder{loc: t.at} }

func (t *fileTree) place(item fetch.Item) (place, error) {
	l, ok := item.Locator.(*locator.File)
	if !ok || l.Host != t.at.Host {
		return place{}, ErrServer
	}
	return below(t.at.Segments[:len(t.at.Segments)-1], l.Segments, item)
}

// key returns the last component.
func (t *fileTree) key(l locator.Locator, _ place) string {
	s := l.(*locator.File).Segments
	if n := len(s); n > 1 && s[n-1] == "" {
		s = s[:n-1]
	}
	return s[len(s)-1]
}

// find implements tree.
func (t *fileTree) find(in folder, key string, dir bool, _ string) (locator.Locator, []string) {
	l := *in.loc.(*locator.File)
	if n := len(l.Segments); n > 0 && l.Segments[n-1] == "" {
		l.Segments = l.Segments[:n-1]
	}
	l.Segments = join(l.Segments, key)
	if dir {
		l.Segments = append(l.Segments, "")
	}
	return &l, join(in.path, key)
}

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
	case has(item, fetch.HeaderLink):
		return at, errLink
	case has(item, fetch.HeaderSpecial):
		return at, errSpecial
	case len(at.path) == 0 || slices.ContainsFunc(at.path, dotted):
		return at, ErrOutside
	}
	return at, nil
}

// dotted reports whether a component is empty, "." or "..".
func dotted(s string) bool { return s == "" || s == "." || s == ".." }

func has(item fetch.Item, header string) bool {
	_, ok := value(item, header)
	return ok
}

// value returns the value of a header, and whether the item has it.
func value(item fetch.Item, header string) (string, bool) {
	for _, f := range item.Header {
		if f.Name == header {
			return f.Value, true
		}
	}
	return "", false
}

// newsTree is the tree of the articles of a group. Their names are their numbers.
type newsTree struct{ at locator.Locator }

func (t *newsTree) start() folder { return folder{loc: t.at} }

func (t *newsTree) place(item fetch.Item) (place, error) {
	if item.Locator == nil || dotted(item.Name) || strings.Trim(item.Name, "0123456789") != "" {
		return place{}, ErrOutside
	}
	at := place{path: []string{item.Name}}
	id, _ := value(item, "Message-ID")
	at.id = strings.ToValidUTF8(id, "\uFFFD") // the form in which the manifest has it
	return at, nil
}

// key returns the number of the article.
func (t *newsTree) key(_ locator.Locator, p place) string { return p.path[0] }

// find implements tree.
func (t *newsTree) find(_ folder, key string, _ bool, id string) (locator.Locator, []string) {
	path := []string{key}
	switch l := t.at.(type) {
	case *locator.NNTP:
		at := *l
		at.Article = key
		return &at, path
	case *locator.News:
		at := *l
		at.Group, at.MessageID = "", strings.TrimSuffix(strings.TrimPrefix(id, "<"), ">")
		return &at, path
	}
	return nil, path
}
