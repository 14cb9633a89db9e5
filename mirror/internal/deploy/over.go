package deploy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/disk"
	"github.com/fetch1738/fetch1738/mirror/internal/pool"
)

const (
	patience   = 3  // the files in a row for which a server may have no room
	fewFiles   = 10 // the files that a server may refuse before it has stored one
	fewFolders = 3  // the directories in which they are at least, if the tree has that many
)

// refusals are the files in a row that a server has not stored.
type refusals struct {
	noRoom    int
	forbidden int
	dirs      map[string]bool // of these
	stored    bool            // the run has stored a file
}

// refused records that the server has not stored a file. It marks the error if that ends the run: there is
// no room for several files in a row, or the server has stored none at all, in any directory.
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
		if s.dirs == nil {
			s.dirs = make(map[string]bool)
		}
		s.forbidden++
		s.dirs[f.dir()] = true
		if !s.stored {
			err = pool.InDoubt(err)
		}
	}
	takesNone := !s.stored && s.forbidden >= fewFiles && len(s.dirs) >= min(fewFolders, folders(r))
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

// folders returns the number of directories that have files of the tree.
func folders(r *run) int {
	dirs := make(map[string]bool)
	for _, f := range r.files {
		dirs[f.dir()] = true
	}
	return len(dirs)
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
