package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/listing"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/wildcard"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/locator"
)

const (
	maxEntries = 1 << 20 // of a directory, and of what rm deletes at once
	maxDepth   = 100     // directories below the operand
)

// A directory is what the server lists in one.
type directory struct {
	at     locator.Locator
	items  []fetch.Item // by name
	unsure error        // entries may be missing, or be other than they seem
}

// find returns the entry of a name, or nil.
func (d *directory) find(name string) *fetch.Item {
	i, ok := slices.BinarySearchFunc(d.items, name, func(it fetch.Item, name string) int { return strings.Compare(it.Name, name) })
	if !ok {
		return nil
	}
	return &d.items[i]
}

// add adds a file that has come into the directory.
func (d *directory) add(name string) {
	i, _ := slices.BinarySearchFunc(d.items, name, func(it fetch.Item, name string) int { return strings.Compare(it.Name, name) })
	d.items = slices.Insert(d.items, i, fetch.Item{Name: name})
}

// matching returns the entries that a pattern matches: as in a shell, names that begin with a dot only
// if the pattern does. An entry with exactly the name of the pattern is the only one.
func (d *directory) matching(p *wildcard.Pattern) []fetch.Item {
	if it := d.find(p.Name); it != nil {
		return []fetch.Item{*it}
	}
	var found []fetch.Item
	for _, it := range d.items {
		if _, ok := p.Match(it.Name); ok && (it.Name[0] != '.' || strings.HasPrefix(p.Name, ".")) {
			found = append(found, it)
		}
	}
	return found
}

// The kinds of entries, as --json names them.
const (
	isFile    = "document"
	isDir     = "directory"
	isLink    = "link"
	isSpecial = "special"
)

// kindOf returns the kind of an entry. A link is not what it leads to.
func kindOf(it *fetch.Item) string {
	switch {
	case entry.Field(it, fetch.HeaderLink) != nil:
		return isLink
	case entry.Field(it, fetch.HeaderSpecial) != nil:
		return isSpecial
	case it.Kind == fetch.KindDirectory:
		return isDir
	}
	return isFile
}

// list lists a directory by ftp or file, with the names that begin with a dot. With facts an FTP server
// is asked for exact sizes and times (MLSD), otherwise for links as links (LIST): the MLSD of several
// servers shows a link to a directory as that directory.
func (o *operand) list(ctx context.Context, at locator.Locator, facts bool) (d *directory, err error) {
	err = o.repeatedly(ctx, func() error {
		d, err = o.listOnce(ctx, at, facts)
		return err
	})
	return d, err
}

func (o *operand) listOnce(ctx context.Context, at locator.Locator, facts bool) (*directory, error) {
	if l, ok := at.(*locator.HTTP); ok {
		return webdav{o}.list(ctx, l)
	}
	d := &directory{at: at}
	ctx, stop := listing.Bounded(ctx)
	defer stop(nil)
	req, err := o.request(at, func(options *ftp.Options) { options.Facts, options.Hidden = facts, true })
	if err != nil {
		return nil, err
	}
	res, err := o.network.ResolverFor(at).Fetch(ctx, req)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	if res.Items == nil {
		return nil, driver.Fail(fetch.OpList, at, fetch.ErrUnsupported, errors.New("not a directory"))
	}
	_, isLocal := at.(*locator.File)
	for item, err := range res.Items {
		switch {
		case errors.Is(context.Cause(ctx), listing.ErrTooLong) || len(d.items) == maxEntries:
			return nil, driver.Fail(fetch.OpList, at, fetch.ErrTooLarge, listing.ErrTooLong)
		case err != nil:
			return nil, err
		case item.Name == "" || item.Name == "." || item.Name == "..":
		case strings.ContainsAny(item.Name, "/\x00"), !isLocal && strings.ContainsAny(item.Name, "\r\n"):
			d.unsure = driver.Fail(fetch.OpList, at, fetch.ErrProtocol, fmt.Errorf("the listing has a name that no file can have: %q", item.Name))
		default:
			d.items = append(d.items, item)
			o.listed.Add(1)
		}
	}
	switch info, _ := res.Info.(*ftp.Info); {
	case info == nil:
	case info.Names:
		d.unsure = driver.Fail(fetch.OpList, at, fetch.ErrProtocol, errors.New("the server lists names only: a file and a directory look the same"))
	case info.Asked && !facts:
		d.unsure = driver.Fail(fetch.OpList, at, fetch.ErrProtocol, errors.New("the listing is not understood: a link and a directory look the same"))
	}
	if err := ftp.UnreadError(res); err != nil {
		d.unsure = err
	}
	d.sort()
	return d, nil
}

// sort sorts the entries by name, and removes those that are there twice.
func (d *directory) sort() {
	slices.SortStableFunc(d.items, func(a, b fetch.Item) int { return strings.Compare(a.Name, b.Name) })
	d.items = slices.CompactFunc(d.items, func(a, b fetch.Item) bool { return a.Name == b.Name })
}

