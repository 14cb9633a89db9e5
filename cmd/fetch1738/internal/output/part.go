package output

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/file/segments"
)

// partSuffix is the suffix of the file of --segments, which is in the same directory as
// the Sink's.
const partSuffix = ".segments"

// TakeSegments fetches a document in segments, if the Sink is a file and another file can
// be created in its directory; res is the response for the document. It then reports
// true and has closed res. The segments are written to the other file, which replaces
// the Sink's when it is complete, and else stays for the next run. Job.Warn must be set.
func TakeSegments(ctx context.Context, s *Sink, job segments.Job, res *fetch.Resource) (bool, error) {
	reopen, err := openPart(s)
	switch {
	case errors.Is(err, disk.ErrBusy):
		_ = res.Close()
		return true, err
	case err != nil:
		job.Warn("using one connection: %v", err) // which may succeed with the file itself
		return false, nil
	case reopen == nil:
		return false, nil
	}
	defer res.Close()
	part := segments.Open(s.part.file, reopen)
	err = part.Ready(&job, res)
	missing := part.Missing()
	if err == nil {
		err = part.Fill(ctx, job, res)
	}
	if err == nil {
		err = part.Finish()
	}
	if err == nil {
		err = part.Settle()
	}
	if err == nil {
		s.Count, err = missing, adopt(s)
	}
	return true, s.blame(err)
}

// PartPath returns the path of the file of --segments, or "".
func PartPath(s *Sink) string {
	if s.part == nil || !s.part.Exists() {
		return ""
	}
	return s.part.Path
}

// openPart opens and locks the file for the segments, and returns a function that opens
// it again, for writing. If the Sink is not a file, or its path is not a regular file, it
// opens nothing and returns nil. The file of an earlier run is opened as it is. Its
// permissions are those of the file that it replaces, which must be writable.
func openPart(s *Sink) (reopen func() (disk.File, error), err error) {
	if s.Path == "" {
		return nil, nil
	}
	old, err := s.stat()
	if err == nil && !old.Mode().IsRegular() {
		return nil, nil
	}
	if err := makeDirs(s); err != nil {
		return nil, err
	}
	if old != nil && s.existing.clobber != plan.ClobberNever {
		writable, err := s.openPath(os.O_WRONLY)
		if err != nil {
			return nil, err
		}
		_ = writable.Close()
	}
	path, name := s.Path, s.Served
	if name == "" { // else it is no link
		path = target(s)
		name = filepath.Base(path)
	}
	if s.part != nil {
		_ = s.part.Close() // of the attempt before
		s.part = nil
	}
	// Treated as chosen by a server, so that links are not followed.
	part := &Sink{disk: s.disk, Path: path + partSuffix, Served: name + partSuffix, existing: existing{mkdirs: s.existing.mkdirs}}
	if part.file, err = openLocked(part, os.O_RDWR|os.O_CREATE); err != nil {
		return nil, err
	}
	if part.opened, err = part.file.Stat(); err == nil && old != nil {
		err = part.file.Chmod(old.Mode().Perm() | 0o600)
	}
	if err != nil {
		part.file.Close()
		return nil, err
	}
	s.part = part
	return func() (disk.File, error) { return part.openPath(os.O_WRONLY) }, nil
}

// adopt gives the part the name of the Sink's file. The part stays open and locked.
func adopt(s *Sink) error {
	if err := claim(s, func(exclusive int) error { return rename(s, exclusive != 0) }); err != nil {
		return err
	}
	s.file, s.opened, s.part = s.part.file, s.part.opened, nil
	s.w = s.file.File
	return nil
}

// rename gives the part the name of the Sink's file. If exclusive is set, it fails if
// that exists.
func rename(s *Sink, exclusive bool) error {
	if exclusive {
		err := withPart(s, func(dir disk.Folder, part, file string) error { return disk.Link(dir, part, file, s.part.opened) })
		switch {
		case err == nil:
			return s.part.Remove()
		case errors.Is(err, fs.ErrExist), errors.Is(err, disk.ErrReplaced):
			return err
		}
		// The file system has no links. A reader may see the empty file.
		claimed, err := s.openPath(os.O_WRONLY | os.O_CREATE | os.O_EXCL)
		if err != nil {
			return err
		}
		_ = claimed.Close()
	}
	return withPart(s, func(dir disk.Folder, part, file string) error { return disk.Rename(dir, part, file, s.part.opened) })
}

// withPart calls do with the names of the part and of the Sink's file.
func withPart(s *Sink, do func(dir disk.Folder, part, file string) error) error {
	return s.inFolder(false, func(dir disk.Folder, name string) error {
		if s.Served == "" {
			return do(dir, s.part.Path, target(s))
		}
		return do(dir, filepath.Base(s.part.Path), name)
	})
}

// target returns the path that the user typed, without links.
func target(s *Sink) string {
	if path, err := disk.Or(s.disk).EvalSymlinks(s.Path); err == nil {
		return path
	}
	return s.Path
}
