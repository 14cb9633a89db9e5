package fetchblob

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	fetchdriver "github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
	// gocloud.dev is what this package adapts to: an interface of buckets, which programs open by a URL.
	// Its drivertest tests the adapter.
	"github.com/fetch1738/fetch1738/remotefs"
	"github.com/fetch1738/fetch1738/transport"
	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/gcerrors"
)

// Options are the settings of a bucket. The zero value has every default.
type Options struct {
	// ContentType returns the media type of a file. If it is nil or returns "", the type is what
	// the server sends, or else what the suffix of the key says, or application/octet-stream.
	ContentType func(key string) string
	// Unlisted is called when List finds a directory that it cannot list, such as one that the
	// server does not permit. If Unlisted returns nil, List continues without the directory. If the
	// field is nil, List fails with err.
	Unlisted func(dir string, err error) error
}

// OpenBucket returns the directory at url as a bucket, which is read-only. The scheme is ftp, ftps,
// file, gopher, gophers or prospero; see [remotefs.FS]. Nothing is requested yet: use
// [blob.Bucket.IsAccessible] to find out if there is such a directory.
//
// If r is nil, the bucket has a Resolver of its own with every default, which [blob.Bucket.Close]
// closes. The caller closes its own. If opts is nil, it is the zero value.
func OpenBucket(ctx context.Context, r *fetch1738.Resolver, url string, opts *Options) (*blob.Bucket, error) {
	b, err := open(ctx, r, url, opts)
	if err != nil {
		return nil, err
	}
	return blob.NewBucket(b), nil
}

// open returns the driver for [OpenBucket].
func open(ctx context.Context, r *fetch1738.Resolver, url string, opts *Options) (*bucket, error) {
	b := &bucket{r: r}
	if r == nil {
		b.r, b.owned = new(fetch1738.Resolver), true
	}
	if opts != nil {
		b.opts = *opts
	}
	var err error
	b.fsys, err = remotefs.New(ctx, b.r, url)
	return b, err
}

// URLOpener opens buckets by their URLs for a [blob.URLMux]. It is registered by the program, for
// the schemes that the program wants:
//
//	var mux blob.URLMux
//	mux.RegisterBucket("ftp", &fetchblob.URLOpener{})
//
// The parameters prefix and key of package blob may follow a URL; other parameters are a part of
// its path, as RFC 1738 has no parameters for these schemes.
type URLOpener struct {
	// Resolver performs the accesses of all buckets. If nil, each bucket has its own.
	Resolver *fetch1738.Resolver
	Options  Options
}

// OpenBucketURL implements [blob.BucketURLOpener].
func (o *URLOpener) OpenBucketURL(ctx context.Context, u *url.URL) (*blob.Bucket, error) {
	return OpenBucket(ctx, o.Resolver, u.String(), &o.Options)
}

// A bucket is a [driver.Bucket].
type bucket struct {
	r     *fetch1738.Resolver
	owned bool
	fsys  *remotefs.FS
	opts  Options

	mu    sync.Mutex
	walks []*walk // that wait for their next page, oldest first
}

var errReadOnly = errors.New("fetchblob: the bucket is read-only and has no signed URLs")

// NewTypedWriter implements [driver.Bucket].
func (b *bucket) NewTypedWriter(context.Context, string, string, *driver.WriterOptions) (driver.Writer, error) {
	return nil, errReadOnly
}

// Copy implements [driver.Bucket].
func (b *bucket) Copy(context.Context, string, string, *driver.CopyOptions) error { return errReadOnly }

// Delete implements [driver.Bucket].
func (b *bucket) Delete(context.Context, string, *driver.DeleteOptions) error { return errReadOnly }

// SignedURL implements [driver.Bucket].
func (b *bucket) SignedURL(context.Context, string, *driver.SignedURLOptions) (string, error) {
	return "", errReadOnly
}

// Close implements [driver.Bucket].
func (b *bucket) Close() error {
	if !b.owned {
		return nil
	}
	return b.r.Close()
}

// ErrorCode implements [driver.Bucket].
func (b *bucket) ErrorCode(err error) gcerrors.ErrorCode { return code(err) }

// code returns the code of gocloud.dev for an error.
func code(err error) gcerrors.ErrorCode {
	if errors.Is(err, errReadOnly) {
		return gcerrors.Unimplemented
	}
	switch fetch.KindOf(err) {
	case fetch.ErrNotFound:
		return gcerrors.NotFound
	case fetch.ErrPermission, fetch.ErrUnauthenticated, fetch.ErrRefused:
		return gcerrors.PermissionDenied
	case fetch.ErrBadURL:
		return gcerrors.InvalidArgument
	case fetch.ErrBadRange:
		return gcerrors.FailedPrecondition
	case fetch.ErrUnsupported:
		return gcerrors.Unimplemented
	case fetch.ErrCanceled:
		return gcerrors.Canceled
	case fetch.ErrTimeout:
		return gcerrors.DeadlineExceeded
	case fetch.ErrBusy:
		return gcerrors.ResourceExhausted
	case fetch.ErrLocalIO:
		return gcerrors.Internal
	}
	return gcerrors.Unknown
}

// ErrorAs implements [driver.Bucket].
func (b *bucket) ErrorAs(err error, i any) bool {
	p, ok := i.(**fetch.Error)
	return ok && errors.As(err, p)
}

