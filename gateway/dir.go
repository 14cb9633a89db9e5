package gateway

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/gateway/internal/packed"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/textview"
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// directoryPages show directories of FTP and Prospero, and send listings and folders to programs.
type directoryPages struct{ *visit }

const (
	pageRows    = 500      // on a page for a browser
	heldRows    = 5000     // of a listing whose order is chosen by the gateway
	gridTiles   = 48       // on a page of pictures or sounds
	maxPicture  = 4 << 20  // of a picture that is shown among others
	sortedRows  = 100_000  // of a listing that is sorted on demand
	heldNames   = 32 << 20 // bytes of the names and links of either
	unreadLines = 100      // that are shown
	readmeBytes = 64 << 10
)

// isFolder reports whether v.loc is a directory of an FTP server.
func (v *visit) isFolder() bool { return isA[*locator.FTP](v) && !isDocument(v.loc) }

// folder shows a directory of an FTP server.
func (v directoryPages) folder() error {
	req, format := v.request(v.loc), v.format()
	v.prepare(req)
	l, ok := v.loc.(*locator.FTP)
	if head := v.r.Method == http.MethodHead; head || ok && l.Type == 'd' { // a CWD says whether the directory is there
		_, err := v.h.resolver().FindAttributes(v.context(), req)
		switch {
		case err != nil:
			return err
		case head && format != nil:
			return v.formatted(nil, format)
		case head:
			return v.render("directory", http.StatusOK, &page{})
		}
	}
	unread := new(unread)
	req.Options = &ftp.Options{Facts: true, Unread: unread.add}
	ctx, cancel := context.WithCancel(v.context())
	defer cancel()
	res, err := v.h.resolver().Fetch(ctx, req)
	if err != nil {
		return err
	}
	defer res.Close()
	if format != nil {
		return v.formatted(res, format)
	}
	return v.list(&directory{res: res, cancel: cancel, Unread: unread})
}

// directory shows a directory that is not on an FTP server.
func (v directoryPages) directory(res *fetch.Resource) error {
	return v.list(&directory{res: res, Unread: new(unread)})
}

// list shows a directory.
func (v directoryPages) list(d *directory) error {
	res, unread := d.res, d.Unread
	d.v, d.Of, d.Person = v.visit, heading(v.loc), !v.native && v.accepts("text/html")
	d.choose()
	if d.entries == nil {
		d.entries = v.entries(res.Items)
	}
	stop, err := d.gather(d.entries)
	defer stop()
	status := http.StatusOK
	if err != nil {
		if unread.Count == 0 {
			return err
		}
		status = http.StatusBadGateway // none of the lines is an entry
	}
	d.UTC = d.UTC || isA[*locator.Prospero](v.visit)
	if info, ok := res.Info.(*ftp.Info); ok {
		d.UTC = info.Facts
		d.Message = v.linked(severalLines(info.Message))
		d.Greeting = v.linked(strings.TrimSpace(info.Greeting + "\n" + severalLines(info.Welcome)))
	}
	p := &page{Main: d}
	if !v.native {
		here := v.linkTo(v.loc)
		p.Actions = append([]crumb{{"Download folder", here.With("tar"), true}}, rawAndHow(here)...)
		if d.Archive != nil {
			p.Actions = []crumb{{"Download archive", here.With("raw"), true}, {"How it was fetched", here.With("explain"), true}}
			d.Of = strings.TrimSuffix(d.Of+" "+visible(v.query.Get("in")), " ")
		}
	}
	return v.render("directory", status, p)
}

// An unread collects the lines of a listing that are not entries.
type unread struct {
	Lines []string // the first ones
	Count int
}

// add counts a line, and keeps the first ones to be shown.
func (u *unread) add(line string) {
	if u.Count++; len(u.Lines) < unreadLines {
		u.Lines = append(u.Lines, visible(line))
	}
}

// More is the number of lines that are not shown.
func (u *unread) More() int { return u.Count - len(u.Lines) }

