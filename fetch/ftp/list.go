package ftp

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/internal/ftplist"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// items returns the entries of a listing. It skips lines that are not entries; Body
// contains them, and info counts them.
func (r runner) items(a *access, body io.Reader, info *Info) iter.Seq2[fetch.Item, error] {
	info.Facts, info.Names = a.verb == "MLSD", a.verb == "NLST" && !a.byNames
	info.Hides = !info.Facts
	return func(yield func(fetch.Item, error) bool) {
		l := &lister{runner: r, access: a, info: info, yield: yield}
		if readsNames(a) && a.verb == "LIST" {
			l.merge = new(ftplist.Merge)
		}
		l.dir, l.paths = a.listed(info.EntryPath)
		if l.read(wire.ReadAhead(r.ctx, body, a.req.Stream)) { // the loop may fetch the entries over this session
			l.conclude()
		}
	}
}

// A lister yields the entries of a listing.
type lister struct {
	runner
	*access
	info    *Info
	yield   func(fetch.Item, error) bool
	text    *listing
	dir     []string // that is listed, as arguments of CWD
	paths   []string // that servers may write before its names
	n       int      // entries so far
	unread  string   // the first line that was not understood
	cut     string   // the last line, if it has no line end and is an entry
	held    heldBack
	merge   *ftplist.Merge // nil if NLST does not take the place of lines that are not understood
	ended   bool           // nothing takes the place of lines that are not understood any more
	withAll bool           // names are those of NLST -a
}

// heldBack is what is held until the end of a listing.
type heldBack struct {
	lines  []string // of the merge that were not understood, if they are to be reported
	names  []string // of NLST in place of LIST, which have no kinds yet
	octets int      // of both
}

// emit yields an entry. It reports whether more are wanted.
func (l *lister) emit(e ftplist.Entry, line string) bool {
	if l.n++; l.limits.Items > 0 && l.n > l.limits.Items {
		return l.fails(&fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("the listing has more than %d entries", l.limits.Items)})
	}
	return l.yield(l.item(l.dir, e, line), nil)
}

// fails yields the error of the listing, after which there is nothing more.
func (l *lister) fails(err error) bool {
	l.yield(fetch.Item{}, l.fail(l.verb, err))
	return false
}

// read reads a listing and yields its entries, but holds names whose kinds are to be asked for. It
// reports whether it has come to its end.
func (l *lister) read(text io.Reader) bool {
	l.text = newListing(text, l.limits.Line, ftplist.Parser{Dirs: l.paths, Names: l.verb == "NLST", Now: time.Now()})
	for {
		parsed, err := l.text.next()
		switch {
		case err == wire.ErrLineTooLong:
			return l.fails(&fetch.Error{Kind: fetch.ErrTooLarge, Err: err})
		case err != nil && err != io.EOF:
			return l.fails(err)
		case l.text.isCut && err == nil:
			l.cut = l.text.last
		}
		for _, p := range parsed {
			if !l.take(p) {
				return false
			}
		}
		if err == io.EOF {
			return true
		}
	}
}

// take handles a line of a listing.
func (l *lister) take(p ftplist.Line) bool {
	if l.merge != nil {
		l.merge.Add(p)
	}
	l.info.Hides = l.info.Hides && !strings.HasPrefix(p.Entry.Name, ".")
	switch {
	case p.Class == ftplist.Unread:
		l.unread, l.cut = cmp.Or(l.unread, p.Text), ""
		return l.skip(p.Text)
	case p.Class != ftplist.Entries:
		return true
	case l.verb == "NLST" && readsNames(l.access):
		l.held.names = append(l.held.names, p.Entry.Name)
		return l.holds(p.Entry.Name)
	}
	return l.emit(p.Entry, p.Text)
}

// holds counts what is held until the end of the listing.
func (l *lister) holds(text string) bool {
	if l.held.octets += len(text); l.held.octets > maxListing {
		return l.fails(&fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("the names of the listing have more than %d bytes", maxListing)})
	}
	return true
}

// conclude handles the end of the listing.
func (l *lister) conclude() {
	if l.info.Unread > 0 && !l.text.isCut && l.lacksFacts() && l.withoutFacts() {
		return
	}
	if l.merge != nil && l.info.Unread > 0 {
		if rest, ok := l.merged(); ok {
			l.held.names, l.held.lines, l.info.Unread, l.unread = rest, nil, 0, ""
		} else if err := l.ctx.Err(); err != nil {
			l.fails(err)
			return
		}
	}
	for _, line := range l.held.lines {
		l.opt.Unread(line)
	}
	if !l.askKinds(l.held.names) {
		return
	}
	err := l.endOfListing(l.n, l.unread, l.info)
	if l.denied != nil && !l.text.begun && err == nil {
		err = l.denied // ProFTPD lists a directory that may not be read as if it were empty
	}
	if l.cut != "" {
		l.ended = true
		l.skip(l.cut)
	}
	if err != nil {
		l.fails(err)
	}
}

// merged returns the names that the lines of a listing stand for that were not understood. ok is
// false if NLST is refused, or does not show them.
func (l *lister) merged() (rest []string, ok bool) {
	for _, hidden := range slices.Compact([]bool{l.hidden, false}) { // -a first, if LIST had it
		names, dots, err := l.listNames(l.access, hidden, l.paths)
		l.info.Hides = l.info.Hides && !dots
		if err != nil {
			continue
		}
		if rest, ok = l.merge.Rest(names); ok {
			l.withAll = hidden
			l.trace.Note("the listing has lines that are not understood; NLST, SIZE, MDTM and CWD replace them")
			return rest, true
		}
	}
	return nil, false
}

