package files

import (
	"context"
	"fmt"
	"strings"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/locator"
)

const statHelp = `Usage: fetch1738 stat [option]... URL...

Shows whether there is something at each URL, and what: its kind, size, modification
time and media type, as far as the server says that without sending it. It works for
every scheme. In the last part of an ftp or file URL, *, ? and [a-z] match names.

  $ fetch1738 stat ftp://ftp.example.org/pub/README http://www.example.org/

Links and redirects are followed. The exit code is 0 only if all URLs were found.

The options for connecting (-u, -n, -x, --proto, --news-server and so on) work as
without a verb. The following options are for stat:
`

func statVerb() verb {
	return verb{
		name: "stat", summary: "show kind, size and time of a URL, for every scheme", help: statHelp, does: "shows what is at a URL", least: 1, follows: true, do: stat,
		familiar: statFamiliar,
		options: func(s *settings) []curl.Option {
			return []curl.Option{own("", "json", "Print JSON Lines, in the format of --json without a verb", &s.json)}
		},
	}
}

// A viewer shows what is at an operand.
type viewer struct{ *operand }

// stat shows the operands.
func stat(ctx context.Context, r *run) error {
	return r.each(ctx, func(ctx context.Context, o *operand) error { return viewer{o}.stat(ctx) })
}

// stat shows one operand, or the entries that it matches.
func (o viewer) stat(ctx context.Context) error {
	if o.pattern != nil {
		return o.statMatching(ctx)
	}
	req, err := o.request(o.t.Locator, nil)
	if err != nil {
		o.fail(o.t, err)
		return nil
	}
	l, isWeb := o.t.Locator.(*locator.HTTP)
	if isWeb = isWeb && !l.HasSearch; isWeb && isFolder(l) && o.statDirectory(ctx, l) {
		return o.out.Err()
	}
	var found *fetch1738.Status
	err = o.repeatedly(ctx, func() error {
		found, err = o.network.ResolverFor(o.t.Locator).StatRequest(ctx, req)
		return err
	})
	if err != nil {
		if !isWeb || isFolder(l) || !isRefusal(err) || !o.statDirectory(ctx, asFolder(l)) {
			o.fail(o.t, err)
		}
		return nil
	}
	o.show(&fetch.Item{Name: output.DecodedName(o.t.Locator, o.t.URL), Locator: found.Locator, Kind: found.Kind, Attributes: found.Attributes}, found.Advice)
	return o.out.Err()
}

// statDirectory shows what a URL of a web server is, if that says by PROPFIND that it is a directory: by HEAD
// it is the page that shows it, or none.
func (o viewer) statDirectory(ctx context.Context, l *locator.HTTP) bool {
	it, isDirectory := webdav(o).isDirectory(ctx, l)
	if isDirectory {
		it.Name = output.DecodedName(l, l.String())
		o.show(&it, "")
	}
	return isDirectory
}

// statMatching shows the entries that match, as the listing has them.
func (o viewer) statMatching(ctx context.Context) error {
	s, err := spotOf(o.t.Locator)
	var d *directory
	if err == nil {
		d, err = o.list(ctx, s.dir, true)
	}
	if err != nil {
		o.fail(o.t, err)
		return nil
	}
	found := d.matching(o.pattern)
	for i := range found {
		o.show(&found[i], "")
	}
	if len(found) == 0 || d.unsure != nil {
		o.fail(o.t, noMatch(d, o.pattern))
	}
	return o.out.Err()
}

// show prints what is at a URL.
func (o viewer) show(it *fetch.Item, advice string) {
	if o.json {
		_ = entry.WriteJSON(o.out, it, o.op.Output.Charset) // o.out keeps the error
		return
	}
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-8s  %s\n", name, stdio.Line(text))
		}
	}
	fmt.Fprintln(&b, stdio.Line(it.Locator.Redacted()))
	kind := it.Kind.String()
	if k := kindOf(it); k == isLink || k == isSpecial {
		kind = k
	}
	line("kind", kind)
	if it.Size >= 0 && it.Kind == fetch.KindDocument { // of a directory it is that of its listing
		line("size", stdio.Count(it.Size, "byte"))
	}
	if !it.ModTime.IsZero() {
		line("modified", it.ModTime.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	if it.Kind == fetch.KindDocument {
		line("type", it.MediaType)
	}
	if target := entry.Field(it, fetch.HeaderLink); target != nil {
		line("target", o.op.Output.Charset.Decode(*target))
	}
	line("advice", advice)
	_, _ = o.out.Write([]byte(b.String())) // o.out keeps the error
}