// As implements [driver.Bucket].
func (b *bucket) As(i any) bool {
	switch p := i.(type) {
	case **fetch1738.Resolver:
		*p = b.r
	case **remotefs.FS:
		*p = b.fsys
	default:
		return false
	}
	return true
}

// as converts a value to its own type.
func as[T any](v T) func(any) bool {
	return func(i any) bool {
		p, ok := i.(*T)
		if ok {
			*p = v
		}
		return ok
	}
}

// missing is the error of a key that has no file.
func missing(req *fetch.Request) error {
	l := locator.Locator(nil)
	if req != nil {
		l = req.Locator
	}
	return fetchdriver.Fail(fetch.OpAccess, l, fetch.ErrNotFound, errors.New("no such file"))
}

// isMissing reports whether err is that of a name which is not a directory.
func (b *bucket) isMissing(ctx context.Context, name string, err error) bool {
	if code(err) == gcerrors.NotFound {
		return true
	}
	info, err := b.fsys.WithContext(ctx).Stat(name)
	return err == nil && !info.IsDir()
}

// find calls do for the file of a key, and for the next place where it may be while it is missing.
func (b *bucket) find(ctx context.Context, key string, do func(*fetch.Request) error) error {
	err := missing(nil)
	fsys := b.fsys.WithContext(ctx)
	for _, name := range paths(key) {
		var req *fetch.Request
		if req, err = fsys.Request(name); err == nil {
			if _, ok := req.Locator.(*locator.FTP); ok {
				req.Options = &ftp.Options{ModTime: true}
			}
			err = do(req)
		} else if info, statErr := fsys.Stat(name); statErr == nil && info.IsDir() {
			err = missing(nil)
		}
		// A control character of a key may make no path, but what fileblob writes for it does.
		if c := code(err); c != gcerrors.NotFound && c != gcerrors.InvalidArgument {
			return err
		}
	}
	return err
}

// Attributes implements [driver.Bucket].
func (b *bucket) Attributes(ctx context.Context, key string) (*driver.Attributes, error) {
	var found *fetch.Attributes
	err := b.find(ctx, key, func(req *fetch.Request) (err error) {
		found, err = b.attributes(ctx, req)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &driver.Attributes{
		ContentType: b.contentType(key, found), ModTime: found.ModTime, Size: found.Size, ETag: found.ETag(),
		AsFunc: as(found),
	}, nil
}

// attributes are those that the server tells, or else those that come with the document.
func (b *bucket) attributes(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
	found, err := b.r.FindAttributes(ctx, req)
	switch kind := fetch.KindOf(err); {
	case err == nil && found.Size >= 0:
		return found, nil
	case err != nil && kind != fetch.ErrUnsupported && kind != fetch.ErrProtocol:
		return nil, err
	}
	res, err := b.fetch(ctx, req)
	if err != nil {
		return nil, err
	}
	_ = res.Close()
	return &res.Attributes, nil
}

// fetch fetches a document.
func (b *bucket) fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	res, err := b.r.Fetch(ctx, req)
	if err == nil && res.Kind != fetch.KindDocument {
		_ = res.Close()
		return nil, missing(req)
	}
	return res, err
}

// contentType returns the type that Options has for a key, or that of the server, or that of its
// suffix.
func (b *bucket) contentType(key string, a *fetch.Attributes) string {
	if b.opts.ContentType != nil {
		if t := b.opts.ContentType(key); t != "" {
			return t
		}
	}
	t := a.MediaType
	if t == "" {
		t = transport.MediaType(key)
	}
	switch {
	case t == "":
		return "application/octet-stream"
	case a.Charset != "":
		return t + "; charset=" + a.Charset
	}
	return t
}

// NewRangeReader implements [driver.Bucket].
func (b *bucket) NewRangeReader(ctx context.Context, key string, offset, length int64, opts *driver.ReaderOptions) (driver.Reader, error) {
	var res *fetch.Resource
	asked := false
	err := b.find(ctx, key, func(req *fetch.Request) (err error) {
		if length != 0 {
			req.Offset, req.Length = offset, max(length, 0)
		}
		if opts.BeforeRead != nil && !asked {
			asked = true
			if err := opts.BeforeRead(as(req)); err != nil {
				return err
			}
		}
		if length != 0 {
			res, err = b.fetch(ctx, req)
			return err
		}
		found, err := b.attributes(ctx, req)
		if err == nil {
			res = &fetch.Resource{Attributes: *found, Locator: req.Locator, Body: http.NoBody}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &reader{res, driver.ReaderAttributes{ContentType: b.contentType(key, &res.Attributes), ModTime: res.ModTime, Size: res.Size}}, nil
}

// A reader is a [driver.Reader] and a [driver.Downloader].
type reader struct {
	res        *fetch.Resource
	attributes driver.ReaderAttributes
}

func (r *reader) Read(p []byte) (int, error)           { return r.res.Body.Read(p) }
func (r *reader) Attributes() *driver.ReaderAttributes { return &r.attributes }
func (r *reader) As(i any) bool                        { return as(r.res)(i) }

// Close implements [driver.Reader]. What was not read need not be whole.
func (r *reader) Close() error {
	_ = r.res.Close()
	return nil
}

// Download implements [driver.Downloader].
func (r *reader) Download(w io.Writer) error {
	_, err := io.Copy(w, r.res.Body)
	return err
}
