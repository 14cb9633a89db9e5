package deploy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/deploy/internal/state"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
	"github.com/fetch1738/fetch1738/internal/sync/site"
)

// A listing is what the server has, as far as it was asked for. A web server is asked for single
// files only. Paths are those on the server.
type listing struct {
	*server
	*journal
	dryRun   bool
	dirs     map[string]site.Directory
	unlisted map[string]bool // directories that exist and could not be listed
}

// entry returns what the server has under the path of a file.
func (l *listing) entry(name string) (site.Entry, bool) {
	t, ok := l.dirs[path.Dir(name)].Entries[path.Base(name)]
	return t, ok
}

// add notes an entry of the server.
func (l *listing) add(name string, t site.Entry) {
	dir := path.Dir(name)
	d, ok := l.dirs[dir]
	if !ok || d.Entries == nil {
		d.Entries = make(map[string]site.Entry)
		l.dirs[dir] = d
	}
	d.Entries[path.Base(name)] = t
}

// hides reports whether a listing may not show a file: many servers leave out names with a dot at
// the beginning.
func (l *listing) hides(name string) bool { return !l.isExact(name) && path.Base(name)[0] == '.' }

// isExact reports whether the listing that has a file has times in UTC to the second.
func (l *listing) isExact(name string) bool { return l.dirs[path.Dir(name)].Exact }

// lists reports whether a file is listed with a time.
func (l *listing) lists(name string, t site.Entry, modified time.Time) bool {
	return l.isExact(name) && t.Modified.Equal(modified.UTC().Truncate(time.Second))
}

// isAsSent reports whether the server lists a file as it did when a run sent it.
func (l *listing) isAsSent(rec state.Line, t site.Entry) bool {
	if t.Size >= 0 && t.Size != rec.Size || rec.SHA256 == "" {
		return false
	}
	if !rec.Stored.IsZero() {
		return t.Modified.Equal(rec.Stored)
	}
	return t.Modified.IsZero() && l.hides(rec.File) || l.lists(rec.File, t, rec.Modified)
}

// lacks reports whether it is certain that the server has no more in a directory than it lists.
func (l *listing) lacks(dir string) bool {
	if d, ok := l.dirs[dir]; ok {
		return d.IsWhole()
	}
	above, ok := l.dirs[path.Dir(dir)]
	if !ok && dir != "." {
		return l.lacks(path.Dir(dir))
	}
	_, there := above.Entries[path.Base(dir)]
	return ok && !there && above.IsWhole()
}

// left returns a function that reports whether the server may still have a file of which it has
// said that it does not exist: vsftpd gives the same reply to DELE if the user may not delete the
// file. isListed says that it is sure.
func (l *listing) left(ctx context.Context, dir string) func(name string) (left, isListed bool) {
	if l.Web {
		return func(string) (bool, bool) { return false, false }
	}
	list := sync.OnceValues(func() (site.Directory, error) { return l.list(ctx, dir) })
	return func(name string) (bool, bool) {
		d, err := list()
		_, there := d.Entries[name]
		return there || d.Partial || l.hides(path.Join(dir, name)) || err != nil && !errors.Is(err, fs.ErrNotExist), there
	}
}

// survey lists the directories of places that exist. Others are not looked at.
func (l *listing) survey(ctx context.Context, places map[string]bool) error {
	if l.Web {
		return nil
	}
	wanted := map[int][]string{}
	for dir := range places {
		if dir != "." {
			depth := strings.Count(dir, "/")
			wanted[depth] = append(wanted[depth], dir)
		}
	}
	if err := l.listTop(ctx); err != nil {
		return err
	}
	for depth := 0; len(wanted[depth]) > 0; depth++ {
		var dirs []string
		for _, dir := range wanted[depth] {
			if above, ok := l.dirs[path.Dir(dir)]; ok && (above.Entries[path.Base(dir)].Dir || !above.IsWhole() || path.Base(dir)[0] == '.') {
				dirs = append(dirs, dir)
			}
		}
		slices.Sort(dirs)
		l.listAll(ctx, dirs)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// listTop lists the directory of the URL, once.
func (l *listing) listTop(ctx context.Context) error {
	if _, ok := l.dirs["."]; ok {
		return nil
	}
	top, err := l.listStart(ctx)
	if err != nil {
		l.fail(ctx, ".", true, pool.Over(err))
		return err
	}
	l.dirs["."] = top
	return nil
}

// listStart lists the directory of the URL. If it does not exist, it is created, but for a dry run.
func (l *listing) listStart(ctx context.Context) (d site.Directory, err error) {
	d, err = l.list(ctx, ".")
	if errors.Is(err, fs.ErrNotExist) || isRefused(err) {
		if l.dryRun {
			return site.Directory{}, nil
		}
		err = l.try(ctx, func() error { d, err = l.Create(ctx); return err })
	}
	if err == nil {
		l.listed(".", d)
	}
	return d, err
}

// listAll lists directories, several at once.
func (l *listing) listAll(ctx context.Context, dirs []string) {
	lists, failed := make([]*site.Directory, len(dirs)), make([]bool, len(dirs))
	l.each(ctx, len(dirs), func(i int, _ func() bool) error {
		return l.try(ctx, func() error {
			d, err := l.List(ctx, components(dirs[i]))
			if err == nil {
				lists[i] = &d
				l.listed(dirs[i], d)
			}
			return err
		})
	}, func(i int, err error) {
		if t, _ := l.entry(dirs[i]); t.Dir || !errors.Is(err, fs.ErrNotExist) {
			l.fail(ctx, dirs[i], true, err)
			failed[i] = true
		}
	})
	for i, dir := range dirs {
		if d := lists[i]; d != nil {
			l.dirs[dir] = *d
		}
		if failed[i] {
			l.unlisted[dir] = true
		}
	}
}

// lookAll finds out what a web server has.
func (l *listing) lookAll(ctx context.Context, files []*file) {
	found := make([]*site.Entry, len(files))
	l.each(ctx, len(files), func(i int, _ func() bool) error {
		return l.try(ctx, func() error {
			t, ok, err := l.Look(ctx, components(files[i].path))
			if ok {
				found[i] = &t
			}
			return err
		})
	}, func(i int, err error) {
		l.failFile(ctx, files[i], err)
	})
	for i, t := range found {
		if t != nil {
			l.add(files[i].path, *t)
		}
	}
}

// missing returns why a file or directory that the server has taken is not in its listing.
func (l *listing) missing(what, name string) error {
	base := path.Base(name)
	for other := range l.dirs[path.Dir(name)].Entries {
		if sameName(other, base) && other != base {
			return fmt.Errorf("the server has taken the %s, but lists it as %q; rename it, or use Upload.Exclude", what, other)
		}
	}
	return fmt.Errorf("the server has taken the %s, but does not list it: it may not be able to hold a %[1]s of this name; rename it, or use Upload.Exclude", what)
}

// sameName reports whether two names may be the same on a server that changes names: they differ
// only in case, or in characters that are not letters or digits.
func sameName(a, b string) bool {
	plain := func(s string) string {
		return strings.ToLower(strings.Map(func(c rune) rune {
			if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
				return c
			}
			return -1
		}, s))
	}
	return plain(a) == plain(b)
}
