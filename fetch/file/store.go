package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// Replace implements [driver.Replacer]. If Offset is 0, it writes a new file in the same directory
// and renames it over the old one when it is complete. The new file gets the permissions of the old
// one. If body fails, the old file is left unchanged. If Offset is positive, the file is truncated
// to Offset and body is written there, in place. Symbolic links are followed; a dangling link is
// replaced by the file.
//
// Of several calls for one file at once with Offset 0, the last one that ends determines its
// content. A call that writes in place fails if another Fetcher, also of another process, writes to
// the file in place, and if the file is replaced meanwhile. That needs a system with file locks,
// such as Linux, macOS and Windows.
func (f *Fetcher) Replace(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	a, err := f.writeAccess(ctx, req)
	if err != nil {
		return nil, err
	}
	src := &source{ctx: ctx, r: body, trace: driver.ContextTrace(ctx)}
	if req.Offset > 0 {
		return a.write(src, os.O_WRONLY, req.Offset)
	}
	return a.replaceFile(src)
}

// Update implements [driver.Updater]. It appends body to the file, and creates the file if it does
// not exist. It writes in place, as Replace does with an Offset.
func (f *Fetcher) Update(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	a, err := f.writeAccess(ctx, req)
	if err != nil {
		return nil, err
	}
	if req.Offset != 0 {
		return nil, a.fail(fetch.OpUpdate, &fetch.Error{Kind: fetch.ErrBadRange, Err: errors.New("an append takes no offset")})
	}
	src := &source{ctx: ctx, r: body, trace: driver.ContextTrace(ctx)}
	return a.write(src, os.O_WRONLY|os.O_APPEND|os.O_CREATE, -1)
}

// writeAccess is like access, for a request that writes a file.
func (f *Fetcher) writeAccess(ctx context.Context, req *fetch.Request) (*access, error) {
	a, err := f.access(ctx, req)
	switch {
	case err != nil:
		return nil, err
	case a.namesDirectory():
		return nil, a.fail(fetch.OpWrite, &fetch.Error{Kind: fetch.ErrBadURL, Err: errors.New("the URL names a directory, not a file")})
	case req.Offset < 0, req.Length != 0:
		return nil, a.fail(fetch.OpWrite, &fetch.Error{Kind: fetch.ErrBadRange, Err: errors.New("an upload takes no negative offset and no length")})
	}
	if target, err := a.disk.EvalSymlinks(a.path); err == nil {
		a.path = target
	}
	info, err := a.disk.Stat(a.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return a, nil
	case err != nil:
		return nil, a.fail(fetch.OpWrite, err)
	case info.IsDir():
		return nil, a.fail(fetch.OpWrite, &fetch.Error{Kind: fetch.ErrPermission, Err: errors.New("is a directory")})
	}
	return a, a.checkKind(info)
}

// write writes src to the file in place, without a temporary file. If offset is not -1, the file is
// truncated to offset first and src is written there.
func (a *access) write(src *source, flags int, offset int64) (*fetch.Attributes, error) {
	file, err := disk.Lock(func() (disk.File, error) { return a.disk.OpenFile(a.path, flags|nonBlocking, a.opt.mode()) },
		func() (fs.FileInfo, error) { return a.disk.Stat(a.path) })
	switch {
	case errors.Is(err, disk.ErrBusy):
		return nil, a.fail(fetch.OpWrite, &fetch.Error{Kind: fetch.ErrLocalIO, Err: disk.ErrBusy})
	case err != nil:
		return nil, a.createError(err)
	}
	if offset >= 0 {
		err = a.truncateAt(file.File, offset)
	}
	if err == nil {
		err = a.copy(file.File, src)
	}
	if err == nil {
		if moved := file.Verify(); moved != nil { // by replaceFile in another process, or by the user
			err = a.fail(fetch.OpWrite, &fetch.Error{Kind: fetch.ErrLocalIO, Err: moved})
		}
	}
	return a.finish(file.File, err)
}

// truncateAt truncates a file to offset bytes and seeks to its end.
func (a *access) truncateAt(file disk.File, offset int64) error {
	info, err := file.Stat()
	switch {
	case err != nil:
		return a.fail(fetch.OpWrite, err)
	case info.Size() < offset:
		return a.fail(fetch.OpWrite, &fetch.Error{Kind: fetch.ErrBadRange, Err: fmt.Errorf("offset %d is beyond the end of the file (%d bytes)", offset, info.Size())})
	}
	if err := file.Truncate(offset); err != nil {
		return a.fail(fetch.OpWrite, err)
	}
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return a.fail(fetch.OpWrite, err)
	}
	return nil
}

