package deploy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
)

func spotOf(f *file) pool.Spot { return pool.Spot{Dir: f.dir(), IsNew: f.isNew} }

// refused records that the server has not stored a file. It marks the error if that ends the run, or may.
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
	switch r.refusals.Refused(e, spotOf(f), f.size) {
	case pool.Ends:
		return pool.Over(err)
	case pool.Doubt:
		return pool.InDoubt(err)
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

// isHopeless reports whether a file is not tried. It is missing at the end.
func isHopeless(r *run, f *file) bool {
	if f.data != nil || !r.refusals.IsHopeless(spotOf(f), f.size) {
		return false
	}
	if r.refusals.LackRoom() {
		r.note("the server has no room for several files in a row (452, 552, 507): from here on, only smaller ones are sent")
	}
	return true
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
