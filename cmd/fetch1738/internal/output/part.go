package output

import (
	"context"
	"os"
	"path/filepath"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/segments"
)

// partSuffix is the suffix of the file of --segments, which is in the same directory as
// the Sink's.
const partSuffix = ".segments"

// TakeSegments fetches a document in segments, if the Sink is a file and another file can
// be created in its directory; res is the response for the document. It then reports
// true and has closed res. The segments are written to the other file, which replaces
// the Sink's when it is complete, and else stays for the next run. Job.Warn must be set.
func TakeSegments(ctx context.Context, s *Sink, job segments.Job, res *fetch.Resource) (bool, error) {
	file, again, err := openPart(s)
	if err != nil {
		job.Warn("using one connection: %v", err) // which may succeed with the file itself
	}
	if file == nil || err != nil {
		return false, nil
	}
	part, err := segments.Open(file, again)
	if err != nil {
		return true, err
	}
	defer part.Close()
	err = part.Ready(&job, res)
	missing := part.Missing()
	if err == nil {
		err = part.Fill(ctx, job, res)
	}
	if err == nil {
		err = part.Finish()
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

// openPart opens the file for the segments, and returns a function that opens it again,
// for writing. If the Sink is not a file, or its path is not a regular file, file is nil.
// The file of an earlier run is opened as it is. Its permissions are those of the file
// that it replaces, which must be writable.
func openPart(s *Sink) (file *os.File, again func() (*os.File, error), err error) {
	if s.Path == "" {
		return nil, nil, nil
	}
	old, err := s.stat()
	if err == nil && !old.Mode().IsRegular() {
		return nil, nil, nil
	}
	if err := makeDirs(s); err != nil {
		return nil, nil, err
	}
	if old != nil && s.clobber != plan.ClobberNever {
		writable, err := s.openPath(os.O_WRONLY)
		if err != nil {
			return nil, nil, err
		}
		_ = writable.Close()
	}
	path, name := s.Path, s.Served
	if name == "" { // else it is no link
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target
		}
		name = filepath.Base(path)
	}
	// Treated as chosen by a server, so that links are not followed.
	part := &Sink{Path: path + partSuffix, Served: name + partSuffix, mkdirs: s.mkdirs}
	if part.file, err = part.openPath(os.O_RDWR | os.O_CREATE); err != nil {
		return nil, nil, err
	}
	if part.opened, err = part.file.Stat(); err == nil && old != nil {
		err = part.file.Chmod(old.Mode().Perm() | 0o600)
	}
	if err != nil {
		part.file.Close()
		return nil, nil, err
	}
	s.part = part
	return part.file, func() (*os.File, error) { return part.openPath(os.O_WRONLY) }, nil
}

// adopt replaces the Sink's file by the part, which must be closed.
func adopt(s *Sink) error {
	file, err := s.openFile(os.O_WRONLY | os.O_CREATE) // determines the name, and checks that it may be used
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := replace(s); err != nil {
		return err
	}
	s.part = nil
	if s.file, err = s.openPath(os.O_WRONLY); err != nil {
		return err
	}
	s.w = s.file
	s.opened, err = s.file.Stat()
	return err
}

// replace renames the part to the name of the Sink.
func replace(s *Sink) error {
	if s.Served != "" {
		return s.inFolder(false, func(dir *os.Root, name string) error {
			return dir.Rename(filepath.Base(s.part.Path), name)
		})
	}
	path := s.Path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return os.Rename(s.part.Path, path)
}
