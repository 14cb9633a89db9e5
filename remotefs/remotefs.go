// Package remotefs shows a directory of a server as an [fs.FS] ([New]), and walks the files below
// one ([Walk]). It uses a fetch1738.Resolver.
package remotefs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/internal/urls/idn"
	"github.com/fetch1738/fetch1738/locator"
)

// A FS is a directory of a server as a file system: see [New]. It implements [fs.FS],
// [fs.ReadDirFS], [fs.StatFS], [fs.ReadFileFS], [fs.SubFS] and [fs.ReadLinkFS].
//
// Its files are [io.Seeker]s; they are fetched when they are first read, and again where a Seek
// requires it. Its directories are [fs.ReadDirFile]s. [fs.FileInfo].Sys returns the *[fetch.Item].
//
// A gopher menu does not say how long a document is. Stat, Lstat and [fs.DirEntry].Info of one
// fetch the document to count its bytes; a walk that calls none of them does not.
//
// ReadDir requests one listing and nothing else. Its entries are [fs.FileInfo]s too, which have
// what the listing says. Open, Stat and Lstat request the listing of the directory that has the
// file, unless it was requested in the last seconds. ReadFile over ftp and file requests the file
// only.
//
// A name that package [fs] does not allow, because it is not UTF-8 or holds a slash, appears with
// these bytes as %XX.
//
// Errors are *[fs.PathError]s around *[fetch.Error]s, which match [fs.ErrNotExist] and
// [fs.ErrPermission] where the server says so.
//
// A FS is safe for concurrent use.
type FS struct {
	ctx context.Context
	*tree
}

// A tree is what is known of a directory, for all contexts.
type tree struct {
	r    *fetch1738.Resolver
	root place
	flat bool // paths do not follow from names, as in gopher

	mu       sync.Mutex
	listings []*listing        // the last ones, oldest first
	places   map[string]place  // of the directories of a flat tree that were listed, by path
	paths    map[string]string // of these, by their keys
	uniques  map[string]string // what an FTP server calls directories, by path
}

var _ interface {
	fs.ReadDirFS
	fs.StatFS
	fs.ReadFileFS
	fs.SubFS
	fs.ReadLinkFS
} = (*FS)(nil)

// A place is where a file or directory is.
type place struct {
	loc  locator.Locator
	from fetch.Provenance
}

const (
	// A program that goes through a tree asks for the same names several times in a row, and one
	// that runs for hours must see what changed.
	keepListing  = 10 * time.Second
	keepListings = 8
	deepest      = 100 // directories below the root
)

// New returns the directory at url as a file system whose files r fetches. If r is nil, it is a new
// Resolver with every default. ctx governs everything that is done with the file system and its
// files. Nothing is requested yet.
//
// The scheme is ftp, ftps, file, gopher, gophers or prospero, or one of a newsgroup, whose files
// are its articles by number. Other schemes, such as http, have no listings; they fail with the
// kind [fetch.ErrUnsupported].
//
// Over gopher and prospero a directory has the documents and menus of the same server. A menu that
// several menus lead to is in the one that was listed first, so that [fs.WalkDir] ends.
func New(ctx context.Context, r *fetch1738.Resolver, url string) (*FS, error) {
	if r == nil {
		r = new(fetch1738.Resolver)
	}
	req, err := r.Request(ctx, url)
	if err != nil {
		return nil, err
	}
	return newFS(ctx, r, place{req.Locator, req.From})
}

// newFS returns the file system of a directory. It refuses URLs that are not of one.
func newFS(ctx context.Context, r *fetch1738.Resolver, root place) (*FS, error) {
	refuse := func(why string) (*FS, error) {
		return nil, driver.Fail(fetch.OpList, root.loc, fetch.ErrUnsupported, errors.New(why))
	}
	var err error
	if root.loc, err = idn.Locator(root.loc); err != nil { // as in the Locators of items
		return nil, driver.Fail(fetch.OpList, root.loc, fetch.ErrBadURL, err)
	}
	flat := false
	switch l := root.loc.(type) {
	case *locator.FTP:
		if l.Type != 0 && l.Type != 'd' {
			return refuse(fmt.Sprintf("a directory has no ;type=%c", l.Type))
		}
		root.loc = below(l, "")
	case *locator.File:
		root.loc = below(l, "")
	case *locator.Gopher:
		if l.Type != '1' && l.Type != 0 || l.Search != "" || l.Plus != "" {
			return refuse("not a menu (type 1)")
		}
		flat = true
	case *locator.Prospero:
		flat = true
	case *locator.NNTP:
		if l.Group == "" || l.Article != "" {
			return refuse("not a newsgroup")
		}
	case *locator.News:
		if l.Group == "" {
			return refuse("not a newsgroup")
		}
	default:
		return refuse(l.Scheme() + " has no listings")
	}
	f := &FS{ctx: ctx, tree: &tree{r: r, root: root, flat: flat, uniques: make(map[string]string)}}
	if flat {
		f.places = make(map[string]place)
		f.paths = map[string]string{key(root.loc): "."}
	}
	return f, nil
}

