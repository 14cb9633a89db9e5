package files

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/listing"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/remotefs"
)

const lsHelp = `Usage: fetch1738 ls [option]... URL...

Lists the directory, gopher menu or newsgroup at each URL: a name per line, with a
slash after those of directories and menus. A URL of a file lists that file. In the
last part of an ftp or file URL, *, ? and [a-z] match names.

  $ fetch1738 ls -l ftp://ftp.example.org/pub/

-l adds kind, size in bytes and time in UTC before the name. -R lists all below the
directory, with paths. Names that begin with a dot are left out unless -a is given.
-t and -S sort by time and size, newest and largest first.

A web server lists files only if it supports WebDAV (PROPFIND). The options for connecting (-u, -n, -x, --proto, --news-server
and so on) work as without a verb. The following options are for ls:
`

func lsVerb() verb {
	return verb{
		name: "ls", summary: "list directories, menus and newsgroups", help: lsHelp, does: "lists names", least: 1, follows: true, do: ls,
		familiar: lsFamiliar,
		options: func(s *settings) []curl.Option {
			return []curl.Option{
				own("a", "all", "List names that begin with a dot, too", &s.all),
				own("d", "directory", "List the directory itself, not what it has", &s.itself),
				own("h", "human-readable", "With -l, print sizes such as 1.5 MiB", &s.human),
				own("", "json", "Print JSON Lines, in the format of --json without a verb", &s.json),
				own("l", "long", "Also print kind, size and time", &s.long),
				own("R", "recursive", "List all below the directory; links are not followed", &s.recursive),
				own("r", "reverse", "Reverse the order", &s.reverse),
				{Short: "S", Long: "sort-size", Groups: "files", Help: "Sort by size, largest first", Set: oneOf(&s.bySize, &s.byTime), Curl: curl.Own},
				{Short: "t", Long: "sort-time", Groups: "files", Help: "Sort by time, newest first", Set: oneOf(&s.byTime, &s.bySize), Curl: curl.Own},
			}
		},
	}
}

// A lister lists an operand.
type lister struct{ *operand }

// ls lists the operands.
func ls(ctx context.Context, r *run) error {
	return r.each(ctx, func(ctx context.Context, o *operand) error { return lister{o}.ls(ctx) })
}

// heading prints the URL of a directory above its names, if there are several.
func (o lister) heading() {
	if several := len(o.op.URLs) > 1 || strings.ContainsAny(o.op.URLs[0], "{["); several && !o.json {
		fmt.Fprintln(o.out, stdio.Line(o.t.Locator.Redacted()+":"))
	}
}

// ls lists one operand.
func (o lister) ls(ctx context.Context) error {
	switch o.t.Locator.(type) {
	case *locator.FTP, *locator.File, *locator.HTTP:
		return o.lsFiles(ctx)
	}
	switch {
	case o.itself:
		o.fail(o.t, localerr.Errorf(localerr.Unsupported, "ls -d works with ftp, ftps, file, http and https; fetch1738 stat %s shows one item", o.t.Locator.Redacted()))
	case o.recursive && o.order() != nil:
		o.fail(o.t, localerr.Errorf(localerr.Unsupported, "ls -R sorts by time or size, or in reverse, only with ftp, ftps, file, http and https"))
	case o.recursive:
		return o.lsTree(ctx)
	default:
		return o.lsMenu(ctx)
	}
	return nil
}

// lsFiles lists a directory by ftp, file or http, or what its directory has of a file.
func (o lister) lsFiles(ctx context.Context) error {
	s, err := spotOf(o.t.Locator)
	if err != nil {
		o.fail(o.t, err)
		return nil
	}
	var refused error
	if o.itself && s.isRoot() && o.pattern == nil {
		o.print(".", &fetch.Item{Name: ".", Locator: s.dir, Kind: fetch.KindDirectory, Attributes: fetch.Attributes{Size: -1}})
		return nil
	}
	if o.pattern == nil && !o.itself {
		refused, err = o.lsDirectory(ctx, s.as(true))
		if refused == nil || err != nil {
			return err
		}
	}
	if refused != nil && (s.slash || !isRefusal(refused)) {
		o.fail(o.t, refused)
		return nil
	}
	d, err := o.list(ctx, s.dir, true)
	if err != nil {
		o.fail(o.t, cmp.Or(refused, err))
		return nil
	}
	var found []fetch.Item
	if o.pattern != nil {
		found, refused = d.matching(o.pattern), noMatch(d, o.pattern)
	} else if it := d.find(s.name); it != nil {
		found = []fetch.Item{*it}
	} else if d.unsure == nil {
		refused = absent(o.t.Locator)
	}
	for _, it := range sorted(found, o.order()) {
		o.print(it.Name, &it)
	}
	if len(found) == 0 {
		o.fail(o.t, refused)
	} else if d.unsure != nil {
		o.failAt(d.at, d.unsure)
	}
	return nil
}

