// Package file fetches file URLs (RFC 1738 §3.10): local files and directories. It makes no network
// connections.
package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/locator"
)

// Fetcher fetches file URLs. The zero value is ready to use. Its fields must not be modified after
// first use. It keeps no state between requests and may be used concurrently.
//
// Besides [driver.Fetcher], it implements [driver.AttributeFinder], [driver.Replacer], [driver.Updater]
// (which appends), [driver.Editor] and [driver.Explainer].
//
// The host of a URL must be empty, "localhost" or "127.0.0.1". Other hosts are refused, because
// their files are not on this computer (§3.10).
type Fetcher struct {
	// Env provides the policy, in Allow, and the Limits. Allow is called with a Target that has no
	// Network. If nil, the zero Env is used.
	Env *fetch.Env
	// Special permits devices and named pipes, which are refused by default. They have no Size and
	// may be endless. A read from them may block until the context is done.
	Special bool
}

var (
	_ driver.Fetcher         = (*Fetcher)(nil)
	_ driver.AttributeFinder = (*Fetcher)(nil)
	_ driver.Replacer        = (*Fetcher)(nil)
	_ driver.Updater         = (*Fetcher)(nil)
	_ driver.Editor          = (*Fetcher)(nil)
	_ driver.Explainer       = (*Fetcher)(nil)
)

// Fetch implements [driver.Fetcher]. The Resource of a directory has the Kind KindDirectory. Its
// Body has one name per line, in byte order; the names of directories end with "/". If a file
// shrinks while it is read, the Body ends in an error of kind ErrTruncated.
func (f *Fetcher) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	a, err := f.access(ctx, req)
	if err != nil {
		return nil, err
	}
	file, info, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return a.directory(ctx, file, info)
	}
	return a.document(ctx, file, info)
}

// FindAttributes implements [driver.AttributeFinder]. It opens a regular file, to find out whether it
// can have the size that it states. If that is not permitted, the stated size is returned.
func (f *Fetcher) FindAttributes(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
	a, err := f.access(ctx, req)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(a.path)
	if err != nil {
		return nil, a.fail(fetch.OpAttributes, err)
	}
	if err := a.checkKind(info); err != nil {
		return nil, err
	}
	attributes := attributesOf(info)
	if info.Mode().IsRegular() {
		file, err := os.OpenFile(a.path, os.O_RDONLY|nonBlocking, 0)
		if err == nil {
			if !hasSize(file, attributes.Size) {
				attributes.Size = -1
			}
			file.Close()
		}
	}
	return &attributes, nil
}

// Explain implements [driver.Explainer]. It does not access the file system.
func (f *Fetcher) Explain(req *fetch.Request) (*fetch.Explanation, error) {
	a, err := f.locate(req)
	if err != nil {
		return nil, err
	}
	return &fetch.Explanation{
		Steps: []fetch.Step{{Do: fmt.Sprintf("open %q", a.path)}},
		Notes: []string{"no connection is made: the file is local"},
	}, nil
}

// access is the state of one request.
type access struct {
	loc  *locator.File
	req  *fetch.Request
	env  *driver.Env
	path string    // in the notation of the system
	disk disk.Disk // that uploads are stored on

	special bool
	opt     Options
}

// Options are the Request.Options of this package. A nil *Options and the zero value mean the
// defaults.
type Options struct {
	// Mode is the permissions, before umask, of a file that Replace or Update creates. 0 means
	// 0666.
	Mode fs.FileMode
	// NoFollow is how many directories, from the end of the path of a directory, must not be symbolic
	// links, for a listing and for Edit. Each of them is opened in the one above it, so that an
	// exchange for a link meanwhile leads nowhere else. EditRename with ToDir is not supported then.
	NoFollow int
}

// mode returns the permissions of a new file.
func (o *Options) mode() fs.FileMode {
	if o.Mode == 0 {
		return 0o666
	}
	return o.Mode.Perm()
}

// access checks a request and calls the policy.
func (f *Fetcher) access(ctx context.Context, req *fetch.Request) (*access, error) {
	a, err := f.locate(req)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, a.fail(fetch.OpOpen, err)
	}
	a.disk = disk.Of(ctx)
	return a, driver.NewEnv(f.Env).Permit(ctx, fetch.Target{Locator: a.loc, From: req.From, Host: a.loc.Host})
}

