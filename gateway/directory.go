package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/internal/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// directoryPages show directories of FTP and Prospero, and send listings and folders to programs.
type directoryPages struct{ *visit }

const (
	heldRows    = 500     // files that wait until the folders have been shown
	pageRows    = 5000    // on a page for a browser
	sortedRows  = 100_000 // of a listing that is sorted
	unreadLines = 100     // that are shown
	readmeBytes = 64 << 10
)

// showsDirectory shows a directory of an FTP server. It reports false for everything else.
func (v directoryPages) showsDirectory() bool {
	l, ok := v.loc.(*locator.FTP)
	if !ok || isDocument(v.loc) {
		return false
	}
	req := v.request(v.loc)
	v.prepare(req)
	if head := v.r.Method == http.MethodHead; head || l.Type == 'd' { // a CWD says whether the directory is there
		if _, err := v.h.resolver().FindAttributes(v.context(), req); err != nil {
			v.failToFetch(err)
			return true
		}
		if head {
			if !v.formatted(nil) {
				v.render("directory", http.StatusOK, &page{})
			}
			return true
		}
	}
	unread := new(unread)
	req.Options = &ftp.Options{Facts: true, Unread: unread.add}
	res, err := v.h.resolver().Fetch(v.context(), req)
	if err != nil {
		v.failToFetch(err)
		return true
	}
	defer res.Close()
	if !v.formatted(res) {
		v.list(res, unread)
	}
	return true
}

// directory shows a directory that is not on an FTP server.
func (v directoryPages) directory(res *fetch.Resource) { v.list(res, new(unread)) }

// list shows a directory.
func (v directoryPages) list(res *fetch.Resource, unread *unread) {
	entries, stop, err := begun(v.entries(res.Items))
	defer stop()
	status := http.StatusOK
	if err != nil {
		if unread.Count == 0 {
			v.failToFetch(err)
			return
		}
		status = http.StatusBadGateway // none of the lines is an entry
	}
	d := &directory{v: v.visit, res: res, entries: entries, Unread: unread, Of: heading(v.loc), number: 1}
	d.choose()
	if d.order != "" {
		sorted, err := d.sorted()
		if err != nil {
			v.failToFetch(err)
			return
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
		p.Links = []crumb{{"raw", here.with("raw"), true}, {"explain", here.with("explain"), true}, {"download all", here.with("tar"), true}}
	}
	v.render("directory", status, p)
}

// An unread collects the lines of a listing that are not entries.
type unread struct {
	Lines []string // the first ones
	Count int
}

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
	Link  link   // sorts by the column
	Order string // the value of aria-sort, or empty
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
		columns[i].Link = d.v.linkTo(d.v.loc).with("sort=" + to)
	}
	return columns
}

