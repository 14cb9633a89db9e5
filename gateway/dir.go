package gateway

import (
	"context"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/gateway/internal/packed"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/textview"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// directoryPages show directories of FTP and Prospero, and send listings and folders to programs.
type directoryPages pages

// isFolder reports whether the Locator is a directory of an FTP server.
func (v directoryPages) isFolder() bool {
	return isA[*locator.FTP](v.req) && !place.IsDocument(v.req.loc)
}

// folder shows a directory of an FTP server.
func (v directoryPages) folder() error {
	req, format := v.up.request(v.req.loc), formatOf(v.req)
	l, ok := v.req.loc.(*locator.FTP)
	if head := v.req.r.Method == http.MethodHead; head || ok && l.Type == 'd' { // a CWD says whether the directory is there
		_, err := v.up.attributes(req)
		switch {
		case err != nil:
			return err
		case head && format != nil:
			return v.out.formatted(v.req, nil, format)
		case head:
			return v.out.render(v.req, "directory", http.StatusOK, &page{})
		}
	}
	unread := new(unread)
	req.Options = &ftp.Options{Facts: true, Unread: unread.add}
	ctx, cancel := context.WithCancel(v.up.ctx)
	defer cancel()
	res, err := v.up.resolver.Fetch(ctx, req)
	if err != nil {
		return err
	}
	defer res.Close()
	if format != nil {
		return v.out.formatted(v.req, res, format)
	}
	return v.list(&directory{res: res, listing: listing{cancel: cancel}, Unread: unread})
}

// directory shows a directory that is not on an FTP server.
func (v directoryPages) directory(res *fetch.Resource) error {
	return v.list(&directory{res: res, Unread: new(unread)})
}

// list shows a directory.
func (v directoryPages) list(d *directory) error {
	res, unread := d.res, d.Unread
	d.v, d.out, d.Of, d.Person = v, v.out, place.Heading(v.req.loc), !v.req.native && v.req.accepts("text/html")
	d.Choice = choiceOf(v.req, d.Archive != nil)
	if d.entries == nil {
		d.entries = entriesOf(v.req, res.Items)
	}
	stop, err := d.gather(v.req.loc, d.entries)
	defer stop()
	status := http.StatusOK
	if err != nil {
		if unread.Count == 0 {
			return err
		}
		status = http.StatusBadGateway // none of the lines is an entry
	}
	d.UTC = d.UTC || isA[*locator.Prospero](v.req)
	if info, ok := res.Info.(*ftp.Info); ok {
		d.UTC = info.Facts
		d.Message = v.req.linked(severalLines(info.Message))
		d.Greeting = v.req.linked(strings.TrimSpace(info.Greeting + "\n" + severalLines(info.Welcome)))
	}
	p := &page{Main: d}
	if !v.req.native {
		here := v.req.linkTo(v.req.loc)
		p.Actions = append([]crumb{{"Download folder", here.With("tar"), true}}, rawAndHow(here)...)
		if d.Archive != nil {
			p.Actions = []crumb{{"Download archive", here.With("raw"), true}, {"How it was fetched", here.With("explain"), true}}
			d.Of = strings.TrimSuffix(d.Of+" "+visible.Name(v.req.query.Get("in")), " ")
		}
	}
	return v.out.render(v.req, "directory", status, p)
}

// An unread collects the lines of a listing that are not entries.
type unread struct {
	Lines []string // the first ones
	Count int
}

// add counts a line, and keeps the first ones to be shown.
func (u *unread) add(line string) {
	if u.Count++; len(u.Lines) < unreadLines {
		u.Lines = append(u.Lines, visible.Name(line))
	}
}

// More is the number of lines that are not shown.
func (u *unread) More() int { return u.Count - len(u.Lines) }

// A directory is the data of the page of one.
type directory struct {
	v   directoryPages
	res *fetch.Resource
	listing

	Of       string           // the directory
	Archive  packed.Archive   // that the directory is in; nil if it is on the server
	Person   bool             // the page is for a person, who can follow links with a query
	UTC      bool             // the times are; otherwise the server does not say their zone
	Message  []textview.Piece // of the server, about the directory
	Greeting []textview.Piece // of the server, to each of its users
	Unread   *unread
}

// A column is the head of one.
type column struct {
	Text  string
	Link  place.Link // sorts by the column
	Order string     // the value of aria-sort, or empty
}

// Columns are the columns of the table.
func (d *directory) Columns() []column {
	columns := []column{{Text: "Name"}, {Text: "Kind"}, {Text: "Size"}, {Text: "Modified"}}
	if !d.Person {
		return columns
	}
	order := d.Choice.Order
	if order == "" && d.Known {
		order = "name"
	}
	for i, by := range []string{"name", "", "size", "time"} {
		if by == "" {
			continue
		}
		c := d.Choice
		c.Order, c.Page = by, 0
		switch order {
		case by:
			columns[i].Order, c.Order = "ascending", "-"+by
		case "-" + by:
			columns[i].Order = "descending"
		}
		columns[i].Link = c.link(d.v.req.here())
	}
	return columns
}

// Parent is the link to the folder that has this one; empty if that is not known.
func (d *directory) Parent() place.Link {
	if d.Archive != nil {
		return packedParent(d.v.req)
	}
	l, ok := d.v.req.loc.(*locator.FTP)
	if !ok || !d.v.req.accepts("text/html") || len(l.CWD) == 0 && l.Name == "" {
		return place.Link{}
	}
	parent := *l
	if parent.Type = 0; l.Name == "" {
		parent.CWD = l.CWD[:len(l.CWD)-1]
	}
	parent.Name = ""
	return d.v.req.linkTo(&parent)
}

// Form is the address of the form for the filter, and the query that stays.
func (d *directory) Form() (f struct {
	Action place.Link
	Hidden []fetch.Field
}) {
	c := d.Choice
	c.Filter, c.Page = "", 0
	f.Action, f.Hidden = c.link(d.v.req.here()).Form()
	return f
}

// View is the link to the pictures, or from them or the sounds to all files.
func (d *directory) View() place.Link {
	c := d.Choice
	c.Grid, c.Play, c.Page = !c.Grid && !c.Play, false, 0
	return c.link(d.v.req.here())
}

// Playlist is the link to the sounds.
func (d *directory) Playlist() place.Link {
	c := d.Choice
	c.Grid, c.Play, c.Page = false, true, 0
	return c.link(d.v.req.here())
}

// All is the link to the names that the filter leaves out.
func (d *directory) All() place.Link {
	c := d.Choice
	c.Filter, c.Page = "", 0
	return c.link(d.v.req.here())
}

// Sorted is the link to the whole listing by name.
func (d *directory) Sorted() place.Link {
	c := d.Choice
	c.Order, c.Page = "name", 0
	return c.link(d.v.req.here())
}

// Rows are the rows of the table. The row is valid until the next one. If the listing fails, the
// rows end, and the response is broken off after the page.
func (d *directory) Rows() iter.Seq[*fileRow] {
	return func(yield func(*fileRow) bool) {
		var row fileRow
		look := look{d.Choice, d.Person, d.UTC, d.Archive != nil}
		skip, n := max(0, d.Choice.Page-1)*d.Choice.perPage(), 0
		for e, err := range d.entries {
			if err != nil {
				d.out.err = err
				return
			}
			if n++; n <= skip {
				continue
			}
			if d.Choice.Page > 0 && n > skip+d.Choice.perPage() {
				d.more = true
				d.end()
				d.res.Close()
				return
			}
			if !d.Known {
				d.count(&e)
			}
			look.fill(&row, &e)
			if !yield(&row) {
				return
			}
			if n == skip+1 {
				d.out.flush()
			}
		}
	}
}

// Cut says why the listing ended early; it is empty if it is whole.
func (d *directory) Cut() string { return d.out.cut() }

// Whole reports whether the page has the whole directory.
func (d *directory) Whole() bool { return d.out.err == nil && d.Choice.Page <= 1 && !d.more }

// Pager are the links to the other pages of the listing.
func (d *directory) Pager() pager { return pager{&d.listing, d.v.req.here()} }

// A readme is a text of the directory about it.
type readme struct {
	Name  string
	Text  iter.Seq[textview.Bit]
	Prose iter.Seq[*textview.Block] // instead of Text, if the text is Markdown
	Cut   bool                      // there is more of it
}

// Readme fetches the text about the directory, for a person. It is nil if there is no such file.
func (d *directory) Readme() *readme {
	if d.readme == nil || d.Choice.Page > 1 || d.Choice.Filter != "" || d.out.err != nil || !d.Person {
		return nil
	}
	d.out.flush() // the table
	req := d.v.up.request(d.readme.more.at)
	req.Length = readmeBytes + 1
	res, err := d.v.up.fetch(req)
	if err != nil {
		return nil
	}
	defer res.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, readmeBytes+1))
	if err != nil {
		return nil
	}
	r := &readme{Name: visible.Name(d.readme.name)}
	if r.Cut = len(text) > readmeBytes; r.Cut {
		text = text[:readmeBytes]
	}
	decoded := charset.Guess(text).Decode(string(text))
	if filename.MediaType(d.readme.name) == "text/markdown" {
		r.Prose = markdown(d.v.req, decoded, 2)
	}
	if r.Prose == nil {
		r.Text = textview.Plain(slices.Values(d.v.req.linked(decoded)))
	}
	return r
}

// severalLines is a reply of several lines without its last one, which only ends it. A reply of one
// line says nothing about the server.
func severalLines(reply string) string {
	return reply[:max(0, strings.LastIndexByte(reply, '\n'))]
}
