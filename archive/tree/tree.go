// Package tree is an archive as a file system: its documents at a time, in folders.
package tree

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/cdx"
	"github.com/fetch1738/fetch1738/internal/urls/percent"
	"github.com/fetch1738/fetch1738/locator"
)

// FS returns the documents of an archive as they were at a time, as in [archive.Archive.Find], in folders
// "SCHEME/HOST[:PORT]/PATH". The port is left out if it is the default port.
//
//   - ftp://h/pub/a%20b.txt is ftp/h/pub/a b.txt: %20 and the octets of UTF-8 are decoded, all other
//     octets stay as they are in the URL
//   - gopher://h/0/pub/a.txt is gopher/h/pub/a.txt: without the item type
//   - http://www.h/A?b and https://h/A?b are http/h/a?b: by the keys of the index, which do not tell
//     them apart; a slash behind "?" is %2F
//   - news:m@h is news/m@h
//
// The document of a folder, such as a listing, a menu or a page, is the file index in it, or
// index.html. Documents that would have the same name get ~2 and so on at its end.
//
// Folders are read by searches of the index when they are asked for. [fs.FileInfo].Sys returns the
// *[archive.Capture] of a file; ModTime is when the document was modified, or else when it was captured. The
// size of a response in chunks is found by reading it. Files are io.Seekers.
func FS(a *archive.Archive, at time.Time) fs.FS {
	t := &tree{archive: a, at: at}
	t.sites = sync.OnceValues(t.findSites)
	return t
}

// A tree is an Archive as a file system.
type tree struct {
	archive *archive.Archive
	at      time.Time
	sites   func() (map[string]*folder, error) // by path; those above the sites have no prefixes
}

// A folder has what keys begin with that are in it: more than one if it has captures of several
// gopher types.
type folder struct {
	prefixes []string
	docs     []string // the keys of its own documents, also those that equal a prefix
}

// Open implements fs.FS.
func (t *tree) Open(name string) (fs.File, error) {
	e, err := t.find(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	if e.folder != nil {
		return &dirFile{entry: e}, nil
	}
	info, err := e.Info()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &docFile{info: info, archive: t.archive}, nil
}

// find returns the entry of a path.
func (t *tree) find(name string) (*entry, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrInvalid
	}
	sites, err := t.sites()
	if err != nil {
		return nil, err
	}
	e := &entry{tree: t, name: ".", path: ".", folder: sites["."]}
	for part := range strings.SplitSeq(name, "/") {
		if name == "." {
			break
		}
		switch below := path.Join(e.path, part); {
		case e.folder == nil:
			return nil, fs.ErrNotExist
		case sites[below] != nil:
			e = &entry{tree: t, name: part, path: below, folder: sites[below]}
		default:
			found, err := e.child(part)
			if err != nil {
				return nil, err
			}
			found.path = below
			e = found
		}
	}
	return e, nil
}

// findSites returns the folders down to those of servers.
func (t *tree) findSites() (map[string]*folder, error) {
	sites := map[string]*folder{".": {}}
	c := &cursor{archive: t.archive}
	defer c.close()
	for from := ""; ; {
		l, err := c.seek(from)
		if err != nil || l == nil {
			return sites, err
		}
		group := cdx.Site(l)
		if from = cdx.After(group); from == "" {
			return sites, nil
		}
		at := sitePath(group)
		for dir := path.Dir(at); sites[dir] == nil; dir = path.Dir(dir) {
			sites[dir] = &folder{}
		}
		f := sites[at]
		if f == nil {
			f = &folder{}
			sites[at] = f
		}
		switch {
		case strings.HasSuffix(group, " "): // a URL without a path
			f.docs = append(f.docs, strings.TrimSuffix(group, " "))
		case strings.HasSuffix(group, ")"):
			f.prefixes = append(f.prefixes, group+"/")
		case strings.HasPrefix(at, "gopher"):
			err = t.addTypes(f, group)
		default:
			f.prefixes = append(f.prefixes, group)
		}
		if err != nil {
			return sites, err
		}
	}
}

