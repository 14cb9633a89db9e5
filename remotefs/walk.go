package remotefs

import (
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
)

// Walk returns the files and directories below the directory at url, in lexical order. The Name of
// each Item is its path below the directory, with slashes. If r is nil, it is a new Resolver with
// every default.
//
// The schemes and the entries are those of [New]: each directory is listed once, and the walk ends
// also where menus lead to one another.
//
// A directory that cannot be listed yields its Item again, with the error, and the walk continues.
// The one at url has the Name "." then. An error of the url or of ctx ends the walk.
//
// A listing has ended before the first of its Items is yielded, so no connection is in use while
// the loop fetches them. Of each directory from url to the current one, the walk holds the listing:
// for each entry about 25 bytes and the name. [FS.Walk] can limit that.
func Walk(ctx context.Context, r *fetch1738.Resolver, url string) iter.Seq2[fetch.Item, error] {
	return func(yield func(fetch.Item, error) bool) {
		fsys, err := New(ctx, r, url)
		if err != nil {
			yield(fetch.Item{}, err)
			return
		}
		if r == nil {
			defer fsys.Close()
		}
		fsys.Walk(0)(yield)
	}
}

// Walk is the function [Walk] for a file system. As soon as the listings have more than limit files
// and directories, the walk ends with an error of kind [fetch.ErrTooLarge], whatever has been
// yielded before. It ends so, too, if the listings that it holds take more than 1 MiB and more than
// 256 bytes for each of limit, or more than 2 GiB. If limit is 0, there is no other limit.
func (f *FS) Walk(limit int) iter.Seq2[fetch.Item, error] {
	maxListed, maxHeld := limit, math.MaxInt32
	if limit <= 0 {
		maxListed = math.MaxInt
	} else if limit < maxHeld/heldPerEntry {
		maxHeld = max(heldAlways, limit*heldPerEntry)
	}
	return func(yield func(fetch.Item, error) bool) {
		w := walk{f: f, yield: yield, maxListed: maxListed, maxHeld: maxHeld, menus: make(map[[16]byte]struct{})}
		w.first(f.root.loc)
		w.below(f.root, fetch.Item{Name: ".", Locator: f.root.loc, Kind: fetch.KindDirectory, Attributes: fetch.Attributes{Size: -1}}, "")
	}
}

// The listings that a limited walk holds may have heldAlways bytes, or heldPerEntry for each entry
// that it may have.
const (
	heldAlways   = 1 << 20
	heldPerEntry = 256
)

// A walk is a walk that is under way.
type walk struct {
	f                  *FS
	yield              func(fetch.Item, error) bool
	maxListed, maxHeld int
	over               error // that one of these limits is exceeded

	listed  int                   // entries
	held    int                   // bytes of the listings of the current directories
	uniques []string              // what an FTP server calls these directories, from the root on
	menus   map[[16]byte]struct{} // of a flat tree: hashes of those that have a path
}

// below yields what is below the directory dir. It reports false if the walk has ended.
func (w *walk) below(at place, dir fetch.Item, unique string) bool {
	l, err := w.list(at, dir.Name)
	switch {
	case w.over != nil:
		w.yield(fetch.Item{}, driver.Fail(fetch.OpList, w.f.root.loc, fetch.ErrTooLarge, w.over))
		return false
	case err != nil && !w.step(dir, pathError("readdir", dir.Name, err)):
		return false
	}
	w.uniques = append(w.uniques, unique)
	w.held += l.size
	for _, ref := range l.refs {
		item, isDir := l.item(ref)
		item.Name = join(dir.Name, item.Name)
		called := field(&item, ftp.HeaderUnique)
		if up := w.climbs(called); up != "" {
			isDir = false
			climb(&item, up)
		}
		if !w.step(item, nil) || isDir && !w.below(place{item.Locator, l.at.from}, item, called) {
			return false
		}
	}
	w.held -= l.size
	w.uniques = w.uniques[:len(w.uniques)-1]
	return true
}

// step yields an item. It reports false if the walk has ended.
func (w *walk) step(item fetch.Item, err error) bool {
	return w.yield(item, err) && w.f.ctx.Err() == nil
}

// list requests the listing of a directory. With an error it returns the entries that came before.
func (w *walk) list(at place, path string) (*packed, error) {
	l := &packed{at: at}
	if strings.Count(path, "/") >= deepest {
		return l, errDeep
	}
	err := w.f.read(at, func(e *entry) bool {
		l.add(e)
		switch {
		case w.listed+len(l.refs) > w.maxListed:
			w.over = fmt.Errorf("more than %d files and directories", w.maxListed)
		case w.held+l.size > w.maxHeld:
			w.over = fmt.Errorf("listings of more than %d bytes", w.maxHeld)
		}
		return w.over == nil
	})
	l.sort()
	if w.f.flat {
		l.refs = slices.DeleteFunc(l.refs, func(ref uint32) bool {
			item, isDir := l.item(ref)
			return isDir && !w.first(item.Locator)
		})
	}
	w.listed += len(l.refs)
	return l, err
}

// first reports whether no menu before led to this one.
func (w *walk) first(menu locator.Locator) bool {
	sum := sha256.Sum256([]byte(key(menu)))
	id := [16]byte(sum[:])
	_, again := w.menus[id]
	w.menus[id] = struct{}{}
	return !again
}

// climbs returns the path from the current directory to the one that an FTP server calls unique if
// that is one of the current ones, and else nothing.
func (w *walk) climbs(unique string) string {
	if unique == "" {
		return ""
	}
	up := "."
	for _, u := range slices.Backward(w.uniques) {
		if u == unique {
			return up
		}
		up = join(up, "..")
	}
	return ""
}
