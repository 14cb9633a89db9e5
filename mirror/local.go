package mirror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
)

// partError returns the error of creating or writing the part of a file, marked as one that ends the run:
// no other part could be written either. Only a file that is too large for the file system is a failure
// of its own. The error names the file, as the name of the part says nothing to a user.
func partError(ctx context.Context, r *run, e *entry, err error) error {
	if gone := goneError(ctx, r, err); gone != nil {
		return pool.Over(gone)
	}
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = &fs.PathError{Op: "write", Path: e.file, Err: failed.Err}
	}
	if errors.Is(err, syscall.EFBIG) {
		return err
	}
	return pool.Over(err)
}

// placeError returns the error of giving a file its name or time. It is marked if the disk is full, or
// the directory of the copy does not exist any more.
func placeError(ctx context.Context, r *run, err error) error {
	gone := goneError(ctx, r, err)
	switch {
	case gone != nil:
		return pool.Over(gone)
	case disk.IsFull(err):
		return pool.Over(err)
	}
	return err
}

// goneError returns an error if the directory of the copy does not exist any more.
func goneError(ctx context.Context, r *run, err error) error {
	if err == nil {
		return nil
	}
	if _, failed := disk.Of(ctx).Stat(r.Dir); !errors.Is(failed, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("write %s: the directory was removed or renamed while the mirror ran: %w", r.Dir, fs.ErrNotExist)
}
