package files

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// A doom is what is to be deleted in a directory.
type doom struct {
	at    locator.Locator // the directory
	name  string          // its own name
	files []*fetch.Item   // also links and special files
	dirs  []*doom
	kept  bool // its listing is not complete: nothing in it is deleted
}

// size returns how much a doom is, without its own directory.
func (p *doom) size() (files, directories int) {
	if p.kept {
		return 0, 0
	}
	files = len(p.files)
	for _, dir := range p.dirs {
		n, m := dir.size()
		files, directories = files+n, directories+m
		if dir.isWhole() {
			directories++
		}
	}
	return files, directories
}

// isWhole reports whether the directory itself can be deleted.
func (p *doom) isWhole() bool {
	if p.kept {
		return false
	}
	for _, dir := range p.dirs {
		if !dir.isWhole() {
			return false
		}
	}
	return true
}

// plan returns the doom of entries of a directory.
func (o remover) plan(ctx context.Context, d *directory, items []fetch.Item) (*doom, error) {
	all := &doom{at: d.at}
	for i := range items {
		it := &items[i]
		switch {
		case kindOf(it) != isDir:
			all.files = append(all.files, it)
		case !o.recursive:
			o.failAt(child(d.at, it.Name, true), isDirectory(child(d.at, it.Name, true)))
		default:
			dir, err := o.planBelow(ctx, d, it.Name)
			if err != nil {
				return nil, err
			}
			all.dirs = append(all.dirs, dir)
		}
	}
	return all, nil
}

// planBelow lists a directory and all below it. name is its name in parent. It reports listings of which nothing is deleted.
func (o remover) planBelow(ctx context.Context, parent *directory, name string) (*doom, error) {
	at := child(parent.at, name, true)
	var open []*doom // from the directory on
	var first *doom
	n := 0
	next := name
	err := o.walk(ctx, at, &visitor{
		parent: parent,
		enter:  func(string) { open = append(open, &doom{name: next}) },
		item: func(_ string, it *fetch.Item) error {
			if n++; n > maxEntries {
				err := failure(at, fetch.ErrTooLarge, "more than %d files and directories, also because links may lead back; delete its directories one by one", maxEntries)
				o.fail(o.t, err)
				return errReported
			}
			if next = it.Name; kindOf(it) != isDir {
				last := open[len(open)-1]
				last.files = append(last.files, it)
			}
			return nil
		},
		leave: func(at locator.Locator, _ string) {
			last := open[len(open)-1]
			last.at = at
			if open = open[:len(open)-1]; len(open) == 0 {
				first = last
				return
			}
			above := open[len(open)-1]
			above.dirs = append(above.dirs, last)
		},
		bad: func(at locator.Locator, err error) {
			open[len(open)-1].kept = true
			o.failAt(at, fmt.Errorf("nothing at or below %s is deleted: %w", at.Redacted(), err))
		},
	})
	return first, err
}

// tell tells that all of a doom was deleted, or would be.
func (o remover) tell(p *doom) {
	if p.kept {
		return
	}
	for _, it := range p.files {
		o.deleted(kindOf(it), child(p.at, it.Name, false))
	}
	for _, dir := range p.dirs {
		if o.tell(dir); dir.isWhole() {
			o.deleted(isDir, dir.at)
		}
	}
}

// atOnce is how many edits are sent together.
const atOnce = 256

// remove deletes the files of a doom, then its directories from the bottom up. It reports what fails. The
// error is that of the context, or errReported.
func (o remover) remove(ctx context.Context, p *doom) error {
	if p.kept {
		return nil
	}
	left := o.leftIn(ctx, p.at)
	err := inParts(p.files, func(part []*fetch.Item) error {
		names := make([]string, len(part))
		for i, it := range part {
			names[i] = it.Name
		}
		return o.removeAll(ctx, p.at, fetch.EditRemove, names, func(i int, err error) {
			l := child(p.at, names[i], false)
			switch {
			case err == nil:
				o.deleted(kindOf(part[i]), l)
			case !errors.Is(err, fetch.ErrNotFound) || left(names[i]):
				o.failAt(l, err)
			}
		})
	})
	if err != nil {
		return err
	}
	dirs, err := o.directories(ctx, p)
	if err != nil {
		return err
	}
	var empty []string // as far as is known
	for _, dir := range dirs {
		before := o.failed
		if err := o.remove(ctx, dir); err != nil {
			return err
		}
		if o.failed == before && dir.isWhole() {
			empty = append(empty, dir.name)
		}
	}
	left = o.leftIn(ctx, p.at)
	return inParts(empty, func(names []string) error {
		return o.removeAll(ctx, p.at, fetch.EditRemoveDir, names, func(i int, err error) {
			l := child(p.at, names[i], true)
			switch {
			case err == nil:
				o.deleted(isDir, l)
			case !errors.Is(err, fetch.ErrNotFound) || left(names[i]):
				o.failAt(l, err)
			}
		})
	})
}