// A directory is the data of the page of one.
type directory struct {
	v       *visit
	res     *fetch.Resource
	entries iter.Seq2[dirEntry, error] // in the order in which they are shown
	readme  *dirEntry                  // a text about the directory; nil if the directory has no such file
	cancel  func()                     // ends the access; nil if the listing does not come by and by
	end     func()                     // ends the listing
	more    bool                       // there is a next page

	Of       string // the directory
	Choice   choice
	Archive  packed.Archive // that the directory is in; nil if it is on the server
	Person   bool           // the page is for a person, who can follow links with a query
	UTC      bool           // the times are; otherwise the server does not say their zone
	Known    bool           // all entries are counted before the first one is shown, and sorted
	Message  []piece        // of the server, about the directory
	Greeting []piece        // of the server, to each of its users
	Unread   *unread
	Total    int // entries that were read, also those that the filter leaves out
	// What is counted: the directory if it is known, otherwise the rows so far.
	Files    int
	Pictures int // of the files
	Sounds   int
	Folders  int
	Bytes    int64
}

// A choice is what the query of a page selects.
type choice struct {
	Order  string // "name", "size" or "time", with "-" for the reverse; empty for the usual one
	Filter string // a part of the names that are shown
	Grid   bool   // pictures are shown, with the folders, and nothing else
	Play   bool   // sounds are a list to be played, and nothing else is shown
	Page   int    // 0 for all rows
	// Unsorted is the page with a number in the order of the server.
	Unsorted bool
}

// choose reads the query of the page.
func (d *directory) choose() {
	if d.v.native {
		return
	}
	query, c := d.v.query, &d.Choice
	switch order := query.Get("sort"); strings.TrimPrefix(order, "-") {
	case "name", "size", "time":
		c.Order = order
	}
	c.Filter = strings.TrimSpace(query.Get("filter"))
	c.Grid = query.Has("grid") && d.Archive == nil // each picture would read the archive once more
	c.Play = query.Has("play") && !c.Grid && d.Archive == nil
	if c.Grid || c.Play || d.v.r.Header.Get("Sec-Fetch-Mode") != "" {
		n, _ := strconv.Atoi(query.Get("page"))
		c.Page = min(max(1, n), maxPage)
		c.Unsorted = c.Order == "" && query.Has("page")
	}
}

// link is the link to another choice.
func (d *directory) link(c choice) place.Link {
	to := here(d.v)
	if c.Order != "" {
		to = to.With("sort=" + c.Order)
	}
	if c.Filter != "" {
		to = to.With("filter=" + url.QueryEscape(c.Filter))
	}
	if c.Grid {
		to = to.With("grid")
	}
	if c.Play {
		to = to.With("play")
	}
	if c.Page > 0 {
		to = to.With("page=" + strconv.Itoa(c.Page))
	}
	return to
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
		columns[i].Link = d.link(c)
	}
	return columns
}

// Parent is the link to the folder that has this one; empty if that is not known.
func (d *directory) Parent() place.Link {
	if d.Archive != nil {
		return packedPages{d.v}.parent()
	}
	l, ok := d.v.loc.(*locator.FTP)
	if !ok || !d.v.accepts("text/html") || len(l.CWD) == 0 && l.Name == "" {
		return place.Link{}
	}
	parent := *l
	if parent.Type = 0; l.Name == "" {
		parent.CWD = l.CWD[:len(l.CWD)-1]
	}
	parent.Name = ""
	return d.v.linkTo(&parent)
}

// Form is the address of the form for the filter, and the query that stays.
func (d *directory) Form() (f struct {
	Action place.Link
	Hidden []fetch.Field
}) {
	c := d.Choice
	c.Filter, c.Page = "", 0
	f.Action, f.Hidden = d.link(c).Form()
	return f
}

// View is the link to the pictures, or from them or the sounds to all files.
func (d *directory) View() place.Link {
	c := d.Choice
	c.Grid, c.Play, c.Page = !c.Grid && !c.Play, false, 0
	return d.link(c)
}

// Playlist is the link to the sounds.
func (d *directory) Playlist() place.Link {
	c := d.Choice
	c.Grid, c.Play, c.Page = false, true, 0
	return d.link(c)
}

// All is the link to the names that the filter leaves out.
func (d *directory) All() place.Link {
	c := d.Choice
	c.Filter, c.Page = "", 0
	return d.link(c)
}

// Sorted is the link to the whole listing by name.
func (d *directory) Sorted() place.Link {
	c := d.Choice
	c.Order, c.Page = "name", 0
	return d.link(c)
}

