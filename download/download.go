// Package download fetches documents into files that resume ([File]), and reads documents at any
// position as an io.ReaderAt ([ReaderAt]). It uses a fetch1738.Resolver.
package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/file/resume"
	"github.com/fetch1738/fetch1738/internal/file/segments"
	"github.com/fetch1738/fetch1738/locator"
)

// PartSuffix is the suffix of the file beside the destination of a [File] that is not complete.
const PartSuffix = ".part"

// File fetches the document at url into the file of that name. If r is nil, it is a new
// Resolver with every default.
//
// If the connection breaks off, File resumes at once over a new one, as long as each brings
// something new, and on average more than the 4 KiB that are fetched again to compare: a server may
// break off every 20 kB, but one that sends a byte at a time gets 16 connections. A connection that
// fails before it brings something is an error; try again later.
//
// The file is created or replaced when the document is complete. Its modification time is that of
// the document, if the server says it. Until then, the bytes are in a file beside it, whose name
// ends in [PartSuffix]. If File fails, or the program is killed, that file stays, unless it is
// empty. The next call for the same url and name resumes it if the document has not changed (by
// its validator, or its size and modification time, and by the last bytes of the file, which are
// fetched again), and starts again if it has. A document that the server does not identify always
// starts again.
//
// Errors are *[fetch.Error]s. A second call for the same name at the same time fails, also in
// another process, and leaves the files alone. On systems without file locks, such as Solaris, it
// does not fail, and the file can become wrong. It fails, too, if the file beside the
// destination exists and is not a regular file, such as a symbolic link.
func File(ctx context.Context, r *fetch1738.Resolver, url, name string) error {
	if r == nil {
		r = new(fetch1738.Resolver)
		defer r.Close()
	}
	req, err := r.Request(ctx, url)
	if err != nil {
		return err
	}
	return Request(ctx, r, req, name)
}

// A Fetcher has the methods of a Resolver that [Request] needs.
type Fetcher interface {
	driver.Fetcher
	driver.AttributeFinder
}

// Request is [File] for the document that req designates. It replaces the Options of req.
// f is a Resolver, or a wrapper around one that changes requests or watches bodies.
func Request(ctx context.Context, f Fetcher, req *fetch.Request, name string) (err error) {
	of := *req
	req = &of
	switch req.Locator.(type) {
	case *locator.FTP:
		req.Options = &ftp.Options{ModTime: true}
	case *locator.HTTP:
		req.Options = &fetchhttp.Options{Header: http.Header{}}
	}
	defer func() {
		if _, known := errors.AsType[*fetch.Error](err); err != nil && !known {
			err = driver.Fail(fetch.OpWrite, req.Locator, fetch.ErrLocalIO, err)
		}
	}()
	path := name + PartSuffix
	d := disk.Of(ctx)
	file, err := disk.Lock(func() (disk.File, error) { return openPart(d, path, true) },
		func() (fs.FileInfo, error) { return d.Lstat(path) })
	if err != nil {
		return err
	}
	defer file.Close()
	part := segments.Open(file, func() (disk.File, error) { return openPart(d, path, false) })
	modified, err := complete(ctx, f, req, part, file.File)
	if err != nil {
		removeEmpty(d, file, path)
		return err
	}
	if err := part.Settle(); err != nil {
		return err
	}
	if !modified.IsZero() {
		if err := d.Chtimes(path, time.Time{}, modified); err != nil {
			return err
		}
	}
	return disk.Rename(d, path, name, file.Info)
}

// removeEmpty removes the part if there is nothing to resume.
func removeEmpty(d disk.Disk, file *disk.Locked, path string) {
	info, err := file.Stat()
	if err == nil && info.Size() == 0 && file.Verify() == nil && file.Flush() == nil {
		_ = d.Remove(path)
	}
}

// openPart opens a regular file, or creates it. It does neither through a symbolic link, which in a
// directory that others write to could lead to any file of the user, or to none yet.
func openPart(d disk.Disk, path string, create bool) (file disk.File, err error) {
	for range 10 { // others may remove it at any time
		if create {
			file, err = d.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
			if !errors.Is(err, fs.ErrExist) {
				return file, err
			}
		}
		if info, err := d.Lstat(path); err == nil && !info.Mode().IsRegular() {
			return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
		}
		file, err = d.OpenFile(path, os.O_RDWR, 0)
		if !create || !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return file, err
}

// complete fetches what part lacks of the document. It returns the document's modification time, if
// that is known.
func complete(ctx context.Context, f Fetcher, req *fetch.Request, part *segments.Part, file disk.File) (modified time.Time, err error) {
	job := segments.Job{Connections: 1, Request: req, Fetcher: f}
	if part.Holds(req.Locator) && part.Missing() > 0 { // else nothing shows that it is still the document
		modified = part.ModTime()
		if err := part.Fill(ctx, job, nil); err == nil {
			return modified, part.Finish()
		} else if !errors.Is(err, segments.ErrChanged) && !resume.Refused(err) {
			return modified, err
		}
	}
	res, err := f.Fetch(ctx, req)
	if err != nil {
		return modified, err
	}
	modified = res.ModTime
	switch {
	case res.Kind != fetch.KindDocument:
		_ = res.Close()
		return modified, driver.Fail(fetch.OpAccess, req.Locator, fetch.ErrUnsupported, errors.New("a "+res.Kind.String()+", not a document"))
	case resume.Of(res).Known() && res.Size > 0: // of another one nothing can be resumed
		if err := part.Ready(&job, res); err != nil {
			_ = res.Close()
			return modified, err
		}
		if err := part.Fill(ctx, job, res); err != nil {
			return modified, err
		}
		return modified, part.Finish()
	}
	defer res.Close()
	if err := part.Reset(); err != nil {
		return modified, err
	}
	n, err := io.Copy(file, res.Body)
	if err == nil && n < res.Size && req.Offset == 0 && req.Length == 0 { // f is of the caller
		err = driver.Fail(fetch.OpTransfer, req.Locator, fetch.ErrTruncated, fmt.Errorf("after %d bytes of %d", n, res.Size))
	}
	if err != nil {
		return modified, errors.Join(err, part.Reset()) // nothing would show what it is the beginning of
	}
	return modified, file.Sync()
}