// A fileRow is a row of the table. Everything in it is text that is ready to be shown.
type fileRow struct {
	Href   string // relative to the page; if empty, Link counts
	Link   link
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
func (d *directory) Previous() link {
	if d.number == 1 {
		return link{}
	}
	return d.page(d.number - 1)
}

// Next is the link to the page after this one.
func (d *directory) Next() link {
	if !d.more {
		return link{}
	}
	return d.page(d.number + 1)
}

func (d *directory) page(n int) link {
	to := d.v.linkTo(d.v.loc)
	if d.order != "" {
		to = to.with("sort=" + d.order)
	}
	return to.with("page=" + strconv.Itoa(n))
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

// A dirEntry is an entry of a directory, without what takes much memory.
type dirEntry struct {
	name string
	href string // relative to the page
	size int64  // in bytes; -1 if it is not known
	time int64  // in seconds since 1970; noTime if it is not known
	kind kind
	more *entryMore // what few entries have
}

const noTime = math.MinInt64

// entryMore is the part of a dirEntry that is empty for most.
type entryMore struct {
	link   link            // if the entry has no href
	target string          // of a symbolic link
	at     locator.Locator // of a text about the directory
}

// A kind is what an entry is.
type kind uint8

const (
	kindFile kind = iota
	kindFolder
	kindLink
	kindSpecial
	kindOther
)

var kinds = [...]string{"file", "folder", "link", "special", "other"}

// entries are the items of a listing as entries.
func (v directoryPages) entries(items iter.Seq2[fetch.Item, error]) iter.Seq2[dirEntry, error] {
	base, here := "", "./"
	if at, path := place(v.loc), v.r.URL.EscapedPath(); !v.native && strings.HasSuffix(at, "/") && strings.HasSuffix(path, "/") {
		base = v.h.Prefix + at
		if strings.Contains(path, "/./") { // rclone takes only what is below this path for a file
			here = strings.ReplaceAll(path, "/./", "/%2E/")
		}
	}
	return func(yield func(dirEntry, error) bool) {
		for item, err := range items {
			if err != nil {
				yield(dirEntry{}, err)
				return
			}
			if !yield(v.entry(base, here, &item), nil) {
				return
			}
		}
	}
}

// entry is an item as an entry. base is the path of the page if links can be relative to it; they
// then begin with here.
func (v directoryPages) entry(base, here string, item *fetch.Item) dirEntry {
	e := dirEntry{name: item.Name, size: item.Size, time: noTime}
	if !item.ModTime.IsZero() {
		e.time = item.ModTime.Unix()
	}
	var more entryMore
	switch item.Kind {
	case fetch.KindDocument:
	case fetch.KindDirectory, fetch.KindMenu:
		e.kind = kindFolder
	default:
		e.kind = kindOther
	}
	for _, field := range item.Header {
		switch field.Name {
		case fetch.HeaderLink:
			e.kind, more.target = kindLink, field.Value
		case fetch.HeaderSpecial:
			e.kind = kindSpecial
		}
	}
	if e.kind == kindFolder { // what servers call the size of a directory is not that of its files
		e.size = -1
	}
	if e.kind != kindSpecial && item.Name != "" {
		more.link = v.linkTo(item.Locator)
		if name, below := strings.CutPrefix(more.link.Path, base); below && base != "" && name != "" {
			e.href, more.link = here+name, link{}
		}
	}
	if (e.kind == kindFile || e.kind == kindLink) && e.size != 0 && isReadme(e.name) {
		more.at = item.Locator
	}
	if more != (entryMore{}) {
		e.more = new(entryMore)
		*e.more = more
	}
	return e
}

// fill makes a row of the entry.
func (e *dirEntry) fill(row *fileRow) {
	*row = fileRow{Href: e.href, Text: visible(e.name), Kind: kinds[e.kind]}
	if e.more != nil {
		row.Link, row.Target = e.more.link, visible(e.more.target)
	}
	if e.kind == kindFolder {
		row.Text += "/"
	}
	if e.size >= 0 {
		row.Size, row.Short = strconv.FormatInt(e.size, 10), sizeText(e.size)
	}
	if t := time.Unix(e.time, 0).UTC(); e.time != noTime && t.Year() < 10000 {
		row.Time = t.Format("2006-01-02T15:04:05Z")
		row.When = row.Time[:10] + " " + row.Time[11:16]
		if strings.HasSuffix(row.Time, "T00:00:00Z") { // listings by LIST have old times without an hour
			row.Time = row.Time[:10]
			row.When = row.Time
		}
	}
}

// sizeText is a number of bytes for people.
func sizeText(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	f, unit := float64(n)/1024, 0
	for ; f >= 999.5 && unit < 5; unit++ {
		f /= 1024
	}
	decimals := 0
	if f < 9.95 {
		decimals = 1
	}
	return strconv.FormatFloat(f, 'f', decimals, 64) + " " + "KMGTPE"[unit:unit+1] + "iB"
}

// rank is the place of the entry among the others: folders, files, and names with a dot.
func (e *dirEntry) rank() int {
	switch {
	case strings.HasPrefix(e.name, "."):
		return 2
	case e.kind == kindFolder:
		return 0
	}
	return 1
}

// foldersFirst yields folders as they arrive, then the others, then those whose names begin with a
// dot. Of each it holds only the first heldRows; if there are more, they go in the order of the
// server.
func foldersFirst(entries iter.Seq2[dirEntry, error]) iter.Seq2[dirEntry, error] {
	return func(yield func(dirEntry, error) bool) {
		var held [3][]dirEntry
		through := [3]bool{true}
		release := func(rank int) bool {
			for _, e := range held[rank] {
				if !yield(e, nil) {
					return false
				}
			}
			held[rank], through[rank] = nil, true
			return true
		}
		for e, err := range entries {
			if err != nil {
				if release(1) && release(2) {
					yield(dirEntry{}, err)
				}
				return
			}
			rank := e.rank()
			if !through[rank] && len(held[rank]) < heldRows {
				held[rank] = append(held[rank], e)
				continue
			}
			if !release(rank) || !yield(e, nil) {
				return
			}
		}
		_ = release(1) && release(2)
	}
}

// sorted reads the whole listing and sorts it. An error in the middle comes after the entries that
// were received.
func (d *directory) sorted() (iter.Seq2[dirEntry, error], error) {
	var all []*dirEntry
	var failure error
	for e, err := range d.entries {
		if failure = err; err != nil {
			break
		}
		if len(all) == sortedRows {
			err := fmt.Errorf("a listing of more than %d entries cannot be sorted", sortedRows)
			return nil, fetch.Fail(fetch.OpList, d.v.loc, fetch.ErrTooLarge, err)
		}
		d.notice(e)
		e.name = strings.Clone(e.name) // not the whole line of the listing
		all = append(all, &e)
	}
	by, reverse := strings.CutPrefix(d.order, "-")
	if !reverse {
		by = d.order
	}
	slices.SortStableFunc(all, func(a, b *dirEntry) int {
		if c := cmp.Compare(a.rank(), b.rank()); c != 0 {
			return c
		}
		c := 0
		switch by {
		case "size":
			c = cmp.Compare(a.size, b.size)
		case "time":
			c = cmp.Compare(a.time, b.time)
		}
		c = cmp.Or(c, strings.Compare(a.name, b.name))
		if reverse {
			return -c
		}
		return c
	})
	return func(yield func(dirEntry, error) bool) {
		for _, e := range all {
			if !yield(*e, nil) {
				return
			}
		}
		if failure != nil {
			yield(dirEntry{}, failure)
		}
	}, nil
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

// refusedAsFile reports whether a server has refused to send what may be a directory.
func refusedAsFile(err error) bool {
	e, ok := errors.AsType[*fetch.Error](err)
	return ok && e.Op == fetch.OpRETR && e.Code/100 == 5
}

// folder asks the server of v.loc whether the file is a directory. If so, it returns the URL with a
// slash behind it, otherwise nil.
func (v *visit) folder() locator.Locator {
	l, ok := v.loc.(*locator.FTP)
	if !ok || !isDocument(l) {
		return nil
	}
	dir := *l
	dir.CWD, dir.Name, dir.Type = append(slices.Clone(l.CWD), l.Name), "", 0
	req := v.request(&dir)
	v.prepare(req)
	if _, err := v.h.resolver().FindAttributes(v.context(), req); err != nil {
		return nil
	}
	return &dir
}

// withType returns the URL of the file whose name ends in what was taken for the type code of FTP,
// such as ";type=a", if there is such a file and err says that there is no other; otherwise nil.
func (v *visit) withType(err error) locator.Locator {
	l, ok := v.loc.(*locator.FTP)
	if !ok || l.Type == 0 || v.native || fetch.KindOf(err) != fetch.ErrNotFound {
		return nil
	}
	file := *l
	file.Name, file.Type = l.Name+";type="+string(l.Type), 0
	req := v.request(&file)
	v.prepare(req)
	if _, err := v.h.resolver().FindAttributes(v.context(), req); err != nil {
		return nil
	}
	return &file
}
