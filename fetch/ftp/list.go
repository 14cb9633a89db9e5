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
	info.Facts, info.Names = a.verb == "MLSD", a.verb == "NLST"
	info.Hides = !info.Facts
	return func(yield func(fetch.Item, error) bool) {
		lines := wire.NewLineReader(wire.ReadAhead(ctx, body, a.req.Stream), a.limits.Line)
		dir, paths := a.listed(info.EntryPath)
		parser := ftplist.Parser{Dirs: paths, Names: info.Names, Now: time.Now()}
		var cut, unread string // the last line, if it has no line end; the first line that was not understood
		for n := 0; ; {
			line, err := lines.ReadLine()
			var parsed []ftplist.Line
			switch {
			case err == io.EOF:
				parsed = parser.End()
			case err == nil:
				text := string(wire.TrimEOL(line))
				if line[len(line)-1] != '\n' {
					cut = text
				}
				parsed = parser.Add(text)
			}
			for _, l := range parsed {
				if l.Class == ftplist.Unread {
					unread, cut = cmp.Or(unread, l.Text), ""
					info.skip(l.Text, a.opt.Unread)
				}
				info.Hides = info.Hides && !strings.HasPrefix(l.Entry.Name, ".")
				if l.Class != ftplist.Entries {
					continue
				}
				if n++; a.limits.Items > 0 && n > a.limits.Items {
					yield(fetch.Item{}, a.fail(a.verb, &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("the listing has more than %d entries", a.limits.Items)}))
					return
				}
				if !yield(a.item(dir, l.Entry, l.Text), nil) {
					return
				}
			}
			switch {
			case err == nil:
				continue
			case err == wire.ErrLineTooLong:
				err = &fetch.Error{Kind: fetch.ErrTooLarge, Err: err}
			case err == io.EOF:
				err = a.endOfListing(n, unread, info)
				if cut != "" {
					info.skip(cut, a.opt.Unread)
				}
			}
			if err != nil {
				yield(fetch.Item{}, a.fail(a.verb, err))
			}
			return
		}
	}
}

// skip counts a line that may be an entry.
func (i *Info) skip(line string, report func(line string)) {
	i.Unread++
	if report != nil {
		report(line)
	}
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
// the directory, such as symbolic links (RFC 3659 §7.5.2). Only listings by MLSD have it. It is
// made of the facts unique and modify, because some servers give all directories the same unique: a
// directory must not be taken for another one, and so be left out, by that alone.
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
