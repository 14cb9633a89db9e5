package remotefs

import (
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
	fsys *FS // that listed it
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
func (e *entry) counts(f *FS) (fs.FileInfo, error) {
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
func (e *entry) open(f *FS, path string) *openFile {
	return &openFile{fsys: f, path: path, info: e, size: e.item.Size}
}

// entry makes the entry of an item in the listing at dir. It reports false for what is not a file
// or directory of this tree.
func (f *FS) entry(dir place, item fetch.Item) (e *entry, ok bool) {
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

// list requests the listing of a directory.
func (f *FS) list(dir string) (*listing, error) {
	l := &listing{path: dir, at: time.Now()}
	at, err := f.locate(dir)
	if err != nil {
		return l, err
	}
	err = f.read(at, func(e *entry) bool {
		l.entries = append(l.entries, e)
		return true
	})
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

// read requests the listing at a place, and calls add for each entry until that reports false.
func (f *FS) read(at place, add func(*entry) bool) error {
	req := &fetch.Request{Locator: at.loc, From: at.from, Stream: true}
	if _, ok := at.loc.(*locator.FTP); ok {
		req.Options = &ftp.Options{Facts: true, Hidden: true}
	}
	res, err := f.r.Fetch(f.ctx, req)
	if err != nil {
		return err
	}
	defer res.Close()
	if res.Items == nil {
		return errNotDir
	}
	from := at.from
	if f.flat && res.Peer.IsValid() {
		from = res.Origin()
	}
	for item, err := range res.Items {
		if err != nil {
			return err
		}
		e, ok := f.entry(at, item)
		if e.at.from = from; ok && !add(e) {
			return nil
		}
	}
	return ftp.UnreadError(res)
}

// climbs makes a directory that is one of those above it a symbolic link, so that a walk ends. In
// listings by MLSD some servers show the links to directories as directories.
func (f *FS) climbs(l *listing) {
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
				e.mode, e.link = fs.ModeSymlink|0o777, up
				climb(&e.item, up)
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

// climb makes an item a symbolic link.
func climb(item *fetch.Item, up string) {
	item.Kind = fetch.KindDocument
	item.Header = append(item.Header, fetch.Field{Name: fetch.HeaderLink, Value: up})
}

// once takes menus out that are in a directory already, and notes where the others are.
func (f *FS) once(l *listing) {
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
func (f *FS) keep(l *listing) {
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
