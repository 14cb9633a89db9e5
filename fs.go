package fetch1738

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
)

// A FileSystem is a directory of a server as a file system: see [FS]. It implements [fs.FS],
// [fs.ReadDirFS], [fs.StatFS], [fs.ReadFileFS], [fs.SubFS] and [fs.ReadLinkFS].
//
// Its files are [io.Seeker]s; they are fetched when they are first read, and again where a Seek
// requires it. Its directories are [fs.ReadDirFile]s. [fs.FileInfo].Sys returns the *[fetch.Item].
//
// A gopher menu does not say how long a document is. Stat, Lstat and [fs.DirEntry].Info of one
// fetch the document to count its bytes; a walk that calls none of them does not.
//
// ReadDir requests one listing and nothing else. Its entries are [fs.FileInfo]s too, which have what
// the listing says. Open, Stat and Lstat request the listing of the directory that has the file,
// unless it was requested in the last seconds. ReadFile over ftp and file requests the file only.
//
// A name that package [fs] does not allow, because it is not UTF-8 or holds a slash, appears with
// these bytes as %XX.
//
// Errors are *[fs.PathError]s around *[fetch.Error]s, which match [fs.ErrNotExist] and
// [fs.ErrPermission] where the server says so.
//
// A FileSystem is safe for concurrent use.
type FileSystem struct {
	ctx context.Context
	*tree
}

// A tree is what is known of a directory, for all contexts.
type tree struct {
	r    *Resolver
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
} = (*FileSystem)(nil)

// A place is where a file or directory is.
type place struct {
	loc  locator.Locator
	from fetch.Provenance
}

const (
	keepListing  = 10 * time.Second // for names that are found in it
	keepListings = 8
	deepest      = 100 // directories below the root
)

// FS returns the directory at url as a file system whose files r fetches. If r is nil, it is a new
// Resolver with every default. ctx governs everything that is done with the file system and its
// files. Nothing is requested yet.
//
// The scheme is ftp, ftps, file, gopher, gophers or prospero, or one of a newsgroup, whose files
// are its articles by number. Other schemes, such as http, have no listings; they fail with the
// kind [fetch.ErrUnsupported].
//
// Over gopher and prospero a directory has the documents and menus of the same server. A menu that
// several menus lead to is in the one that was listed first, so that [fs.WalkDir] ends.
func FS(ctx context.Context, r *Resolver, url string) (*FileSystem, error) {
	if r == nil {
		r = new(Resolver)
	}
	req, err := r.Request(ctx, url)
	if err != nil {
		return nil, err
	}
	return newFS(ctx, r, place{req.Locator, req.From})
}

func newFS(ctx context.Context, r *Resolver, root place) (*FileSystem, error) {
	refuse := func(why string) (*FileSystem, error) {
		return nil, fetch.Fail(fetch.OpList, root.loc, fetch.ErrUnsupported, errors.New(why))
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
		if l.Article != "" {
			return refuse("not a newsgroup")
		}
	case *locator.News:
		if l.Group == "" {
			return refuse("not a newsgroup")
		}
	default:
		return refuse(l.Scheme() + " has no listings")
	}
	f := &FileSystem{ctx: ctx, tree: &tree{r: r, root: root, flat: flat, uniques: make(map[string]string)}}
	if flat {
		f.places = make(map[string]place)
		f.paths = map[string]string{key(root.loc): "."}
	}
	return f, nil
}

// WithContext returns the same file system with another context, such as that of one HTTP request.
// They share the listings that are kept and the sessions.
func (f *FileSystem) WithContext(ctx context.Context) *FileSystem {
	return &FileSystem{ctx: ctx, tree: f.tree}
}

// Request returns the request that fetches a file, for what package fs has no name for: a part of
// it by [Resolver.Fetch], its attributes, or its URL. Over ftp and file that requires no listing,
// and the file may not exist or may be a directory.
func (f *FileSystem) Request(name string) (*fetch.Request, error) {
	at, err := f.file(name)
	if err != nil {
		return nil, failed("request", name, err)
	}
	return &fetch.Request{Locator: at.loc, From: at.from}, nil
}