// sitePath returns the folder for what the keys of a site begin with.
func sitePath(group string) string {
	if surt, ok := strings.CutSuffix(group, ")"); ok {
		host, port, _ := strings.Cut(surt, ":")
		labels := strings.Split(host, ",")
		slices.Reverse(labels)
		return path.Join("http", segmentName(strings.TrimSuffix(strings.Join(labels, ".")+":"+port, ":")))
	}
	s := archive.SiteOf(group)
	if s.Host == "" {
		return segmentName(cmp.Or(s.Scheme, "_"))
	}
	if s.Port != locator.DefaultPort(s.Scheme) {
		s.Host += ":" + strconv.Itoa(int(s.Port))
	}
	return path.Join(segmentName(s.Scheme), segmentName(strings.TrimSpace(s.Host)))
}

// addTypes adds what the keys of a gopher server begin with, for each item type: with the slash that
// most selectors begin with, and without it.
func (t *tree) addTypes(f *folder, group string) error {
	c := &cursor{archive: t.archive}
	defer c.close()
	for from := group; ; {
		l, err := c.seek(from)
		if err != nil || l == nil || !strings.HasPrefix(l.Key, group) {
			return err
		}
		if l.Key == group {
			f.docs = append(f.docs, group)
			from = group + "!"
			continue
		}
		typed := l.Key[:len(group)+1]
		f.prefixes = append(f.prefixes, typed, typed+"/")
		from = cdx.After(typed)
	}
}

// A child is what a folder has of one segment of keys.
type child struct {
	docs     []string
	prefixes []string
	menu     bool // one of docs is a menu
}

// add adds what is known from a line whose key begins with prefix and segment.
func (c *child) add(l *cdx.Line, prefix, segment string) {
	if len(l.Key) > len(prefix)+len(segment) {
		c.prefixes = append(c.prefixes, prefix+segment+"/")
		return
	}
	c.docs = append(c.docs, l.Key)
	// The words of a search are behind a tab.
	c.menu = c.menu || l.MIME == "application/gopher-menu" && !strings.Contains(l.Key, "%09")
}

// segmentOf returns the first segment of the rest of a key, and whether it is in the folder of a
// prefix.
func segmentOf(prefix, key string) (string, bool) {
	rest := key[len(prefix):]
	end := strings.IndexByte(rest, '/')
	if end < 0 {
		end = len(rest)
	}
	if isSURT(key) {
		if query := strings.IndexByte(rest, '?'); query >= 0 && query < end {
			end = len(rest)
		}
	}
	// The empty segment is the folder itself, or the slash of another prefix of it.
	return rest[:end], rest != "" && (end > 0 || strings.HasSuffix(prefix, "/"))
}

// isSURT reports whether a key is that of an http URL.
func isSURT(key string) bool {
	bracket, colon := strings.IndexByte(key, ')'), strings.Index(key, "://")
	return bracket >= 0 && (colon < 0 || bracket < colon)
}

// maxChildren limits what is in one folder.
const maxChildren = 1_000_000

