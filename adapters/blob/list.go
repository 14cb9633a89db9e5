package fetchblob

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"gocloud.dev/blob/driver"
	"gocloud.dev/gcerrors"
)

const (
	pageSize  = 1000
	keepWalks = 4
)

// ListPaged implements [driver.Bucket]. The walk that a page ended in is kept for the next page, so
// that no directory is listed twice. A token whose walk is not kept any more starts a new walk,
// which skips what is before the token.
func (b *bucket) ListPaged(ctx context.Context, opts *driver.ListOptions) (*driver.ListPage, error) {
	if opts.BeforeList != nil {
		if err := opts.BeforeList(func(any) bool { return false }); err != nil {
			return nil, err
		}
	}
	w, err := b.begin(ctx, opts)
	if err != nil {
		return nil, err
	}
	size := cmp.Or(opts.PageSize, pageSize)
	page := new(driver.ListPage)
	for {
		object, err := w.next(ctx)
		switch {
		case err != nil:
			return nil, err
		case object == nil:
			return page, nil
		case len(page.Objects) == size:
			w.pending = object
			b.keep(w)
			page.NextPageToken = []byte(w.token)
			return page, nil
		}
		page.Objects = append(page.Objects, object)
		w.token = object.Key
	}
}

// begin returns the walk that a token continues.
func (b *bucket) begin(ctx context.Context, opts *driver.ListOptions) (*walk, error) {
	w := &walk{b: b, prefix: opts.Prefix, delimiter: opts.Delimiter, token: string(opts.PageToken)}
	if kept := b.kept(w); kept != nil {
		return kept, nil
	}
	start := root(opts.Prefix)
	err := w.list(ctx, start)
	if err != nil && start != "." && b.isMissing(ctx, start, err) {
		err = nil // no key has the prefix
	}
	return w, err
}

// kept returns the walk that was kept at the place of w, if there is one, and keeps it no longer.
func (b *bucket) kept(w *walk) *walk {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, kept := range b.walks {
		if kept.token == w.token && kept.prefix == w.prefix && kept.delimiter == w.delimiter {
			b.walks = slices.Delete(b.walks, i, i+1)
			return kept
		}
	}
	return nil
}

// keep keeps a walk for the next page.
func (b *bucket) keep(w *walk) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.walks) == keepWalks {
		b.walks = slices.Delete(b.walks, 0, 1)
	}
	b.walks = append(b.walks, w)
}

// A walk finds the keys with a prefix in their order. It holds the listings of the directories on
// the way to where it is, as far as they are ahead.
type walk struct {
	b                 *bucket
	prefix, delimiter string
	token             string // the last key found
	pending           *driver.ListObject
	levels            [][]child
}

// A child is an entry of a directory.
type child struct {
	key  string // with a slash at its end if dir is set
	path string
	dir  bool
	item *fetch.Item
}

// list lists a directory, whose entries come next.
func (w *walk) list(ctx context.Context, dir string) error {
	entries, err := w.b.fsys.WithContext(ctx).ReadDir(dir)
	if err != nil {
		return err
	}
	var children []child
	for _, entry := range entries {
		c := child{path: entry.Name(), dir: entry.IsDir()}
		if dir != "." {
			c.path = path.Join(dir, c.path)
		}
		c.key = keyOf(c.path)
		switch {
		case c.dir:
			c.key += "/"
		case !entry.Type().IsRegular():
			continue
		}
		if w.mayContain(c) {
			c.item, _ = entry.(fs.FileInfo).Sys().(*fetch.Item)
			children = append(children, c)
		}
	}
	slices.SortFunc(children, func(a, b child) int { return strings.Compare(b.key, a.key) })
	w.levels = append(w.levels, children)
	return nil
}

// mayContain reports whether the result can have a child, or what is below it.
func (w *walk) mayContain(c child) bool {
	if c.dir && (strings.HasPrefix(w.prefix, c.key) || strings.HasPrefix(w.token, c.key)) {
		return true
	}
	return strings.HasPrefix(c.key, w.prefix) && c.key > w.token
}

// next returns the next object, or nil at the end.
func (w *walk) next(ctx context.Context) (*driver.ListObject, error) {
	if object := w.pending; object != nil {
		w.pending = nil
		return object, nil
	}
	for len(w.levels) > 0 {
		level := &w.levels[len(w.levels)-1]
		if len(*level) == 0 {
			w.levels = w.levels[:len(w.levels)-1]
			continue
		}
		c := (*level)[len(*level)-1]
		*level = (*level)[:len(*level)-1]
		if object := w.group(c.key); object != nil {
			if object.Key > w.token {
				return object, nil
			}
			continue
		}
		if !c.dir {
			return &driver.ListObject{Key: c.key, Size: c.item.Size, ModTime: c.item.ModTime, AsFunc: as(c.item)}, nil
		}
		if err := w.list(ctx, c.path); err != nil && code(err) != gcerrors.NotFound { // deleted meanwhile
			if w.b.opts.Unlisted != nil {
				err = w.b.opts.Unlisted(c.key, err)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// group returns the object for all keys that are equal up to the delimiter behind the prefix, or
// nil if key has none there.
func (w *walk) group(key string) *driver.ListObject {
	rest, ok := strings.CutPrefix(key, w.prefix)
	if !ok || w.delimiter == "" {
		return nil
	}
	i := strings.Index(rest, w.delimiter)
	if i < 0 {
		return nil
	}
	return &driver.ListObject{Key: key[:len(w.prefix)+i+len(w.delimiter)], IsDir: true}
}