// Close closes the sessions that are kept for further requests. The file system can be used again.
func (f *FileSystem) Close() error { return f.r.Close() }

// Open implements [fs.FS].
func (f *FileSystem) Open(name string) (fs.File, error) {
	e, err := f.stat(name, true)
	if err != nil {
		return nil, failed("open", name, err)
	}
	if e.IsDir() {
		return &openDir{fsys: f, path: name, info: e}, nil
	}
	return e.open(f, name), nil
}

// Stat implements [fs.StatFS]. It follows symbolic links, which costs one or two requests more.
func (f *FileSystem) Stat(name string) (fs.FileInfo, error) {
	e, err := f.stat(name, true)
	if err != nil {
		return nil, failed("stat", name, err)
	}
	return e.counts(f)
}

// Lstat implements [fs.ReadLinkFS].
func (f *FileSystem) Lstat(name string) (fs.FileInfo, error) {
	e, err := f.stat(name, false)
	if err != nil {
		return nil, failed("lstat", name, err)
	}
	return e.counts(f)
}

// ReadLink implements [fs.ReadLinkFS].
func (f *FileSystem) ReadLink(name string) (string, error) {
	e, err := f.stat(name, false)
	if err == nil && e.mode.Type() != fs.ModeSymlink {
		err = fs.ErrInvalid
	}
	if err != nil {
		return "", failed("readlink", name, err)
	}
	return e.link, nil
}

// ReadDir implements [fs.ReadDirFS]. With an error it returns the entries that came before.
func (f *FileSystem) ReadDir(name string) ([]fs.DirEntry, error) {
	l, err := f.list(name)
	list := make([]fs.DirEntry, len(l.entries))
	for i := range l.entries {
		list[i] = l.entries[i]
	}
	if err != nil {
		return list, failed("readdir", name, err)
	}
	return list, nil
}

// ReadFile implements [fs.ReadFileFS].
func (f *FileSystem) ReadFile(name string) ([]byte, error) {
	b, err := f.readFile(name)
	if err != nil {
		return nil, failed("read", name, err)
	}
	return b, nil
}

