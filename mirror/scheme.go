package mirror

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/internal/urls/idn"
	"github.com/fetch1738/fetch1738/locator"
)

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
		if l.Group == "" {
			return nil, refuse("give the name of a newsgroup, as in nntp://%s/comp.lang.go", l.Host)
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
		at.id, _ = header(item, ftp.HeaderUnique)
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

// newsTree is the tree of the articles of a group. Their names are their numbers.
type newsTree struct{ at locator.Locator }

func (t *newsTree) start() folder { return folder{loc: t.at} }

func (t *newsTree) place(item fetch.Item) (place, error) {
	if item.Locator == nil || dotted(item.Name) || strings.Trim(item.Name, "0123456789") != "" {
		return place{}, ErrOutside
	}
	at := place{path: []string{item.Name}}
	id, _ := header(item, "Message-ID")
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

// canonicalIn returns the locator of an item, with the host in ASCII. In a gopher tree an alias is
// replaced by the server.
func canonicalIn(t tree, l locator.Locator) locator.Locator {
	l, _ = idn.Locator(l)
	if t, ok := t.(*gopherTree); ok {
		return t.canonical(l)
	}
	return l
}

// folderOf returns the path on the server of the folder whose listing has the file of a URL, and the
// name of the file in it. If the URL is not one of the tree, it reports false.
func folderOf(t tree, url string) (dir []string, name string, ok bool) {
	if _, flat := t.(*newsTree); flat {
		return nil, "", true
	}
	ref, err := locator.Parser{}.Parse(url)
	if err != nil {
		return nil, "", false
	}
	at, err := t.place(fetch.Item{Locator: ref.Locator})
	switch {
	case err != nil:
		return nil, "", false
	case at.dir: // a menu is listed in its own folder
		return at.path, "", true
	}
	last := len(at.path) - 1
	return at.path[:last], at.path[last], true
}