// notDirectory is what servers write of a link to a directory, where they expect a directory.
var notDirectory = regexp.MustCompile(`(?i)\bnot a directory\b|\bENOTDIR\b`)

// directories returns the directories of a doom, without those that are links: several FTP servers
// list a link to a directory as that directory. DELE deletes such a link, but no directory that has
// files. If it is refused, RMD deletes a directory that is empty, and the reply to it, or that of
// ftp-srv to DELE, says what a link is. Nothing is sent for a directory whose listing is not complete,
// and RMD only for one of which all is to be deleted.
func (o remover) directories(ctx context.Context, p *doom) (real []*doom, err error) {
	dirs := slices.DeleteFunc(slices.Clone(p.dirs), func(dir *doom) bool { return dir.kept })
	if _, isFTP := p.at.(*locator.FTP); !isFTP {
		return dirs, nil
	}
	for _, kind := range []fetch.EditKind{fetch.EditRemove, fetch.EditRemoveDir} {
		var asked []*doom
		real = nil
		for _, dir := range dirs {
			if kind == fetch.EditRemove || dir.isWhole() {
				asked = append(asked, dir)
			} else {
				real = append(real, dir)
			}
		}
		err := inParts(asked, func(dirs []*doom) error {
			names := make([]string, len(dirs))
			for i, dir := range dirs {
				names[i] = dir.name
			}
			return o.removeAll(ctx, p.at, kind, names, func(i int, err error) {
				if o.isReal(p.at, dirs[i], kind, err) {
					real = append(real, dirs[i])
				}
			})
		})
		if err != nil {
			return nil, err
		}
		dirs = real
	}
	return real, nil
}

// isReal reports whether a directory remains to be deleted after an edit that was to find out what it is.
// It tells of one that was deleted, and of a link.
func (o remover) isReal(at locator.Locator, dir *doom, kind fetch.EditKind, err error) bool {
	e, _ := errors.AsType[*fetch.Error](err)
	switch {
	case err == nil && (kind == fetch.EditRemoveDir || len(dir.files)+len(dir.dirs) == 0):
		o.tell(dir)              // RMD of goftp deletes all below
		o.deleted(isDir, dir.at) // or a link to an empty one
	case err == nil:
		o.deleted(isLink, child(at, dir.name, false))
	case e != nil && notDirectory.MatchString(e.Reply):
		o.failAt(child(at, dir.name, false), fmt.Errorf("the server lists a link as a directory, and does not delete it: %w", err))
	default:
		return true
	}
	return false
}

// removeAll performs an edit that deletes, with several names, and calls result for each that has one. It
// reports an error that concerns all.
func (o remover) removeAll(ctx context.Context, at locator.Locator, kind fetch.EditKind, names []string, result func(i int, err error)) error {
	edits, err := o.edit(ctx, at, kind, names)
	for i, e := range edits {
		if e.Done {
			result(i, e.Err)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		o.failAt(at, err)
		return stopAfter(err)
	}
	return nil
}

// inParts calls do with at most atOnce values at a time.
func inParts[T any](all []T, do func([]T) error) error {
	for len(all) > 0 {
		n := min(atOnce, len(all))
		if err := do(all[:n]); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// leftIn returns a function that reports whether a directory may still have an entry of which the server
// has said that it does not exist: vsftpd replies the same if the user may not delete it. Where it is
// gone, another client has deleted it.
func (o remover) leftIn(ctx context.Context, at locator.Locator) func(name string) bool {
	list := sync.OnceValues(func() (*directory, error) { return o.list(ctx, at, false) })
	return func(name string) bool {
		d, err := list()
		return err != nil || d.unsure != nil || d.find(name) != nil
	}
}