// WithContext returns the same file system with another context, such as that of one HTTP request.
// They share the listings that are kept and the sessions.
func (f *FS) WithContext(ctx context.Context) *FS {
	return &FS{ctx: ctx, tree: f.tree}
}

// Request returns the request that fetches a file, for what package fs has no name for: a part of
// it by [Resolver.Fetch], its attributes, or its URL. Over ftp and file that requires no listing,
// and the file may not exist or may be a directory.
func (f *FS) Request(name string) (*fetch.Request, error) {
	at, err := f.file(name)
	if err != nil {
		return nil, pathError("request", name, err)
	}
	return &fetch.Request{Locator: at.loc, From: at.from}, nil
}

// Close closes the sessions that are kept for further requests. The file system can be used again.
func (f *FS) Close() error { return f.r.Close() }

// Open implements [fs.FS].
func (f *FS) Open(name string) (fs.File, error) {
	e, err := f.stat(name, true)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	if e.IsDir() {
		return &openDir{fsys: f, path: name, info: e}, nil
	}
	return e.open(f, name), nil
}

// Stat implements [fs.StatFS]. It follows symbolic links, which costs one or two requests more.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	e, err := f.stat(name, true)
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	return e.counts(f)
}

// Lstat implements [fs.ReadLinkFS].
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	e, err := f.stat(name, false)
	if err != nil {
		return nil, pathError("lstat", name, err)
	}
	return e.counts(f)
}

// ReadLink implements [fs.ReadLinkFS].
func (f *FS) ReadLink(name string) (string, error) {
	e, err := f.stat(name, false)
	if err == nil && e.mode.Type() != fs.ModeSymlink {
		err = fs.ErrInvalid
	}
	if err != nil {
		return "", pathError("readlink", name, err)
	}
	return e.link, nil
}

// ReadDir implements [fs.ReadDirFS]. With an error it returns the entries that came before.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	l, err := f.list(name)
	list := make([]fs.DirEntry, len(l.entries))
	for i := range l.entries {
		list[i] = l.entries[i]
	}
	if err != nil {
		return list, pathError("readdir", name, err)
	}
	return list, nil
}

// ReadFile implements [fs.ReadFileFS].
func (f *FS) ReadFile(name string) ([]byte, error) {
	b, err := f.readFile(name)
	if err != nil {
		return nil, pathError("read", name, err)
	}
	return b, nil
}

// readFile is ReadFile without the type of its errors.
func (f *FS) readFile(name string) ([]byte, error) {
	at, err := f.file(name)
	if err != nil {
		return nil, err
	}
	res, err := f.fetch(at, 0)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	if res.Kind != fetch.KindDocument {
		return nil, errIsDir
	}
	b := make([]byte, 0, min(max(res.Size, 0), 1<<20)+512)
	for {
		n, err := res.Body.Read(b[len(b):cap(b)])
		if b = b[:len(b)+n]; err == io.EOF {
			return b, nil
		} else if err != nil {
			return nil, err
		}
		if len(b) == cap(b) {
			b = slices.Grow(b, len(b))
		}
	}
}

// Sub implements [fs.SubFS].
func (f *FS) Sub(dir string) (fs.FS, error) {
	if dir == "." {
		return f, nil
	}
	at, err := f.locate(dir)
	if err == nil {
		var sub *FS
		if sub, err = newFS(f.ctx, f.r, at); err == nil {
			return sub, nil
		}
	}
	return nil, pathError("sub", dir, err)
}

var (
	errIsDir  = errors.New("is a directory")
	errNotDir = errors.New("not a directory")
	errDeep   = fmt.Errorf("more than %d directories below the root", deepest)
	errAgain  = errors.New("the document has changed on the server") // as in package download
)

// pathError returns err as an *fs.PathError, as package fs requires.
func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// fetch fetches a document from an offset on.
func (f *FS) fetch(at place, offset int64) (*fetch.Resource, error) {
	req := &fetch.Request{Locator: at.loc, From: at.from, Offset: offset}
	if _, ok := at.loc.(*locator.FTP); ok {
		req.Options = &ftp.Options{ModTime: true}
	}
	return f.r.Fetch(f.ctx, req)
}

