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
	info.Facts, info.Names = a.verb == "MLSD", a.verb == "NLST"
	return func(yield func(fetch.Item, error) bool) {
		lines := wire.NewLineReader(wire.ReadAhead(ctx, body, a.req.Stream), a.limits.Line)
		dir, paths := a.listed(info.EntryPath)
		parser := ftplist.Parser{Dirs: paths, Names: info.Names, Now: time.Now()}
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
			entry, class := parser.Parse(text)
			if class == ftplist.Unread || !whole {
				info.Unread++
				if a.opt.Unread != nil {
					a.opt.Unread(text)
				}
			}
			if class == ftplist.Unread {
				unread = text
			}
			if class != ftplist.Entries {
				continue
			}
			if n++; a.limits.Items > 0 && n > a.limits.Items {
				yield(fetch.Item{}, a.fail(a.verb, &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("the listing has more than %d entries", a.limits.Items)}))
				return
			}
			if !yield(a.item(dir, entry, text), nil) {
				return
			}
		}
	}
}

// item returns the Item of an entry of a directory, which is given as arguments of CWD. line is that
// of the entry.
func (a *access) item(dir []string, e ftplist.Entry, line string) fetch.Item {
	if a.verb == "NLST" && line == a.loc.Name {
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
// before its names: relative to it, as it was requested, and by the working directory after the login,
// which is empty if it is not known. A path within one component is not split.
func (a *access) listed(home string) (dir, paths []string) {
	dir, arg := a.loc.CWD, a.loc.Name
	if a.verb == "NLST" && strings.ContainsAny(arg, "*?[") {
		arg = strings.TrimSuffix(arg[:strings.LastIndexByte(arg, '/')+1], "/") // the directory of a pattern
	}
	if arg != "" {
		dir = append(slices.Clip(dir), arg)
		paths = append(paths, arg+"/")
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