// A visitor is what a walk calls. enter and leave are called for each directory, item for each entry
// between them. The path is that below the start, and ends in a slash for a directory.
type visitor struct {
	facts   bool // see list
	partial bool // item is called for the entries of a listing that is not complete, too
	enter   func(path string)
	item    func(path string, it *fetch.Item) error // fs.SkipDir does not enter it, another error ends the walk
	leave   func(at locator.Locator, path string)
	bad     func(at locator.Locator, err error) // the listing cannot be read, or is not complete
	first   *directory                          // the listing of the start, if it is known
	parent  *directory                          // the listing that has the start, if it is known
	order   func(a, b fetch.Item) int           // of the entries of a directory; if nil, by name
}

// walk lists the directory at, and all below it. It follows no links. The error is that of item, of the
// context, or one after which the server cannot be asked any more.
func (o *operand) walk(ctx context.Context, at locator.Locator, v *visitor) error {
	w := &walk{o, v, nil, nil}
	if v.parent != nil {
		w.lists = append(w.lists, v.parent)
	}
	return w.below(ctx, at, "", "")
}

// A walk is a walk that is under way.
type walk struct {
	*operand
	*visitor
	above []string     // what the server calls the directories above, by MLSD
	lists []*directory // the listings above
}

// below lists one directory. unique is what the server calls it, or "".
func (w *walk) below(ctx context.Context, at locator.Locator, path, unique string) error {
	w.enter(path)
	d, err := w.first, error(nil)
	if w.first = nil; d == nil {
		d, err = w.list(ctx, at, w.facts)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil && len(w.above) == maxDepth:
		err = driver.Fail(fetch.OpList, at, fetch.ErrTooLarge, fmt.Errorf("more than %d directories above it", maxDepth))
	}
	if err != nil {
		w.bad(at, err)
		w.leave(at, path)
		if isFatal(err) {
			return errReported
		}
		return nil
	}
	if err := w.repeated(d); err != nil {
		d.items, d.unsure = nil, err
	}
	if d.unsure != nil {
		w.bad(at, d.unsure)
	}
	w.lists = append(w.lists, d)
	defer func() { w.lists = w.lists[:len(w.lists)-1] }()
	w.above = append(w.above, unique)
	items := sorted(d.items, w.order)
	for i := range items {
		it := &items[i]
		if d.unsure != nil && !w.partial {
			break
		}
		name := path + it.Name
		called := w.called(it)
		err := w.item(name, it)
		switch {
		case err == fs.SkipDir, err == nil && kindOf(it) != isDir:
			continue
		case err != nil:
			return err
		}
		if err := w.below(ctx, child(at, it.Name, true), name+"/", called); err != nil {
			return err
		}
	}
	w.above = w.above[:len(w.above)-1]
	w.leave(at, path)
	return nil
}

// repeated returns an error if a directory lists the same as one above: the server has not entered it, or
// it is a link to that one. A directory with nothing but directories may do so.
func (w *walk) repeated(d *directory) error {
	if !slices.ContainsFunc(d.items, func(it fetch.Item) bool { return kindOf(&it) != isDir }) {
		return nil
	}
	for _, above := range w.lists {
		same := slices.EqualFunc(d.items, above.items, func(a, b fetch.Item) bool {
			return a.Name == b.Name && kindOf(&a) == kindOf(&b) && a.Size == b.Size && a.ModTime.Equal(b.ModTime)
		})
		if same && slices.ContainsFunc(d.items, func(it fetch.Item) bool { return kindOf(&it) == isDir }) {
			return driver.Fail(fetch.OpList, d.at, fetch.ErrProtocol, fmt.Errorf("lists the same as %s: the server does not enter it, or it is a link to that", above.at.Redacted()))
		}
	}
	return nil
}

// called returns what the server calls a directory. If that is one of those above, the entry is a link
// to it, which the server does not show as one; called then makes it one.
func (w *walk) called(it *fetch.Item) string {
	unique := entry.Field(it, ftp.HeaderUnique)
	switch {
	case unique == nil:
		return ""
	case slices.Contains(w.above, *unique):
		it.Header = append(it.Header, fetch.Field{Name: fetch.HeaderLink})
	}
	return *unique
}

// errReported ends a run whose failure has been reported.
var errReported = errors.New("reported")

// ended returns err, unless it has been reported or is that of the context, which the run reports.
func ended(ctx context.Context, err error) error {
	if err == errReported || ctx.Err() != nil {
		return nil
	}
	return err
}

// absent returns the error of a URL whose directory does not list it.
func absent(l locator.Locator) error {
	return &fetch.Error{Op: fetch.OpList, URL: l.Redacted(), Kind: fetch.ErrNotFound, Err: errors.New("no such file or directory")}
}

// noMatch returns the error of a pattern in a directory.
func noMatch(d *directory, p *wildcard.Pattern) error {
	if d.unsure != nil {
		return d.unsure
	}
	return driver.Fail(fetch.OpMatch, d.at, fetch.ErrNotFound, fmt.Errorf("no file matches %s", fetch.Printable(p.Name)))
}