// locate checks a request and computes its path.
func (f *Fetcher) locate(req *fetch.Request) (*access, error) {
	loc, ok := req.Locator.(*locator.File)
	if !ok {
		return nil, driver.Fail(fetch.OpCheck, req.Locator, fetch.ErrUnsupported, fmt.Errorf("not a file URL: %T", req.Locator))
	}
	if err := driver.CheckOctets(loc); err != nil {
		return nil, err
	}
	a := &access{loc: loc, req: req, env: driver.NewEnv(f.Env), special: f.Special}
	var err error
	switch a.opt, err = driver.OptionsOf[Options](req); {
	case err != nil:
		return nil, err
	case req.Query != "":
		return nil, a.fail(fetch.OpCheck, &fetch.Error{Kind: fetch.ErrUnsupported, Err: errors.New("a file URL has no search words")})
	case req.Length < 0:
		return nil, a.fail(fetch.OpCheck, &fetch.Error{Kind: fetch.ErrBadRange, Err: errors.New("negative length")})
	}
	if a.path, err = systemPath(loc); err != nil {
		return nil, a.fail(fetch.OpCheck, err)
	}
	return a, nil
}

// open opens the path for reading. The kind of file is checked before it is opened, because opening
// a named pipe waits for a writer, and again afterwards, because the file may have been replaced.
func (a *access) open(ctx context.Context) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(a.path)
	if err != nil {
		return nil, nil, a.fail(fetch.OpOpen, err)
	}
	if err := a.checkKind(info); err != nil {
		return nil, nil, err
	}
	var file *os.File
	switch {
	case info.IsDir() && a.opt.NoFollow > 0:
		file, err = a.openDirectory()
	case info.Mode()&fs.ModeNamedPipe != 0:
		file, err = openPipe(ctx, a.path)
	default:
		file, err = os.OpenFile(a.path, os.O_RDONLY|nonBlocking, 0)
	}
	if err != nil {
		return nil, nil, a.fail(fetch.OpOpen, err)
	}
	if info, err = file.Stat(); err == nil {
		err = a.checkKind(info)
	}
	if err != nil {
		file.Close()
		return nil, nil, a.fail(fetch.OpOpen, err)
	}
	return file, info, nil
}

// openPipe opens a named pipe for reading, which waits for a writer. If the context is done first,
// it opens the pipe for writing itself to end the wait.
func openPipe(ctx context.Context, path string) (*os.File, error) {
	var file *os.File
	var err error
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		file, err = os.Open(path)
	}()
	select {
	case <-opened:
		return file, err
	case <-ctx.Done():
	}
	for {
		w, wakeErr := os.OpenFile(path, os.O_WRONLY|nonBlocking, 0)
		if wakeErr == nil {
			w.Close()
		}
		select {
		case <-opened:
			if err == nil {
				file.Close()
			}
			return nil, ctx.Err()
		case <-time.After(time.Millisecond): // the reader is not waiting yet
		}
	}
}

// checkKind refuses special files, unless Special is set, and a file if the URL ends with a slash.
func (a *access) checkKind(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return nil
	case a.namesDirectory():
		return a.fail(fetch.OpOpen, &fetch.Error{Kind: fetch.ErrNotFound, Err: errors.New("not a directory, although the URL ends with a slash")})
	case info.Mode().IsRegular(), a.special:
		return nil
	}
	return a.fail(fetch.OpOpen, &fetch.Error{Kind: fetch.ErrPermission, Err: fmt.Errorf("%s is not a regular file", describe(info.Mode()))})
}

// describe names the kind of a file.
func describe(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a file"
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a special file"
}

// namesDirectory reports whether the URL ends in a slash.
func (a *access) namesDirectory() bool {
	n := len(a.loc.Segments)
	return n == 0 || a.loc.Segments[n-1] == ""
}

// fail wraps err for this access. It drops the path from system errors, because the URL has it.
func (a *access) fail(op fetch.Op, err error) *fetch.Error {
	var path *fs.PathError
	kind := fetch.KindOf(err)
	if errors.As(err, &path) {
		err = path.Err
		switch {
		case errors.Is(err, syscall.ENOTDIR):
			kind = fetch.ErrNotFound
		case kind == fetch.ErrOther:
			kind = fetch.ErrLocalIO
		}
	}
	return driver.Fail(op, a.loc, kind, err)
}

// attributesOf returns the attributes of a file. Only a regular one has a size and a media type.
func attributesOf(info fs.FileInfo) fetch.Attributes {
	a := fetch.Attributes{Size: -1, ModTime: info.ModTime()}
	if info.Mode().IsRegular() {
		a.Size = info.Size()
		a.MediaType = filename.MediaType(info.Name())
		a.Guessed = a.MediaType != ""
	}
	return a
}
