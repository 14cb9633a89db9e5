package ftp

import (
	"cmp"
	"context"
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
func (a *access) items(ctx context.Context, body io.Reader, info *Info) iter.Seq2[fetch.Item, error] {
	info.Facts, info.Names = a.verb == "MLSD", a.verb == "NLST" && !a.byNames
	info.Hides = !info.Facts
	return func(yield func(fetch.Item, error) bool) {
		l := &lister{access: a, ctx: ctx, info: info, yield: yield}
		if readsNames(a) && a.verb == "LIST" {
			l.merge = new(ftplist.Merge)
		}
		l.dir, l.paths = a.listed(info.EntryPath)
		if l.read(wire.ReadAhead(ctx, body, a.req.Stream)) { // the loop may fetch the entries over this session
			l.end()
		}
	}
}

// A lister yields the entries of a listing.
type lister struct {
	*access
	ctx     context.Context
	info    *Info
	yield   func(fetch.Item, error) bool
	text    *listing
	dir     []string // that is listed, as arguments of CWD
	paths   []string // that servers may write before its names
	n       int      // entries so far
	unread  string   // the first line that was not understood
	cut     string   // the last line, if it has no line end and is an entry
	held    held
	merge   *ftplist.Merge // nil if NLST does not take the place of lines that are not understood
	ended   bool           // nothing takes the place of lines that are not understood any more
	withAll bool           // names are those of NLST -a
}

// held is what is held until the end of a listing.
type held struct {
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
			if !l.add(p) {
				return false
			}
		}
		if err == io.EOF {
			return true
		}
	}
}

// add handles a line of a listing.
func (l *lister) add(p ftplist.Line) bool {
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

// end handles the end of the listing.
func (l *lister) end() {
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
	if !l.ask(l.held.names) {
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

// UnreadError returns an error if lines of a listing were not understood, so that entries are
// missing in its Items, of the kind [fetch.ErrProtocol]. It is to be called after the loop over
// them. If no line was understood, the loop has had the error.
func UnreadError(res *fetch.Resource) error {
	if info, ok := res.Info.(*Info); ok && info.unread != nil {
		return info.unread
	}
	return nil
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

// listed returns the directory that is listed as arguments of CWD, and the paths that servers write
// before its names: relative to it, as it was requested, and by the working directory after the
// login, which is empty if it is not known. A path within one component is not split.
func (a *access) listed(home string) (dir, paths []string) {
	dir, arg := a.loc.CWD, a.loc.Name
	if a.verb == "NLST" && strings.ContainsAny(arg, "*?[") {
		arg = strings.TrimSuffix(arg[:strings.LastIndexByte(arg, '/')+1], "/") // the directory of a pattern
	}
	if arg != "" {
		dir = append(slices.Clip(dir), arg)
		paths = append(paths, arg+"/", "./"+arg+"/") // see session.trySpellings
	}
	paths = append(paths, "./")
	if slices.ContainsFunc(dir, func(part string) bool { return part == "" || slices.Contains(strings.Split(part, "/"), "..") }) {
		return dir, paths // only the server knows where these lead
	}
	below := ""
	for _, part := range dir {
		if strings.HasPrefix(part, "/") {
			home, below = "", ""
		}
		below += strings.TrimSuffix(part, "/") + "/"
	}
	if below != "" {
		paths = append(paths, below)
	}
	if home != "" {
		paths = append(paths, strings.TrimSuffix(home, "/")+"/"+below)
	}
	return dir, paths
}