// children returns what is in a folder, by segments.
func (e *entry) children() (map[string]*child, error) {
	found := make(map[string]*child)
	for _, prefix := range e.folder.prefixes {
		if err := e.childrenOf(prefix, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (e *entry) childrenOf(prefix string, found map[string]*child) error {
	c := &cursor{archive: e.tree.archive}
	defer c.close()
	for from := prefix; ; {
		l, err := c.seek(from)
		if err != nil || l == nil || !strings.HasPrefix(l.Key, prefix) {
			return err
		}
		segment, inside := segmentOf(prefix, l.Key)
		if whole := prefix + segment; len(l.Key) == len(whole) {
			from = whole + "!" // behind the captures of this key
		} else {
			from = whole + "0" // behind the slash
		}
		if !inside {
			continue
		}
		if found[segment] == nil {
			found[segment] = new(child)
		}
		if found[segment].add(l, prefix, segment); len(found) > maxChildren {
			return fmt.Errorf("the folder has more than %d names", maxChildren)
		}
	}
}

// child returns the entry of a name in a folder.
func (e *entry) child(name string) (*entry, error) {
	segment := nameSegment(name)
	var found child
	for _, prefix := range e.folder.prefixes {
		for _, from := range []string{prefix + segment + " ", prefix + segment + "/"} {
			for l, err := range e.tree.archive.Lines(from) {
				if err != nil {
					return nil, err
				}
				if strings.HasPrefix(l.Key+" ", from) {
					if _, inside := segmentOf(prefix, l.Key); inside {
						found.add(l, prefix, segment)
					}
				}
				break
			}
		}
	}
	if list := e.entriesOf(segment, &found); len(list) > 0 && list[0].name == name {
		return list[0], nil
	}
	if !strings.HasPrefix(name, "index") && !strings.ContainsAny(name, "~%") {
		return nil, fs.ErrNotExist
	}
	all, err := e.entries() // which has names that are made
	if i := slices.IndexFunc(all, func(e *entry) bool { return e.name == name }); i >= 0 {
		return all[i], nil
	}
	return nil, cmp.Or(err, fs.ErrNotExist)
}

// entriesOf returns the entries for a child: a folder, or each of its documents.
func (e *entry) entriesOf(segment string, c *child) (list []*entry) {
	name := segmentName(segment)
	if len(c.prefixes) > 0 || c.menu {
		return []*entry{{tree: e.tree, name: name, path: path.Join(e.path, name), folder: &folder{c.prefixes, c.docs}}}
	}
	for i, key := range c.docs {
		list = append(list, &entry{tree: e.tree, name: numbered(name, i), path: path.Join(e.path, numbered(name, i)), key: key})
	}
	return list
}

func numbered(name string, i int) string {
	if i > 0 {
		name += "~" + strconv.Itoa(i+1)
	}
	return name
}

// entries returns what is in a folder, sorted by name.
func (e *entry) entries() ([]*entry, error) {
	sites, err := e.tree.sites()
	if err != nil {
		return nil, err
	}
	list := make(map[string]*entry)
	for at, f := range sites {
		if path.Dir(at) == e.path && at != "." {
			list[path.Base(at)] = &entry{tree: e.tree, name: path.Base(at), path: at, folder: f}
		}
	}
	children, err := e.children()
	if err != nil {
		return nil, err
	}
	for _, segment := range slices.Sorted(maps.Keys(children)) {
		for _, found := range e.entriesOf(segment, children[segment]) {
			if list[found.name] == nil {
				list[found.name] = found
			}
		}
	}
	own, err := e.ownDocs()
	if err != nil {
		return nil, err
	}
	for _, c := range own {
		name := "index"
		if strings.HasPrefix(c.MediaType, "text/html") {
			name = "index.html"
		}
		i := 0
		for list[numbered(name, i)] != nil {
			i++
		}
		name = numbered(name, i)
		list[name] = &entry{tree: e.tree, name: name, path: path.Join(e.path, name), capture: c}
	}
	return slices.SortedFunc(maps.Values(list), func(a, b *entry) int { return strings.Compare(a.name, b.name) }), nil
}

// capture returns that of a key.
func (t *tree) capture(key string) (*archive.Capture, error) { return t.archive.Find(key, t.at) }

// ownDocs returns the documents of the folder itself.
func (e *entry) ownDocs() (docs []*archive.Capture, err error) {
	for _, key := range append(slices.Clone(e.folder.docs), e.folder.prefixes...) {
		switch c, err := e.tree.capture(key); {
		case err == nil:
			docs = append(docs, c)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return docs, nil
}

// segmentName returns the name for a segment of a key, and nameSegment the segment of a name. An empty
// segment, as in "//", is "%".
func segmentName(segment string) string {
	name := strings.ReplaceAll(segment, "%20", " ")
	switch segment {
	case "":
		return "%"
	case ".", "..":
		return strings.ReplaceAll(segment, ".", "%2E")
	}
	if decoded := high.ReplaceAllStringFunc(name, percent.Decode); utf8.ValidString(decoded) {
		name = decoded
	}
	bad := func(r rune) bool { return r == '/' || r == utf8.RuneError }
	if strings.IndexFunc(name, bad) < 0 {
		return name
	}
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '/':
			b.WriteString("%2F")
		case r == utf8.RuneError:
			fmt.Fprintf(&b, "%%%02X", name[i])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func nameSegment(name string) string {
	if name == "%" {
		return ""
	}
	segment := percent.Encode(name, func(c byte) bool { return c == ' ' || c >= 0x80 })
	if strings.Contains(segment, "?") { // of a SURT, which is in lower case otherwise
		segment = strings.ReplaceAll(segment, "%2F", "/")
	}
	return segment
}

// high is an octet from 80 to FF.
var high = regexp.MustCompile("%[89A-F][0-9A-F]")