func (f *FileSystem) readFile(name string) ([]byte, error) {
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
func (f *FileSystem) Sub(dir string) (fs.FS, error) {
	if dir == "." {
		return f, nil
	}
	at, err := f.locate(dir)
	if err == nil {
		var sub *FileSystem
		if sub, err = newFS(f.ctx, f.r, at); err == nil {
			return sub, nil
		}
	}
	return nil, failed("sub", dir, err)
}

var (
	errIsDir  = errors.New("is a directory")
	errNotDir = errors.New("not a directory")
	errDeep   = fmt.Errorf("more than %d directories below the root", deepest)
	errAgain  = errors.New("the document has changed on the server")
)

func failed(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// fetch fetches a document from an offset on.
func (f *FileSystem) fetch(at place, offset int64) (*fetch.Resource, error) {
	req := &fetch.Request{Locator: at.loc, From: at.from, Offset: offset}
	if _, ok := at.loc.(*locator.FTP); ok {
		req.Options = &ftp.Options{ModTime: true}
	}
	return f.r.Fetch(f.ctx, req)
}

// direct is where the file of a name is in a tree whose paths follow from names. It returns no
// place for other trees, and for names of which a part is written as %XX.
func (f *FileSystem) direct(name string) (place, error) {
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
func (f *FileSystem) file(name string) (place, error) {
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
func (f *FileSystem) locate(name string) (place, error) {
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
func (f *FileSystem) stat(name string, follow bool) (*entry, error) {
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
func (f *FileSystem) behind(link *entry) (*entry, error) {
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
func (f *FileSystem) recent(dir string) *listing {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range slices.Backward(f.listings) {
		if l.path == dir && time.Since(l.at) < keepListing {
			return l
		}
	}
	return nil
}

// list requests the listing of a directory.
func (f *FileSystem) list(dir string) (*listing, error) {
	l := &listing{path: dir, at: time.Now()}
	at, err := f.locate(dir)
	if err != nil {
		return l, err
	}
	req := &fetch.Request{Locator: at.loc, From: at.from}
	if _, ok := at.loc.(*locator.FTP); ok {
		req.Options = &ftp.Options{Facts: true}
	}
	res, err := f.r.Fetch(f.ctx, req)
	if err != nil {
		return l, err
	}
	defer res.Close()
	if res.Items == nil {
		return l, errNotDir
	}
	from := at.from
	if f.flat && res.Peer.IsValid() {
		from = res.Origin()
	}
	for item, failure := range res.Items {
		if err = failure; err != nil {
			break
		}
		if e, ok := f.entry(at, item); ok {
			e.at.from = from
			l.entries = append(l.entries, e)
		}
	}
	l.sort()
	if f.flat {
		f.once(l)
	} else {
		f.climbs(l)
	}
	if err == nil {
		f.keep(l)
	}
	return l, err
}

// climbs makes a directory that is one of those above it a symbolic link, so that a walk ends. In
// listings by MLSD some servers show the links to directories as directories.
func (f *FileSystem) climbs(l *listing) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range l.entries {
		unique := field(&e.item, ftp.HeaderUnique)
		if unique == "" {
			continue
		}
		up := "."
		for dir := l.path; ; dir, _ = split(dir) {
			if f.uniques[dir] == unique {
				e.mode, e.link, e.item.Kind = fs.ModeSymlink|0o777, up, fetch.KindDocument
				e.item.Header = append(e.item.Header, fetch.Field{Name: fetch.HeaderLink, Value: up})
				break
			}
			if dir == "." {
				f.uniques[join(l.path, e.name)] = unique
				break
			}
			up = join(up, "..")
		}
	}
}

// once takes menus out that are in a directory already, and notes where the others are.
func (f *FileSystem) once(l *listing) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l.entries = slices.DeleteFunc(l.entries, func(e *entry) bool {
		if !e.IsDir() {
			return false
		}
		path := join(l.path, e.name)
		if first, ok := f.paths[key(e.at.loc)]; ok {
			return first != path
		}
		f.paths[key(e.at.loc)], f.places[path] = path, e.at
		return false
	})
}

// keep keeps a listing for names to be found in.
func (f *FileSystem) keep(l *listing) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listings = slices.DeleteFunc(f.listings, func(old *listing) bool {
		return old.path == l.path || time.Since(old.at) >= keepListing // one may have 100,000 entries
	})
	if len(f.listings) == keepListings {
		f.listings = slices.Delete(f.listings, 0, 1)
	}
	f.listings = append(f.listings, l)
}

// key is the same for all locators of one menu.
func key(l locator.Locator) string {
	if menu, ok := l.(*locator.Gopher); ok {
		return strings.Join(strings.FieldsFunc(menu.Selector, func(r rune) bool { return r == '/' }), "/")
	}
	return l.String()
}

// A listing is what a directory held.
type listing struct {
	path    string
	at      time.Time
	entries []*entry // by name
}

// find returns the entry of a name, or nil. A nil listing has none.
func (l *listing) find(name string) *entry {
	if l == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(l.entries, name, func(e *entry, name string) int { return strings.Compare(e.name, name) })
	if !ok {
		return nil
	}
	return l.entries[i]
}

// sort sorts the entries, and takes out all but the first of a name.
func (l *listing) sort() {
	slices.SortStableFunc(l.entries, func(a, b *entry) int { return strings.Compare(a.name, b.name) })
	l.entries = slices.CompactFunc(l.entries, func(a, b *entry) bool { return a.name == b.name })
}

// An entry is a file or directory as a listing has it. It is an [fs.DirEntry] and an [fs.FileInfo].
type entry struct {
	fsys *FileSystem // that listed it
	name string
	mode fs.FileMode
	link string // where a symbolic link leads
	at   place
	item fetch.Item

	mu      sync.Mutex
	counted bool  // because no listing says how long it is
	bytes   int64 // if counted
}

func (e *entry) Name() string       { return e.name }
func (e *entry) Mode() fs.FileMode  { return e.mode }
func (e *entry) Type() fs.FileMode  { return e.mode.Type() }
func (e *entry) ModTime() time.Time { return e.item.ModTime }
func (e *entry) IsDir() bool        { return e.mode.IsDir() }
func (e *entry) Sys() any           { return &e.item }
func (e *entry) String() string     { return fs.FormatDirEntry(e) }

// Size implements [fs.FileInfo].
func (e *entry) Size() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.counted {
		return e.bytes
	}
	return max(0, e.item.Size)
}

// Info implements [fs.DirEntry].
func (e *entry) Info() (fs.FileInfo, error) { return e.counts(e.fsys) }

// counts finds how long a document is if no listing says it. It fetches it with the context of f.
func (e *entry) counts(f *FileSystem) (fs.FileInfo, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.counted || e.item.Size >= 0 || !e.mode.IsRegular() {
		return e, nil
	}
	file := e.open(f, e.name)
	defer file.Close()
	n, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	e.counted, e.bytes = true, n
	return e, nil
}

// open opens a file, which is fetched when it is read.
func (e *entry) open(f *FileSystem, path string) *openFile {
	return &openFile{fsys: f, path: path, info: e, size: e.item.Size}
}

// entry makes the entry of an item in the listing at dir. It reports false for what is not a file
// or directory of this tree.
func (f *FileSystem) entry(dir place, item fetch.Item) (e *entry, ok bool) {
	e = &entry{fsys: f, mode: 0o444, at: place{loc: item.Locator}, item: item}
	name := item.Name
	isDir := item.Kind == fetch.KindDirectory || item.Kind == fetch.KindMenu
	if item.Locator == nil || !locator.SameServer(item.Locator, dir.loc) || !isDir && item.Kind != fetch.KindDocument {
		return e, false
	}
	switch l := item.Locator.(type) {
	case *locator.FTP:
		if name = l.Name; name == "" && len(l.CWD) > 0 {
			name = l.CWD[len(l.CWD)-1]
		}
		e.at.loc = below(dir.loc, name)
	case *locator.File:
		s := l.Segments
		if n := len(s); n > 1 && s[n-1] == "" {
			s = s[:n-1]
		}
		name = s[len(s)-1]
	case *locator.Gopher:
		if l.Search != "" || l.Plus != "" {
			return e, false
		}
		if last := strings.TrimRight(l.Selector, "/"); last != "" {
			name = last[strings.LastIndexByte(last, '/')+1:]
		}
	case *locator.Prospero:
	default:
		isDir = false
	}
	for _, field := range item.Header {
		switch field.Name {
		case fetch.HeaderLink:
			e.link, e.mode, isDir = field.Value, fs.ModeSymlink|0o777, false
		case fetch.HeaderSpecial:
			e.mode = fs.ModeIrregular | 0o444
		}
	}
	if isDir {
		e.mode = fs.ModeDir | 0o555
		if !f.flat {
			e.at.loc = below(e.at.loc, "")
		}
	}
	e.name = allowed(name)
	return e, name != "" && name != "." && name != ".."
}

// field is a field of an item's Header, or empty.
func field(item *fetch.Item, name string) string {
	for _, field := range item.Header {
		if field.Name == name {
			return field.Value
		}
	}
	return ""
}

// allowed is a name as package fs allows it.
func allowed(name string) string {
	if utf8.ValidString(name) && !strings.Contains(name, "/") {
		return name
	}
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '/' || r == utf8.RuneError && name[i] >= utf8.RuneSelf && !strings.HasPrefix(name[i:], "\uFFFD"):
			b.WriteString(url.PathEscape(name[i : i+1]))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