// perPage is the number of rows on a page.
func (d *directory) perPage() int {
	if d.Choice.Grid || d.Choice.Play {
		return gridTiles
	}
	return pageRows
}

// Rows are the rows of the table. The row is valid until the next one. If the listing fails, the
// rows end, and the response is broken off after the page.
func (d *directory) Rows() iter.Seq[*fileRow] {
	return func(yield func(*fileRow) bool) {
		var row fileRow
		skip, n := max(0, d.Choice.Page-1)*d.perPage(), 0
		for e, err := range d.entries {
			if err != nil {
				d.v.err = err
				return
			}
			if n++; n <= skip {
				continue
			}
			if d.Choice.Page > 0 && n > skip+d.perPage() {
				d.more = true
				d.end()
				d.res.Close()
				return
			}
			if !d.Known {
				d.count(&e)
			}
			d.fill(&row, &e)
			if !yield(&row) {
				return
			}
			if d.v.flush != nil && n == skip+1 {
				d.v.flush()
			}
		}
	}
}

// count counts an entry.
func (d *directory) count(e *dirEntry) {
	if e.kind == kindFolder {
		d.Folders++
		return
	}
	if d.Files++; e.size > 0 {
		d.Bytes += e.size
	}
	if e.isPicture() {
		d.Pictures++
	}
	if e.isSound() {
		d.Sounds++
	}
	if d.readme == nil && e.more != nil && e.more.at != nil {
		d.readme = e
	}
}

// Summary is what was counted, in words.
func (d *directory) Summary() string {
	var parts []string
	for _, c := range []struct {
		n    int
		noun string
	}{{d.Folders, "folder"}, {d.Files, "file"}} {
		switch c.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+c.noun)
		default:
			parts = append(parts, strconv.Itoa(c.n)+" "+c.noun+"s")
		}
	}
	if d.Files > 0 {
		parts = append(parts, sizeText(d.Bytes))
	}
	return strings.Join(parts, ", ")
}

// Cut says why the listing ended early; it is empty if it is whole.
func (d *directory) Cut() string { return d.v.cut() }

// Whole reports whether the page has the whole directory.
func (d *directory) Whole() bool { return d.v.err == nil && d.Choice.Page <= 1 && !d.more }

// Empty reports whether nothing was counted.
func (d *directory) Empty() bool { return d.Files+d.Folders == 0 }

// A readme is a text of the directory about it.
type readme struct {
	Name  string
	Text  iter.Seq[textview.Bit]
	Prose iter.Seq[*textview.Block] // instead of Text, if the text is Markdown
	Cut   bool                      // there is more of it
}

// Readme fetches the text about the directory, for a person. It is nil if there is no such file.
func (d *directory) Readme() *readme {
	if d.readme == nil || d.Choice.Page > 1 || d.Choice.Filter != "" || d.v.err != nil || !d.Person {
		return nil
	}
	d.v.flush() // the table
	req := d.v.request(d.readme.more.at)
	d.v.prepare(req)
	req.Length = readmeBytes + 1
	res, err := d.v.h.resolver().Fetch(d.v.context(), req)
	if err != nil {
		return nil
	}
	defer res.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, readmeBytes+1))
	if err != nil {
		return nil
	}
	r := &readme{Name: visible(d.readme.name)}
	if r.Cut = len(text) > readmeBytes; r.Cut {
		text = text[:readmeBytes]
	}
	decoded := charset.Guess(text).Decode(string(text))
	if filename.MediaType(d.readme.name) == "text/markdown" {
		r.Prose = documentPages{d.v}.markdown(decoded, 2)
	}
	if r.Prose == nil {
		r.Text = textview.Plain(slices.Values(d.v.linked(decoded)))
	}
	return r
}

// isReadme reports whether a file has the usual name of a text about its directory.
func isReadme(name string) bool {
	switch strings.ToLower(name) {
	case "readme", "readme.txt", "readme.md", "readme.1st", "read.me", "00readme", "00readme.txt", "!readme", "!readme.txt":
		return true
	}
	return false
}

// severalLines is a reply of several lines without its last one, which only ends it. A reply of one
// line says nothing about the server.
func severalLines(reply string) string {
	return reply[:max(0, strings.LastIndexByte(reply, '\n'))]
}
