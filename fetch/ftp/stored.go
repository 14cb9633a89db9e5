package ftp

import (
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/internal/ftplist"
)

// Some servers store a file under another name than the one that was sent: without the space at its
// end, only up to the first space, with "_" in place of a TAB, or in another charset. They change the
// name in SIZE and CWD in the same way, so that only a listing shows it.

// notListed returns the error of a name that the server has accepted, and does not list.
func notListed(name string) error {
	return &fetch.Error{Kind: fetch.ErrNotFound, Err: fmt.Errorf("the server accepts the name %q, but does not list it: it may have changed the name; choose another one", path.Base(name))}
}

// maxListing is how many bytes of a listing are read at most to find a name. A server that sends
// more is assumed never to stop.
const maxListing = 64 << 20

// lists reports whether each part of a path that servers may change is listed in its directory.
func (t transfer) lists(name string) (bool, error) {
	for at := range len(name) {
		if at > 0 && name[at] == '/' {
			if listed, err := t.listsLast(name[:at]); err != nil || !listed {
				return listed, err
			}
		}
	}
	return t.listsLast(name)
}

// listsLast reports whether a directory lists a name that servers may change. It reports true if the
// listing does not show it: if the server refuses to list, lists nothing or a part only, or may leave
// out the name because it begins with a dot. A name that is special for its spaces only must be listed as its
// first word: other servers do not list what is uploaded. The error is that of the session.
func (t transfer) listsLast(name string) (bool, error) {
	dir, base := path.Split(strings.TrimRight(name, "/"))
	if !looksFor(t.access) || !t.mayChange(base) || base == "." || base == ".." {
		return true, nil
	}
	if dir != "/" {
		dir = strings.TrimSuffix(dir, "/")
	}
	verb := "LIST"
	if facts, err := t.listsFacts(); err != nil {
		return false, err
	} else if facts {
		verb = "MLSD"
	}
	line := lineOf(verb, t.spelled(dir))
	err := t.perform(line, func(command string) error { return t.start(command, 0) })
	found, others, partial := false, false, verb == "LIST" && strings.HasPrefix(base, ".")
	first, _, _ := strings.Cut(base, " ")
	onlySpaces := !t.mayChange(strings.ReplaceAll(base, " ", "_")) && strings.Trim(base, " ") == base
	if err == nil {
		text := &io.LimitedReader{R: t.data, N: maxListing}
		lines := newListing(text, t.access.limits.Line, ftplist.Parser{Dirs: []string{"./", dir + "/", "./" + dir + "/"}, Now: time.Now()})
		for end := error(nil); end == nil; {
			var parsed []ftplist.Line
			parsed, end = lines.next()
			for _, l := range parsed {
				entry := l.Class == ftplist.Entries
				found, others = found || entry && l.Entry.Name == base, others || entry && (!onlySpaces || l.Entry.Name == first)
				partial = partial || l.Class == ftplist.Unread
			}
			partial = partial || end != nil && (end != io.EOF || text.N <= 0)
		}
		err = t.finish(false)
	}
	if err != nil && (t.ctl.Err != nil || t.ctx.Err() != nil) {
		return false, err
	}
	return err != nil || found || partial || !others, nil
}
