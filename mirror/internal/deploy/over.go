package deploy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/disk"
	"github.com/fetch1738/fetch1738/mirror/internal/pool"
)

const (
	patience = 3  // the files in a row for which a server may have no room
	fewFiles = 10 // the files that a server may refuse before it has stored one; then one of each other spot
)

// refusals are the files in a row that a server has not stored.
type refusals struct {
	noRoom    int
	forbidden int
	spots     map[spot]bool // of these
	stored    bool          // the run has stored a file
}

// A spot is where files go for which a server has one answer: it may take new contents for the files of a
// directory, but no new files.
type spot struct {
	dir   string
	isNew bool
}

func spotOf(f *file) spot { return spot{f.dir(), f.isNew} }

// refused records that the server has not stored a file. It marks the error if that ends the run: there is
// no room for several files in a row, or the server has stored none at all, in any spot of the plan.
func refused(ctx context.Context, r *run, f *file, err error) error {
	e, ok := errors.AsType[*fetch.Error](err)
	switch mark, _ := pool.Unmark(err); {
	case mark != pool.Own:
		return err
	case disk.IsFull(err): // that of a file URL
		return pool.Over(err)
	case !ok:
		return goneError(ctx, r, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.refusals
	switch {
	case e.Code == 452 || e.Code == 552 || e.Code == http.StatusInsufficientStorage:
		s.noRoom++
		err = pool.InDoubt(err)
	case e.Kind == fetch.ErrPermission || e.Kind == fetch.ErrUnsupported || e.Kind == fetch.ErrUnauthenticated:
		if s.spots == nil {
			s.spots = make(map[spot]bool)
		}
		s.forbidden++
		s.spots[spotOf(f)] = true
		if !s.stored {
			err = pool.InDoubt(err)
		}
	}
	takesNone := !s.stored && s.forbidden >= fewFiles && len(s.spots) >= r.spots
	if s.noRoom >= patience || takesNone {
		_, err = pool.Unmark(err)
		return pool.Over(err)
	}
	return err
}

// goneError returns the error of reading a local file. If the folder does not exist any more, that ends
// the run.
func goneError(ctx context.Context, r *run, err error) error {
	if _, failed := disk.Of(ctx).Stat(r.Dir); err == nil || !errors.Is(failed, fs.ErrNotExist) {
		return err
	}
	return pool.Over(fmt.Errorf("read %s: the folder was removed or renamed while the mirror ran: %w", r.Dir, fs.ErrNotExist))
}

// stored records that the server has stored a file.
func stored(r *run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refusals = refusals{stored: true}
}

// isHopeless reports whether a file is not tried, because the server has stored none so far, and has refused
// one in the same spot.
func isHopeless(r *run, f *file) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.refusals.stored && r.refusals.forbidden >= fewFiles && r.refusals.spots[spotOf(f)]
}

// spots returns the number of spots of the files of a plan.
func spots(p *plan) int {
	all := make(map[spot]bool)
	for _, f := range slices.Concat(p.fresh, p.changed) {
		all[spotOf(f)] = true
	}
	return len(all)
}

var errNoDirectory = errors.New("the directory could not be created or listed")

// isSaid reports whether the failure of a directory, or of one above it, has been reported.
func isSaid(r *run, dir string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for ; !r.broken[dir]; dir = path.Dir(dir) {
		if dir == "." {
			return false
		}
	}
	return true
}

// watch returns a copy of ctx in which the transfer of a file is reported. from is the number of bytes that
// the server has already.
func watch(ctx context.Context, r *run, f *file, from int64) (context.Context, *pool.Part) {
	part := pool.NewPart(func(octets int64) {
		r.report(Event{What: Progress, File: f.path, local: f.local, URL: r.site.URL(components(f.path), false), Size: f.size, Octets: octets})
	})
	part.Set(from)
	return fetch.WithTrace(ctx, &fetch.Trace{Body: part.Add}), part
}
