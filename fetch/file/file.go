// Package file fetches file URLs (RFC 1738 §3.10): files and directories of the
// machine the program runs on. It makes no connections.
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
	"github.com/fetch1738/fetch1738/locator"
)

// Fetcher fetches file URLs. The zero value works; its fields must not be
// changed once it is in use. It keeps nothing between requests.
//
// Besides [fetch.Fetcher] it is a [fetch.AttributeFinder], a [fetch.Replacer], a
// [fetch.Updater] (it appends) and a [fetch.Explainer].
//
// The host of a URL must be empty, "localhost" or "127.0.0.1"; files of another
// host are no business of this machine (§3.10).
type Fetcher struct {
	// Env says, by its Allow, who may name local files; nil is the zero Env. The
	// policy is asked with a Target that has no Network.
	Env *fetch.Env
	// Special also opens what is neither a regular file nor a directory: devices
	// and named pipes. They have no Size, may have no end, and may keep a reader
	// waiting until its context is done.
	Special bool
}

var (
	_ fetch.Fetcher         = (*Fetcher)(nil)
	_ fetch.AttributeFinder = (*Fetcher)(nil)
	_ fetch.Replacer        = (*Fetcher)(nil)
	_ fetch.Updater         = (*Fetcher)(nil)
	_ fetch.Explainer       = (*Fetcher)(nil)
)

// Fetch implements [fetch.Fetcher]. A directory is a KindDirectory: its Body has
// a name a line in alphabetical order, those of directories with a "/" behind
// them. A file that shrinks while it is read ends in an error of kind ErrTruncated.
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

// FindAttributes implements [fetch.AttributeFinder].
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
	return &attributes, nil
}

// Explain implements [fetch.Explainer].
func (f *Fetcher) Explain(req *fetch.Request) (*fetch.Plan, error) {
	a, err := f.locate(req)
	if err != nil {
		return nil, err
	}
	return &fetch.Plan{
		Steps: []fetch.Step{{Do: fmt.Sprintf("open %q", a.path)}},
		Notes: []string{"nothing is dialled: the file is one of this machine"},
	}, nil
}

// access is one request: the path it comes to.
type access struct {
	loc  *locator.File
	req  *fetch.Request
	env  fetch.Env
	path string // as the system has it

	special bool
	opt     Options
}

// Options are the Request.Options of this package. The zero value, as nil, asks
// for nothing special.
type Options struct {
	// Mode is the permissions of a file that Replace or Update makes, less the
	// umask; 0 is 0666.
	Mode fs.FileMode
}

// mode is the permissions of a file that is made.
func (o *Options) mode() fs.FileMode {
	if o.Mode == 0 {
		return 0o666
	}
	return o.Mode.Perm()
}

// access checks a request and asks the policy.
func (f *Fetcher) access(ctx context.Context, req *fetch.Request) (*access, error) {
	a, err := f.locate(req)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, a.fail(fetch.OpOpen, err)
	}
	return a, f.Env.Permit(ctx, fetch.Target{Locator: a.loc, From: req.From, Host: a.loc.Host})
}

// locate checks a request and finds its path.
func (f *Fetcher) locate(req *fetch.Request) (*access, error) {
	loc, ok := req.Locator.(*locator.File)
	if !ok {
		return nil, fetch.Fail(fetch.OpCheck, req.Locator, fetch.ErrUnsupported, fmt.Errorf("no file URL but a %T", req.Locator))
	}
	if err := fetch.CheckOctets(loc); err != nil {
		return nil, err
	}
	a := &access{loc: loc, req: req, env: f.Env.WithDefaults(), special: f.Special}
	var err error
	switch a.opt, err = fetch.OptionsOf[Options](req); {
	case err != nil:
		return nil, a.fail(fetch.OpCheck, err)
	case req.Query != "":
		return nil, a.fail(fetch.OpCheck, &fetch.Error{Kind: fetch.ErrUnsupported, Err: errors.New("a file takes no search words")})
	case req.Length < 0:
		return nil, a.fail(fetch.OpCheck, &fetch.Error{Kind: fetch.ErrBadRange, Err: errors.New("a negative length")})
	}
	if a.path, err = systemPath(loc); err != nil {
		return nil, a.fail(fetch.OpCheck, err)
	}
	return a, nil
}

// open opens the path for reading. What it is, is looked at before it is opened,
// as opening a named pipe waits for its other end, and after, as it may have
// been replaced in between.
func (a *access) open(ctx context.Context) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(a.path)
	if err != nil {
		return nil, nil, a.fail(fetch.OpOpen, err)
	}
	if err := a.checkKind(info); err != nil {
		return nil, nil, err
	}
	var file *os.File
	if info.Mode()&fs.ModeNamedPipe != 0 {
		file, err = openPipe(ctx, a.path)
	} else {
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

// openPipe opens a named pipe for reading, which waits for a writer. When the
// context ends before one comes, it is itself the writer.
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
		case <-time.After(time.Millisecond): // it has not come to wait yet
		}
	}
}

// checkKind refuses what is neither a file nor a directory, and a file where the
// URL means a directory.
func (a *access) checkKind(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return nil
	case a.namesDirectory():
		return a.fail(fetch.OpOpen, &fetch.Error{Kind: fetch.ErrNotFound, Err: errors.New("not a directory, as the URL's last slash says")})
	case info.Mode().IsRegular(), a.special:
		return nil
	}
	return a.fail(fetch.OpOpen, &fetch.Error{Kind: fetch.ErrPermission, Err: fmt.Errorf("%s is opened only when asked for", describe(info.Mode()))})
}

// describe names what is neither a regular file nor a directory.
func describe(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "what is neither a file nor a directory"
}

// namesDirectory reports whether the URL ends in a slash.
func (a *access) namesDirectory() bool {
	n := len(a.loc.Segments)
	return n == 0 || a.loc.Segments[n-1] == ""
}

// fail makes the error of this access. The path is in the URL; the system's
// error repeats it.
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
	return fetch.Fail(op, a.loc, kind, err)
}

func attributesOf(info fs.FileInfo) fetch.Attributes {
	a := fetch.Attributes{Size: -1, ModTime: info.ModTime()}
	if info.Mode().IsRegular() {
		a.Size = info.Size()
		a.MediaType = mediaType(info.Name())
		a.Guessed = a.MediaType != ""
	}
	return a
}
