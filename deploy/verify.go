package deploy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
)

// A verifier looks whether the server has what was sent.
type verifier struct {
	*listing
	sender *sender
	hidden *hidden
	files  []*file // of the tree
}

// verify lists the directories again in which files were placed or directories made. What the
// server does not list under its name, with its size, has failed, and so has what is in a directory
// that it does not list; of the rest the state gets the times that the server lists.
func (v *verifier) verify(ctx context.Context, sent []*file, made []string) {
	var placed []*file
	dirs := make(map[string]bool)
	for _, f := range sent {
		if f.placed {
			placed, dirs[f.dir()] = append(placed, f), true
		}
	}
	for _, dir := range made {
		dirs[path.Dir(dir)] = true
	}
	if len(dirs) == 0 || ctx.Err() != nil {
		return
	}
	if v.Web {
		for _, f := range placed {
			delete(v.dirs[f.dir()].Entries, path.Base(f.path))
		}
		v.lookAll(ctx, placed)
	} else {
		for dir := range dirs {
			delete(v.dirs, dir)
		}
		v.listAll(ctx, slices.Sorted(maps.Keys(dirs)))
		v.hidden.ask(ctx)
		v.verifyDirs(ctx, made, placed)
		v.verifyRenames(ctx, placed)
	}
	v.failTwins(ctx, placed)
	for _, f := range placed {
		if _, listed := v.dirs[f.dir()]; !listed || f.failed || ctx.Err() != nil {
			continue // reported
		}
		t, ok := v.entry(f.path)
		switch {
		case !ok:
			v.failFile(ctx, f, driver.Fail(fetch.OpMirror, v.At(components(f.path), false), fetch.ErrNotFound, v.missing("file", f.path)))
		case t.Size >= 0 && t.Size != f.size && f.link == "":
			v.failFile(ctx, f, driver.Fail(fetch.OpMirror, v.At(components(f.path), false), fetch.ErrTruncated, fmt.Errorf("the server lists %d of %d bytes", t.Size, f.size)))
		case f.timed && v.isExact(f.path) && !v.lists(f.path, t, f.modified):
			// Another client has changed it since, or the server keeps another time: the next run compares
			// the content.
		default:
			v.sender.remember(f, t.Modified)
		}
	}
}

// verifyDirs fails the directories that the run has created and that the server does not list under
// their names, and the files that were placed below them.
func (v *verifier) verifyDirs(ctx context.Context, made []string, placed []*file) {
	for _, dir := range made {
		above, listed := v.dirs[path.Dir(dir)]
		if !listed || above.Entries[path.Base(dir)].Dir || !above.IsWhole() || v.hides(dir) || ctx.Err() != nil {
			continue
		}
		err := driver.Fail(fetch.OpMirror, v.At(components(dir), true), fetch.ErrNotFound, v.missing("directory", dir))
		v.fail(ctx, dir, true, err)
		for _, f := range placed {
			if strings.HasPrefix(f.path, dir+"/") {
				f.failed = true // it is missing at the end
			}
		}
	}
}

// verifyRenames looks for files whose parts are still listed: some servers reply 250 to RNTO and do
// nothing. If the file has other content than was sent, it is deleted, and the part renamed again; if
// that does nothing either, the file is stored under its name.
func (v *verifier) verifyRenames(ctx context.Context, placed []*file) {
	again := make(map[string]bool)
	for _, f := range placed {
		_, left := v.dirs[f.dir()].Entries[f.part]
		if !left || f.part == "" || f.failed || ctx.Err() != nil {
			continue
		}
		check := func() error { return v.sender.contents.check(ctx, f, path.Base(f.path)) }
		err := v.try(ctx, check)
		if errors.Is(err, errOtherContent) {
			v.note("the server has replied that a file was renamed (RNTO), but has not done it: the old file is deleted first, so it is missing for a moment")
			again[f.dir()] = true
			if err = v.edit(ctx, f.dir(), removeAndRename(f)); err == nil {
				err = v.try(ctx, check)
			}
		}
		v.sender.discardPart(f)
		switch {
		case errors.Is(err, errOtherContent):
			v.sender.storeDirect(ctx, f)
		case err != nil:
			v.failFile(ctx, f, err)
		}
	}
	if len(again) > 0 {
		v.listAll(ctx, slices.Sorted(maps.Keys(again)))
		v.hidden.ask(ctx)
	}
}

// failTwins fails the files that a server has under a name that another one of them differs from in case
// only: if it lists that under this name, it has the content of either.
func (v *verifier) failTwins(ctx context.Context, placed []*file) {
	for _, f := range placed {
		if _, ok := v.entry(f.path); ok {
			continue
		}
		for name := range v.dirs[f.dir()].Entries {
			if !strings.EqualFold(name, path.Base(f.path)) {
				continue
			}
			i := slices.IndexFunc(v.files, func(g *file) bool { return g.path == path.Join(f.dir(), name) && !g.failed })
			if g := v.files[max(i, 0)]; i >= 0 {
				v.sender.record(v.sender.begin(g))
				v.failFile(ctx, g, driver.Fail(fetch.OpMirror, v.At(components(g.path), false), fetch.ErrNotFound, fmt.Errorf("it may have been replaced by %q, because the server ignores case; rename one of them", path.Base(f.path))))
			}
		}
	}
}