// askKinds yields the entries of names, with what SIZE, MDTM and CWD say about them.
func (l *lister) askKinds(names []string) bool {
	q := &inquiry{access: l.access}
	l.info.Asked = l.info.Asked || len(names) > 0
	for group := range slices.Chunk(names, askedAtOnce) {
		entries, err := l.inquire(q, group)
		if err != nil {
			l.yield(fetch.Item{}, err)
			return false
		}
		for _, e := range entries {
			if !l.emit(e, e.Name) {
				return false
			}
		}
	}
	if l.verb == "LIST" && l.n == len(names) && q.found > 0 && !q.uncertain { // NLST has directories, too
		l.memory.namesOnly(l.withAll).add(l.server())
	}
	leavesOut := l.merge != nil && l.merge.Headings > 0 && q.found == 0 // a heading may be a directory
	l.info.Names = l.info.Names || q.uncertain || leavesOut
	return true
}

// skip counts a line that may be an entry. It is reported at once, unless another listing may show it.
func (l *lister) skip(line string) bool {
	switch l.info.Unread++; {
	case l.opt.Unread == nil:
	case l.ended, l.merge == nil && !l.lacksFacts():
		l.opt.Unread(line)
	default:
		l.held.lines = append(l.held.lines, line)
		return l.holds(line)
	}
	return true
}

// endOfListing returns the error of a listing of which nothing was understood. If some lines were
// not, the error is that of the Info. unread is the first of them.
func (a *access) endOfListing(entries int, unread string, info *Info) error {
	switch {
	case unread == "":
		return nil
	case entries == 0:
		return talk.Violation(unread, "the format of the listing is not supported")
	case info.Unread == 1:
		info.unread = a.fail(a.verb, talk.Violation(unread, "a line of the listing is not understood"))
	default:
		info.unread = a.fail(a.verb, talk.Violation(unread, fmt.Sprintf("%d lines of the listing are not understood", info.Unread)))
	}
	return nil
}

// lacksFacts reports whether LIST may take the place of a listing by MLSD: no line has been understood.
func (l *lister) lacksFacts() bool { return l.verb == "MLSD" && l.n == 0 && readsNames(l.access) }

// withoutFacts yields the entries of a listing by LIST in place of one by MLSD of which no line has
// facts. It reports false if LIST is refused.
func (l *lister) withoutFacts() bool {
	l.memory.noFacts.add(l.server())
	a := *l.access
	a.opt.Facts, a.fellBack = false, false
	a.becomeListing()
	a.hidden = a.asksHidden()
	res, err := l.resource(&a)
	if err != nil {
		return false
	}
	if res.Body != nil {
		defer res.Body.Close()
	}
	l.trace.Note("the lines of MLSD have no facts; LIST replaces it")
	for item, err := range res.Items {
		if !l.yield(item, err) {
			break
		}
	}
	info := res.Info.(*Info)
	l.info.Unread, l.info.unread, l.info.Names, l.info.Asked, l.info.Facts, l.info.Hides = info.Unread, info.unread, info.Names, info.Asked, false, info.Hides
	return true
}

// item returns the Item of an entry of a directory, which is given as arguments of CWD. line is that
// of the entry.
func (a *access) item(dir []string, e ftplist.Entry, line string) fetch.Item {
	if a.verb == "NLST" && strings.TrimPrefix(line, "./") == a.loc.Name {
		dir = a.loc.CWD // the argument was a file
	}
	l := &locator.FTP{Server: a.loc.Server, CWD: slices.Clone(dir), Name: e.Name, HasPath: true, Secure: a.loc.Secure}
	item := fetch.Item{Name: e.Name, Locator: l, Attributes: fetch.Attributes{Size: e.Size, ModTime: e.ModTime}}
	switch e.Type {
	case ftplist.Dir:
		l.CWD, l.Name = append(l.CWD, e.Name), ""
		item.Kind = fetch.KindDirectory
	case ftplist.Link:
		item.Header = []fetch.Field{{Name: fetch.HeaderLink, Value: e.Target}}
	case ftplist.Other:
		item.Header = []fetch.Field{{Name: fetch.HeaderSpecial}}
	}
	if e.Perm != "" {
		item.Header = append(item.Header, fetch.Field{Name: HeaderPerm, Value: e.Perm})
	}
	if e.Unique != "" && e.Type == ftplist.Dir && !e.ModTime.IsZero() {
		item.Header = append(item.Header, fetch.Field{Name: HeaderUnique, Value: e.Unique + " " + strconv.FormatInt(e.ModTime.UnixMilli(), 10)})
	}
	return item
}

// HeaderUnique is a field of Item.Header of a directory: it is the same in all paths that lead to
// the directory, such as symbolic links (RFC 3659 §7.5.2), which MLSD may list as directories. Only
// listings by MLSD have it. It is made of the facts unique and modify: some servers give the same
// unique to all directories, and a walk would leave them out, with success.
const HeaderUnique = "unique"

// HeaderPerm is a field of Item.Header: what the user may do with the entry, in the letters
// of RFC 3659 §7.5.5. Only listings by MLSD have it.
const HeaderPerm = "perm"