// replaceFile writes src to a new file and renames it over the old one.
func (a *access) replaceFile(src *source) (*fetch.Attributes, error) {
	if info, err := a.disk.Stat(a.path); err == nil && !info.Mode().IsRegular() {
		return a.write(src, os.O_WRONLY, -1) // write to a device, do not replace it
	}
	if err := a.checkWritable(); err != nil {
		return nil, err
	}
	part := fmt.Sprintf(".fetch1738-%016x.part", rand.Uint64())
	file, err := a.disk.OpenFile(filepath.Join(filepath.Dir(a.path), part), os.O_WRONLY|os.O_CREATE|os.O_EXCL, a.opt.mode())
	if err != nil {
		return nil, a.createError(err)
	}
	defer a.disk.Remove(file.Name()) // fails after a successful rename
	err = a.copy(file, src)
	if err == nil {
		err = a.copyMode(file)
	}
	if err == nil {
		err = a.syncFile(file)
	}
	attributes, err := a.finish(file, err)
	if err != nil {
		return nil, err
	}
	if err := a.disk.Rename(file.Name(), a.path); err != nil {
		return nil, a.fail(fetch.OpWrite, err)
	}
	// Another process may have replaced it since, but not by anything else than a file.
	if info, err := a.disk.Lstat(a.path); err != nil || !info.Mode().IsRegular() {
		return nil, a.fail(fetch.OpWrite, cmp.Or(err, error(&fs.PathError{Op: "rename", Path: a.path, Err: errors.New("another program has put something else in its place")})))
	}
	return attributes, nil
}

// syncFile makes a complete file safe from a loss of power, before it replaces the old one. It
// fails if another program has replaced the file itself.
func (a *access) syncFile(file disk.File) error {
	err := file.Sync()
	if err == nil {
		err = disk.Verify(file, a.disk, file.Name())
	}
	if err != nil {
		return a.fail(fetch.OpWrite, err)
	}
	return nil
}

// checkWritable fails if the file exists and is not writable. A rename over it would not check
// that.
func (a *access) checkWritable() error {
	file, err := a.disk.OpenFile(a.path, os.O_WRONLY|nonBlocking, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return a.fail(fetch.OpWrite, err)
	}
	return file.Close()
}

// createError returns the error of creating a file. If its directory does not exist, the error says
// so.
func (a *access) createError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		if _, missing := a.disk.Stat(filepath.Dir(a.path)); missing != nil {
			return a.fail(fetch.OpWrite, &fetch.Error{Kind: fetch.ErrNotFound, Err: fmt.Errorf("the directory %s does not exist", filepath.Dir(a.path))})
		}
	}
	return a.fail(fetch.OpWrite, err)
}

// copyMode sets the permissions of file to those of the file that it replaces, if there is one.
func (a *access) copyMode(file disk.File) error {
	info, err := a.disk.Stat(a.path)
	if err != nil {
		return nil
	}
	if err := file.Chmod(info.Mode().Perm()); err != nil {
		return a.fail(fetch.OpWrite, err)
	}
	return nil
}

// copy copies src to file. The Op of its error says which of the two failed.
func (a *access) copy(file disk.File, src *source) error {
	_, err := io.Copy(file, src)
	switch {
	case err == nil:
		return nil
	case src.ctx.Err() != nil:
		return a.fail(fetch.OpWrite, src.ctx.Err())
	case src.err != nil:
		return a.fail(fetch.OpRead, &fetch.Error{Kind: fetch.ErrLocalIO, Err: src.err})
	}
	return a.fail(fetch.OpWrite, err)
}

// finish closes the file and returns its attributes.
func (a *access) finish(file disk.File, err error) (*fetch.Attributes, error) {
	info, statErr := file.Stat()
	if closeErr := file.Close(); err == nil && closeErr != nil {
		err = a.fail(fetch.OpWrite, closeErr)
	}
	switch {
	case err != nil:
		return nil, err
	case statErr != nil:
		return nil, a.fail(fetch.OpWrite, statErr)
	}
	attributes := attributesOf(info)
	return &attributes, nil
}

// source reads the data to store. It fails when the context is done, and remembers the error of the
// reader.
type source struct {
	ctx   context.Context
	r     io.Reader
	err   error
	trace *fetch.Trace
}

func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.r.Read(p)
	if n > 0 {
		s.trace.Body(int64(n))
	}
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}
