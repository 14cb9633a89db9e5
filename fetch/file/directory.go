package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// directory returns the resource of an open directory, and closes the directory.
func (a *access) directory(ctx context.Context, dir *os.File, info fs.FileInfo) (*fetch.Resource, error) {
	defer dir.Close()
	if a.req.Offset != 0 || a.req.Length != 0 {
		return nil, a.fail(fetch.OpList, &fetch.Error{Kind: fetch.ErrBadRange, Err: errors.New("a directory has no byte ranges")})
	}
	l := &listing{ctx: ctx, a: a, trace: driver.ContextTrace(ctx)}
	if err := l.readEntries(dir); err != nil {
		return nil, err
	}
	l.text = strings.NewReader(l.names())
	return &fetch.Resource{
		Attributes: fetch.Attributes{Size: l.text.Size(), ModTime: info.ModTime(), MediaType: "text/plain"},
		Locator:    a.loc, Kind: fetch.KindDirectory, Body: l, Items: l.items(),
	}, nil
}

// listing is the Body of a directory.
type listing struct {
	ctx     context.Context
	a       *access
	entries []fs.DirEntry
	text    *strings.Reader
	trace   *fetch.Trace
	closed  atomic.Bool
}

// batch is the number of entries read between two checks of the context.
const batch = 1024

// readEntries reads the directory and sorts it.
func (l *listing) readEntries(dir *os.File) error {
	for {
		if err := l.ctx.Err(); err != nil {
			return l.a.fail(fetch.OpList, err)
		}
		entries, err := dir.ReadDir(batch)
		l.entries = append(l.entries, entries...)
		if err == io.EOF {
			break
		}
		if err != nil {
			return l.a.fail(fetch.OpList, err)
		}
	}
	slices.SortFunc(l.entries, func(x, y fs.DirEntry) int { return strings.Compare(x.Name(), y.Name()) })
	return nil
}

// names returns the text of the listing.
func (l *listing) names() string {
	var b strings.Builder
	for _, e := range l.entries {
		b.WriteString(e.Name())
		if l.isDir(e) {
			b.WriteByte('/')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// isDir reports whether an entry is a directory or a link to one.
func (l *listing) isDir(e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(l.a.path + "/" + e.Name())
	return err == nil && info.IsDir()
}

// Read implements io.Reader.
func (l *listing) Read(p []byte) (int, error) {
	if err := l.check(); err != nil {
		return 0, err
	}
	n, err := l.text.Read(p)
	if n > 0 {
		l.trace.Took(p[:n])
	}
	return n, err
}

// check returns the error of a read that must not start.
func (l *listing) check() error {
	if l.closed.Load() {
		return l.a.fail(fetch.OpList, fs.ErrClosed)
	}
	if err := l.ctx.Err(); err != nil {
		return l.a.fail(fetch.OpList, err)
	}
	return nil
}

// Close implements io.Closer.
func (l *listing) Close() error {
	l.closed.Store(true)
	return nil
}

// items yields the entries in the order of the Body. Iterating also consumes the Body.
func (l *listing) items() iter.Seq2[fetch.Item, error] {
	return func(yield func(fetch.Item, error) bool) {
		limit := l.a.env.Limits.Items
		for n, e := range l.entries {
			if limit > 0 && n == limit {
				yield(fetch.Item{}, l.a.fail(fetch.OpList, &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("more than %d entries", limit)}))
				return
			}
			if err := l.check(); err != nil {
				yield(fetch.Item{}, err)
				return
			}
			if !yield(l.item(e), nil) {
				return
			}
		}
		if _, err := io.Copy(io.Discard, l); err != nil {
			yield(fetch.Item{}, err)
		}
	}
}

// item returns an entry as an Item. A link whose target does not exist has no attributes.
func (l *listing) item(e fs.DirEntry) fetch.Item {
	to := &locator.File{Host: l.a.loc.Host, Segments: append(l.segments(), e.Name())}
	item := fetch.Item{Name: e.Name(), Locator: to, Attributes: fetch.Attributes{Size: -1}}
	// The attributes are those of the target of a link. A dangling link has none.
	path := l.a.path + "/" + e.Name()
	info, err := os.Stat(path)
	if err == nil {
		item.Attributes = attributesOf(info)
		if info.IsDir() {
			item.Kind = fetch.KindDirectory
			to.Segments = append(to.Segments, "")
		}
	}
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(path) // "" if it was removed meanwhile
		item.Header = []fetch.Field{{Name: fetch.HeaderLink, Value: target}}
	case err == nil && !info.IsDir() && !info.Mode().IsRegular():
		item.Header = []fetch.Field{{Name: fetch.HeaderSpecial}}
	}
	return item
}

// segments returns the path of the directory without the trailing slash.
func (l *listing) segments() []string {
	s := l.a.loc.Segments
	if n := len(s); n > 0 && s[n-1] == "" {
		s = s[:n-1]
	}
	return slices.Clone(s)
}