// direct is where the file of a name is in a tree whose paths follow from names. It returns no
// place for other trees, and for names of which a part is written as %XX.
func (f *FS) direct(name string) (place, error) {
	switch {
	case !fs.ValidPath(name):
		return place{}, fs.ErrInvalid
	case name == ".":
		return place{}, errIsDir
	}
	switch l := f.root.loc.(type) {
	case *locator.FTP, *locator.File:
		if !strings.Contains(name, "%") {
			return place{below(l, strings.Split(name, "/")...), f.root.from}, nil
		}
	}
	return place{}, nil
}

// file is where the file of a name is.
func (f *FS) file(name string) (place, error) {
	at, err := f.direct(name)
	if err != nil || at.loc != nil {
		return at, err
	}
	e, err := f.stat(name, true)
	if err != nil {
		return place{}, err
	}
	if e.IsDir() {
		return place{}, errIsDir
	}
	return e.at, nil
}

// locate is where the directory of a name is.
func (f *FS) locate(name string) (place, error) {
	if name == "." {
		return f.root, nil
	}
	at, err := f.direct(name)
	switch {
	case err != nil:
		return place{}, err
	case strings.Count(name, "/") >= deepest:
		return place{}, errDeep
	case at.loc != nil:
		at.loc = below(at.loc, "")
		return at, nil
	}
	f.mu.Lock()
	at, ok := f.places[name]
	f.mu.Unlock()
	if ok {
		return at, nil
	}
	e, err := f.stat(name, true)
	if err != nil {
		return place{}, err
	}
	if !e.IsDir() {
		return place{}, errNotDir
	}
	return e.at, nil
}

// below is the locator of a path below the directory l; an empty component at its end makes it one
// of a directory.
func below(l locator.Locator, path ...string) locator.Locator {
	last := path[len(path)-1]
	switch l := l.(type) {
	case *locator.FTP:
		at := *l
		at.Type, at.HasPath = 0, true
		at.CWD = slices.Clip(at.CWD)
		if at.Name != "" {
			at.CWD = append(at.CWD, at.Name)
		}
		at.CWD, at.Name = append(at.CWD, path[:len(path)-1]...), last
		return &at
	case *locator.File:
		at := *l
		at.Segments = slices.Clip(at.Segments)
		if n := len(at.Segments); n > 0 && at.Segments[n-1] == "" {
			at.Segments = slices.Clip(at.Segments[:n-1])
		}
		at.Segments = append(at.Segments, path...)
		return &at
	}
	return l
}

// join is the path of a name in a directory.
func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// split is the directory and the last component of a name.
func split(name string) (dir, base string) {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return ".", name
}

// stat finds the entry of a name; follow looks behind a symbolic link.
func (f *FS) stat(name string, follow bool) (*entry, error) {
	switch {
	case !fs.ValidPath(name):
		return nil, fs.ErrInvalid
	case name == ".":
		return &entry{fsys: f, name: ".", mode: fs.ModeDir | 0o555, at: f.root, item: fetch.Item{Locator: f.root.loc, Kind: fetch.KindDirectory, Attributes: fetch.Attributes{Size: -1}}}, nil
	}
	dir, base := split(name)
	e := f.recent(dir).find(base)
	if e == nil {
		l, err := f.list(dir)
		if e = l.find(base); e == nil {
			return nil, cmp.Or(err, fs.ErrNotExist)
		}
	}
	if follow && e.mode.Type() == fs.ModeSymlink {
		return f.behind(e)
	}
	return e, nil
}

// behind is what a symbolic link leads to, which the server follows: a file that has attributes, or
// else a directory that can be listed.
func (f *FS) behind(link *entry) (*entry, error) {
	e := &entry{fsys: f, name: link.name, mode: 0o444, at: link.at, item: link.item}
	req := &fetch.Request{Locator: below(e.at.loc, ""), From: e.at.from}
	asFile := &fetch.Request{Locator: e.at.loc, From: e.at.from}
	if a, err := f.r.FindAttributes(f.ctx, asFile); err == nil && a.Size >= 0 {
		e.item.Attributes, e.item.Kind = *a, fetch.KindDocument
		return e, nil
	}
	res, err := f.r.Fetch(f.ctx, req)
	if err != nil {
		return nil, err
	}
	_ = res.Close()
	e.at.loc, e.mode, e.item.Kind = req.Locator, fs.ModeDir|0o555, fetch.KindDirectory
	return e, nil
}

// recent is the listing of a directory if it was requested in the last seconds, or nil.
func (f *FS) recent(dir string) *listing {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range slices.Backward(f.listings) {
		if l.path == dir && time.Since(l.at) < keepListing {
			return l
		}
	}
	return nil
}
