package ftp

import (
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
	parse := a.listEntry
	info.Facts = a.verb == "MLSD"
	if info.Names = a.verb == "NLST"; info.Names {
		parse = a.nameEntry
	}
	return func(yield func(fetch.Item, error) bool) {
		lines := wire.NewLineReader(wire.ReadAhead(ctx, body, a.req.Stream), a.limits.Line)
		now := time.Now()
		unread := "" // a line that was not understood
		for n := 0; ; {
			line, err := lines.ReadLine()
			if err == io.EOF && (n > 0 || unread == "") {
				return
			}
			if err == io.EOF {
				err = talk.Violation(unread, "the format of the listing is not supported")
			}
			if err == wire.ErrLineTooLong {
				err = &fetch.Error{Kind: fetch.ErrTooLarge, Err: err}
			}
			if err != nil {
				yield(fetch.Item{}, a.fail(a.verb, err))
				return
			}
			whole := line[len(line)-1] == '\n'
			text := string(wire.TrimEOL(line))
			item, ok := parse(text, now)
			strange := !ok && a.verb != "NLST" && ftplist.Strange(text, now)
			if strange || !whole {
				info.Unread++
				if a.opt.Unread != nil {
					a.opt.Unread(text)
				}
			}
			if strange {
				unread = text
			}
			if !ok {
				continue
			}
			if n++; a.limits.Items > 0 && n > a.limits.Items {
				yield(fetch.Item{}, a.fail(a.verb, &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("the listing has more than %d entries", a.limits.Items)}))
				return
			}
			if !yield(item, nil) {
				return
			}
		}
	}
}

// listEntry parses a line of LIST or MLSD.
func (a *access) listEntry(line string, now time.Time) (fetch.Item, bool) {
	e, ok := ftplist.Parse(line, now)
	if !ok {
		return fetch.Item{}, false
	}
	l := a.entry(a.listed(), e.Name)
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
	return item, true
}

// HeaderUnique is a field of Item.Header of a directory: it is the same in all paths that lead to
// the directory, such as symbolic links (RFC 3659 §7.5.2). Only listings by MLSD have it. It is
// made of the facts unique and modify, because some servers give all directories the same unique: a
// directory must not be taken for another one, and so be left out, by that alone.
const HeaderUnique = "unique"

// HeaderPerm is a field of Item.Header: what the user may do with the entry, in the letters
// of RFC 3659 §7.5.5. Only listings by MLSD have it.
const HeaderPerm = "perm"

// nameEntry parses a line of NLST. Depending on the server, the name follows nothing, the
// argument or a full path. Only the name is used; the directory is the requested one.
func (a *access) nameEntry(line string, _ time.Time) (fetch.Item, bool) {
	name := line[strings.LastIndexByte(line, '/')+1:]
	if !ftplist.Plain(name) {
		return fetch.Item{}, false
	}
	dir := a.listed()
	if line == a.loc.Name || strings.ContainsAny(a.loc.Name, "*?[") {
		dir = a.loc.CWD // the argument was a file, or a pattern of names
	}
	return fetch.Item{Name: name, Locator: a.entry(dir, name), Attributes: fetch.Attributes{Size: -1}}, true
}

// listed returns the listed directory as arguments of CWD. A path within one component
// is not split.
func (a *access) listed() []string {
	if a.loc.Name == "" {
		return a.loc.CWD
	}
	return append(slices.Clip(a.loc.CWD), a.loc.Name)
}

// entry returns the locator of an entry of a directory, with the same server and login.
func (a *access) entry(dir []string, name string) *locator.FTP {
	return &locator.FTP{Server: a.loc.Server, CWD: slices.Clone(dir), Name: name, HasPath: true, Secure: a.loc.Secure}
}
