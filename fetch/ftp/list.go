package ftp

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/ftplist"
	"github.com/fetch1738/fetch1738/internal/talk"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// items reads a listing as entries. Lines that are none are passed over; they
// are in the Body all the same.
func (a *access) items(ctx context.Context, body io.Reader) iter.Seq2[fetch.Item, error] {
	parse := a.listEntry
	if a.verb == fetch.OpNLST {
		parse = a.nameEntry
	}
	return func(yield func(fetch.Item, error) bool) {
		lines := wire.NewLineReader(wire.ReadAhead(ctx, body), a.limits.Line)
		now := time.Now()
		unread := "" // a line that says nothing to us
		for n := 0; ; {
			line, err := lines.ReadLine()
			if err == io.EOF && (n > 0 || unread == "") {
				return
			}
			if err == io.EOF {
				err = talk.Violation(unread, "a listing of which no line is understood")
			}
			if err == wire.ErrLineTooLong {
				err = &fetch.Error{Kind: fetch.ErrTooLarge, Err: err}
			}
			if err != nil {
				yield(fetch.Item{}, a.fail(a.verb, err))
				return
			}
			text := string(wire.TrimEOL(line))
			item, ok := parse(text, now)
			if !ok {
				if a.verb != fetch.OpNLST && ftplist.Strange(text, now) {
					unread = text
				}
				continue
			}
			if n++; a.limits.Items > 0 && n > a.limits.Items {
				yield(fetch.Item{}, a.fail(a.verb, &fetch.Error{Kind: fetch.ErrTooLarge, Err: errors.New("too many entries")}))
				return
			}
			if !yield(item, nil) {
				return
			}
		}
	}
}

// listEntry reads a line of LIST.
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
	return item, true
}

// HeaderPerm is the field of an Item's Header that says what may be done with
// the entry, in the letters of RFC 3659 §7.5.5; only where MLSD lists.
const HeaderPerm = "perm"

// nameEntry reads a line of NLST. Servers differ in what they put before the
// name: nothing, the argument, a whole path. The name alone is what counts, and
// the directory it is in is the one that was asked for.
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

// listed is the directory listed, as arguments of CWD. A path within one
// component stays in one.
func (a *access) listed() []string {
	if a.loc.Name == "" {
		return a.loc.CWD
	}
	return append(slices.Clip(a.loc.CWD), a.loc.Name)
}

// entry locates an entry of a directory, on the same server and by the same
// login.
func (a *access) entry(dir []string, name string) *locator.FTP {
	return &locator.FTP{Server: a.loc.Server, CWD: slices.Clone(dir), Name: name, HasPath: true, Secure: a.loc.Secure}
}