// lsDirectory lists a directory. refused is the error of its own listing.
func (o lister) lsDirectory(ctx context.Context, at locator.Locator) (refused, err error) {
	item := func(path string, it *fetch.Item) error {
		if it.Name[0] == '.' && !o.all {
			return fs.SkipDir
		}
		o.print(path, it)
		return o.out.Err()
	}
	d, err := o.list(ctx, at, true)
	if err != nil {
		return err, nil
	}
	o.heading()
	if o.recursive {
		return nil, o.walk(ctx, at, &visitor{
			facts: true, partial: true, enter: func(string) {}, leave: func(locator.Locator, string) {}, item: item, bad: o.failAt, first: d, order: o.order(),
		})
	}
	for _, it := range sorted(d.items, o.order()) {
		if err := item(it.Name, &it); err != nil && err != fs.SkipDir {
			return nil, err
		}
	}
	if d.unsure != nil {
		o.failAt(at, d.unsure)
	}
	return nil, nil
}

// lsMenu lists a menu, newsgroup or other listing, or names a document.
func (o lister) lsMenu(ctx context.Context) error {
	req, err := o.request(o.t.Locator, nil)
	var res *fetch.Resource
	if err == nil {
		err = o.repeatedly(ctx, func() error {
			res, err = o.network.ResolverFor(o.t.Locator).Fetch(ctx, req)
			return err
		})
	}
	if err != nil {
		o.fail(o.t, err)
		return nil
	}
	defer res.Close()
	if res.Items == nil {
		name := output.DecodedName(o.t.Locator, o.t.URL)
		o.print(name, &fetch.Item{Name: name, Locator: res.Locator, Kind: res.Kind, Attributes: res.Attributes})
		return nil
	}
	o.heading()
	var held []fetch.Item // to be sorted
	for item, err := range res.Items {
		switch {
		case err != nil:
			o.fail(o.t, err)
			return nil
		case item.Locator == nil: // a line of text in a menu
			continue
		case o.order() != nil && len(held) < maxEntries:
			held = append(held, item)
			continue
		}
		if o.print(item.Name, &item); o.out.Err() != nil {
			return nil
		}
	}
	for _, item := range sorted(held, o.order()) {
		o.print(item.Name, &item)
	}
	return nil
}

// order returns the order of names, or nil for that of the listing.
func (s *settings) order() func(a, b fetch.Item) int {
	by := func(a, b fetch.Item) int { return strings.Compare(a.Name, b.Name) }
	switch {
	case s.byTime:
		by = func(a, b fetch.Item) int {
			return cmp.Or(b.ModTime.Compare(a.ModTime), strings.Compare(a.Name, b.Name))
		}
	case s.bySize:
		by = func(a, b fetch.Item) int { return cmp.Or(cmp.Compare(b.Size, a.Size), strings.Compare(a.Name, b.Name)) }
	case !s.reverse:
		return nil
	}
	if s.reverse {
		return func(a, b fetch.Item) int { return by(b, a) }
	}
	return by
}

// sorted returns items in an order, which may be nil.
func sorted(items []fetch.Item, order func(a, b fetch.Item) int) []fetch.Item {
	if order == nil {
		return items
	}
	return slices.SortedStableFunc(slices.Values(items), order)
}

// lsTree lists all below a menu.
func (o lister) lsTree(ctx context.Context) error {
	o.network.Pick() // every menu is on the server of the URL
	fsys, err := remotefs.New(ctx, o.network.ResolverFor(o.t.Locator), o.t.Locator.String())
	if err != nil {
		o.fail(o.t, err)
		return nil
	}
	o.heading()
	for item, err := range fsys.Walk(0) {
		switch {
		case ctx.Err() != nil || o.out.Err() != nil:
			return nil
		case err != nil:
			o.fail(o.t, err)
		default:
			o.print(item.Name, &item)
		}
	}
	return nil
}

// print prints an entry. The path ends in its name.
func (o lister) print(path string, it *fetch.Item) {
	if o.json {
		_ = entry.WriteJSON(o.out, it, o.op.Output.Charset) // o.out keeps the error
		return
	}
	l := &listing.Listing{Charset: o.op.Output.Charset, Detailed: o.long}
	if o.human {
		l.Amount = progress.Amount
	}
	name := *it
	switch name.Name = path; {
	case entry.IsArticle(it.Locator), kindOf(it) == isLink:
	case it.Kind == fetch.KindDirectory || it.Kind == fetch.KindMenu:
		name.Name = strings.TrimSuffix(path, "/") + "/"
	}
	text := stdio.Line(l.Charset.Decode(name.Name))
	if o.long {
		text = strings.TrimPrefix(l.Line(&name, ""), "     ")
	}
	fmt.Fprintln(o.out, text)
}
