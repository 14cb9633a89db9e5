package gateway

import (
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/internal/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// directoryPages show directories of FTP and Prospero, and send listings and folders to programs.
type directoryPages struct{ *visit }

const (
	pageRows    = 5000 // on a page for a browser
	unreadLines = 100  // that are shown
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
	res, err := v.h.resolver().Fetch(v.context(), req)
	if err != nil {
		return err
	}
	defer res.Close()
	if format != nil {
		return v.formatted(res, format)
	}
	return v.list(res, unread)
}

// directory shows a directory that is not on an FTP server.
func (v directoryPages) directory(res *fetch.Resource) error { return v.list(res, new(unread)) }

// list shows a directory.
func (v directoryPages) list(res *fetch.Resource, unread *unread) error {
	entries, stop, err := begun(v.entries(res.Items))
	defer stop()
	status := http.StatusOK
	if err != nil {
		if unread.Count == 0 {
			return err
		}
		status = http.StatusBadGateway // none of the lines is an entry
	}
	d := &directory{v: v.visit, res: res, entries: entries, Unread: unread, Of: heading(v.loc), number: 1}
	d.choose()
	if d.order != "" {
		sorted, err := d.sorted()
		if err != nil {
			return err
		}
		d.entries = sorted
	} else {
		d.entries = foldersFirst(d.entries)
	}
	if info, ok := res.Info.(*ftp.Info); ok {
		d.Message = v.linked(severalLines(info.Message))
		d.Greeting = v.linked(strings.TrimSpace(info.Greeting + "\n" + severalLines(info.Welcome)))
	}
	p := &page{Data: d}
	if !v.native {
		here := v.linkTo(v.loc)
		p.Links = []crumb{{"raw", here.With("raw"), true}, {"explain", here.With("explain"), true}, {"download all", here.With("tar"), true}}
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

// A directory is what the template directory.html shows.
type directory struct {
	v       *visit
	res     *fetch.Resource
	entries iter.Seq2[dirEntry, error] // in the order in which they are shown
	order   string                     // "name", "size" or "time", with "-" for the reverse; empty for that of the server
	number  int                        // of the page
	paged   bool
	more    bool      // there is a next page
	readme  *dirEntry // a text about the directory; nil if the directory has no such file

	Of       string  // the directory
	Message  []piece // of the server, about the directory
	Greeting []piece // of the server, to each of its users
	Unread   *unread
	Files    int
	Folders  int
	Bytes    int64
}

// choose reads the query of the page.
func (d *directory) choose() {
	if d.v.native {
		return
	}
	switch order := d.v.query.Get("sort"); strings.TrimPrefix(order, "-") {
	case "name", "size", "time":
		d.order = order
	}
	if d.paged = d.v.r.Header.Get("Sec-Fetch-Mode") != ""; d.paged {
		if n, err := strconv.Atoi(d.v.query.Get("page")); err == nil {
			d.number = max(1, n)
		}
	}
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
	if d.v.native || !d.v.accepts("text/html") {
		return columns
	}
	for i, by := range []string{"name", "", "size", "time"} {
		if by == "" {
			continue
		}
		to := by
		switch d.order {
		case by:
			columns[i].Order, to = "ascending", "-"+by
		case "-" + by:
			columns[i].Order = "descending"
		}
		columns[i].Link = d.v.linkTo(d.v.loc).With("sort=" + to)
	}
	return columns
}

// A fileRow is a row of the table. Everything in it is text that is ready to be shown.
type fileRow struct {
	Href   string // relative to the page; if empty, Link counts
	Link   place.Link
	Text   string
	Target string // of a symbolic link
	Kind   string
	Size   string // in bytes; empty if it is not known
	Short  string // the same for people
	Time   string // empty if it is not known
	When   string
}

// Rows are the rows of the table. The row is valid until the next one. If the listing fails, the
// rows end, and the response is broken off after the page.
func (d *directory) Rows() iter.Seq[*fileRow] {
	return func(yield func(*fileRow) bool) {
		var row fileRow
		skip, n := (d.number-1)*pageRows, 0
		for e, err := range d.entries {
			if err != nil {
				d.v.err = err
				return
			}
			if n++; n <= skip {
				continue
			}
			if d.paged && n > skip+pageRows {
				d.more = true
				d.res.Close()
				return
			}
			d.count(&e)
			e.fill(&row)
			if !yield(&row) {
				return
			}
			if d.v.flush != nil && (n == skip+1 || n == skip+heldRows) {
				d.v.flush()
			}
		}
	}
}

// count counts an entry that is shown.
func (d *directory) count(e *dirEntry) {
	if e.kind == kindFolder {
		d.Folders++
		return
	}
	if d.Files++; e.size > 0 {
		d.Bytes += e.size
	}
	d.notice(*e)
}

// notice remembers the entry if it is a text about the directory.
func (d *directory) notice(e dirEntry) {
	if d.readme == nil && e.more != nil && e.more.at != nil {
		d.readme = &e
	}
}

// Cut says why the listing ended early; it is empty if it is whole.
func (d *directory) Cut() string { return d.v.cut() }

// Whole reports whether the page has the whole directory.
func (d *directory) Whole() bool { return d.v.err == nil && d.number == 1 && !d.more }

// Empty reports whether the page has no rows.
func (d *directory) Empty() bool { return d.Files+d.Folders == 0 }

// Total is the size of all files of the page.
func (d *directory) Total() string { return sizeText(d.Bytes) }

// Page is the number of the page.
func (d *directory) Page() int { return d.number }

// Previous is the link to the page before this one.
func (d *directory) Previous() place.Link {
	if d.number == 1 {
		return place.Link{}
	}
	return d.page(d.number - 1)
}

// Next is the link to the page after this one.
func (d *directory) Next() place.Link {
	if !d.more {
		return place.Link{}
	}
	return d.page(d.number + 1)
}

// page is the link to a page of the directory, in the same order.
func (d *directory) page(n int) place.Link {
	to := d.v.linkTo(d.v.loc)
	if d.order != "" {
		to = to.With("sort=" + d.order)
	}
	return to.With("page=" + strconv.Itoa(n))
}

// A readme is a text of the directory about it.
type readme struct {
	Name string
	Text []piece
	Cut  bool // there is more of it
}

// Readme fetches the text about the directory, for a person. It is nil if there is no such file.
func (d *directory) Readme() *readme {
	if d.readme == nil || d.number > 1 || d.v.err != nil || d.v.native || !d.v.accepts("text/html") {
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
	r.Text = d.v.linked(charset.Guess(text).Decode(string(text)))
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
	text := ""
	if i := strings.LastIndexByte(reply, '\n'); i >= 0 {
		text = reply[:i]
	}
	return text
}
