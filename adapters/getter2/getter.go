// Package fetchgetter lets go-getter v2 download from the schemes of RFC 1738 that it does not have:
// ftp, ftps, gopher, gophers, news, snews, nntp, nntps, wais and prospero.
//
//	client := &getter.Client{
//		Getters: append([]getter.Getter{&fetchgetter.Getter{}}, getter.Getters...),
//	}
//	result, err := client.Get(ctx, &getter.Request{
//		Src: "ftp://ftp.example.org/pub/tool.tar.gz?checksum=sha256:…",
//		Dst: "tool",
//	})
//
// Package [github.com/fetch1738/fetch1738/adapters/getter] is for go-getter v1. Each is a module of
// its own, so that only programs that import it depend on go-getter.
//
// # URLs
//
// go-getter takes its parameters from the query of the URL: checksum, archive, and filename, which
// has an effect in ModeAny only. It sorts and escapes the rest of the query again. The URLs of
// RFC 1738 have no query, so a Getter refuses any other parameter. Write a "?" in the name of a file
// as %3F. The search words of a gopher URL follow %09; a WAIS search ("wais://host/db?words") cannot
// be written.
//
// go-getter takes "//" in a path for the beginning of a subdirectory: "ftp://host/pub//new" fetches
// all of pub and keeps new. Write a path from the root of an FTP server as "ftp://host/%2Fetc/motd".
//
// In ModeAny the name of the file is the last component of the path, with a typecode if there is one
// ("README;type=a"); use filename to give another. news URLs have no path, so they require it. An
// archive is recognized by the end of the path; with a typecode, use archive=zip.
package fetchgetter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/go-getter/v2"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
)

// schemes are the schemes of a Getter.
var schemes = []string{"ftp", "ftps", "gopher", "gophers", "news", "nntp", "nntps", "prospero", "snews", "wais"}

// A Getter is a [getter.Getter] for the schemes above. The zero value is ready to use. It is safe for
// concurrent use.
//
// The context ends a download. The ProgressListener of the Request reads every document. Its Umask
// applies to all files and directories that are created. With DisableSymlinks, a download fails with
// [getter.ErrSymlinkCopy] if it would write through a symbolic link; a Getter creates none. Copy and
// Inplace are about local files and have no effect. Where a URL may lead, limits of time and size,
// TLS and logins are those of the Resolver.
type Getter struct {
	// Resolver fetches. If nil, each call has a new one with every default, and closes it.
	Resolver *fetch1738.Resolver
	// MaxDelete is the MaxDelete of the [mirror.Mirror] of Get: the maximum number of files that it
	// deletes. The zero value means that it deletes none that may only be missing in a listing.
	MaxDelete int
}

var _ getter.Getter = (*Getter)(nil)

// Detect implements [getter.Getter]. It accepts URLs of the Getter's schemes. A getter that is forced
// ("ftp::") must be one of these schemes too. The error is about a URL of such a scheme that cannot
// be parsed.
func (g *Getter) Detect(req *getter.Request) (bool, error) {
	if req.Forced != "" && !slices.Contains(schemes, req.Forced) {
		return false, nil
	}
	scheme, _, ok := strings.Cut(req.Src, ":")
	if scheme = strings.ToLower(scheme); !ok || !slices.Contains(schemes, scheme) {
		return false, nil
	}
	_, err := url.Parse(req.Src)
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = fmt.Errorf("fetch1738: %s URL: %w", scheme, inner.Err) // without the URL, which may have a password
	}
	return true, err
}

// Mode implements [getter.Getter]. It asks the server: directories, menus and newsgroups are
// directories. For an FTP URL without a slash at the end that takes up to three requests.
func (g *Getter) Mode(ctx context.Context, u *url.URL) (getter.Mode, error) {
	s, err := g.start(ctx, u, &getter.Request{})
	if err != nil {
		return getter.ModeInvalid, err
	}
	defer s.close()
	directory, err := s.isDirectory()
	switch {
	case err != nil:
		return getter.ModeInvalid, err
	case directory:
		return getter.ModeDir, nil
	}
	return getter.ModeFile, nil
}

// GetFile implements [getter.Getter] with [fetch1738.Download]: req.Dst appears when it is complete.
// If the download fails, what was received stays in req.Dst+".part", and the next GetFile resumes it.
func (g *Getter) GetFile(ctx context.Context, req *getter.Request) error {
	s, err := g.start(ctx, req.URL(), req)
	if err != nil {
		return err
	}
	defer s.close()
	return s.file(req.Dst)
}

// Get implements [getter.Getter] with a [mirror.Mirror], for ftp, gopher, news and nntp, also over
// TLS: req.Dst becomes a copy of the directory, the gopher site or the newsgroup. A further Get fetches
// only what is new or has changed, and deletes what is gone, unless it was modified locally. The
// record of that is in req.Dst, in the directory ".fetch1738".
//
// No file is written outside of req.Dst. Names that are not safe are changed: none begins with a dot, and
// "what?" becomes "what_". The paths in the copy of a gopher site are the selectors; a menu is the
// file gophermap. Links, devices and items on other servers are skipped.
func (g *Getter) Get(ctx context.Context, req *getter.Request) error {
	s, err := g.start(ctx, req.URL(), req)
	if err != nil {
		return err
	}
	defer s.close()
	return s.tree(req.Dst, g.MaxDelete)
}

// start begins the download of u.
func (g *Getter) start(ctx context.Context, u *url.URL, req *getter.Request) (*session, error) {
	s := &session{
		Resolver: g.Resolver, close: func() error { return nil }, ctx: ctx,
		progress: req.ProgressListener, umask: req.Umask, noLinks: req.DisableSymlinks,
	}
	if s.Resolver == nil {
		s.Resolver = new(fetch1738.Resolver)
		s.close = s.Resolver.Close
	}
	if err := s.locate(u); err != nil {
		_ = s.close()
		return nil, err
	}
	return s, nil
}

// A session is one call of a Getter. It is a [fetch1738.Downloader] that shows the progress.
type session struct {
	*fetch1738.Resolver
	ctx      context.Context
	close    func() error
	req      *fetch.Request
	progress getter.ProgressTracker
	umask    os.FileMode
	noLinks  bool
}

// locate sets the request for u.
func (s *session) locate(u *url.URL) error {
	if !slices.Contains(schemes, u.Scheme) {
		return fmt.Errorf("fetch1738: scheme %q is not supported here", u.Scheme)
	}
	q := u.Query()
	q.Del("filename") // which go-getter removes after ClientMode
	if len(q) > 0 || u.ForceQuery {
		return fmt.Errorf("fetch1738: %s URLs have no query; write the ? of %q as %%3F", u.Scheme, "?"+q.Encode())
	}
	plain := *u
	plain.RawQuery = ""
	req, err := s.Request(s.ctx, plain.String())
	s.req = req
	return err
}

// isDirectory reports whether the server has a directory, a menu or a newsgroup at the URL.
func (s *session) isDirectory() (bool, error) {
	l, isFTP := s.req.Locator.(*locator.FTP)
	isFTP = isFTP && l.Type == 0 && l.Name != ""
	if isFTP {
		if a, err := s.FindAttributes(s.ctx, s.req); err == nil && a.Size >= 0 {
			return false, nil
		}
	}
	directory, err := s.kind(s.req)
	if isFTP && err != nil {
		below := *l
		below.CWD, below.Name = append(slices.Clip(l.CWD), l.Name), ""
		if directory, belowErr := s.kind(&fetch.Request{Locator: &below}); belowErr == nil {
			return directory, nil
		}
	}
	return directory, err
}

// kind reports whether what req designates is a directory.
func (s *session) kind(req *fetch.Request) (bool, error) {
	res, err := s.Resolver.Fetch(s.ctx, req)
	if err != nil {
		return false, err
	}
	defer res.Close() // what was not read need not be whole
	switch res.Kind {
	case fetch.KindDocument:
		return false, nil
	case fetch.KindDirectory, fetch.KindMenu:
		return true, nil
	}
	return false, fetch.Fail(fetch.OpAccess, req.Locator, fetch.ErrUnsupported, errors.New("a "+res.Kind.String()+", not a document or directory"))
}

// file downloads a file.
func (s *session) file(dst string) error {
	part := dst + fetch1738.PartSuffix
	if s.noLinks && (isLink(dst) || isLink(part)) {
		return getter.ErrSymlinkCopy
	}
	if err := os.MkdirAll(filepath.Dir(dst), 0o755&^s.umask); err != nil {
		return err
	}
	if !isLink(part) { // which Download refuses
		// Download keeps the permissions.
		f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE, 0o666&^s.umask)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return fetch1738.DownloadRequest(s.ctx, s, s.req, dst)
}

// tree makes or updates the copy of a directory.
func (s *session) tree(dst string, maxDelete int) error {
	if s.noLinks {
		if err := eachFile(dst, func(_ string, d fs.DirEntry) error {
			if d.Type() == fs.ModeSymlink {
				return getter.ErrSymlinkCopy
			}
			return nil
		}); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dst, 0o755&^s.umask); err != nil {
		return err
	}
	m := mirror.Mirror{Fetcher: s, Start: s.req.Locator, Dir: dst, Delete: true, MaxDelete: maxDelete}
	_, err := m.Run(s.ctx)
	if s.umask == 0 {
		return err
	}
	if real, linkErr := filepath.EvalSymlinks(dst); linkErr == nil {
		dst = real // which WalkDir enters
	}
	return errors.Join(err, eachFile(dst, func(path string, d fs.DirEntry) error {
		if d.Type()&^fs.ModeDir != 0 {
			return nil
		}
		info, err := d.Info()
		if err != nil || info.Mode().Perm()&s.umask == 0 {
			return err
		}
		return os.Chmod(path, info.Mode().Perm()&^s.umask)
	}))
}

// eachFile calls do for dst and everything below. It does nothing if there is no dst.
func eachFile(dst string, do func(path string, d fs.DirEntry) error) error {
	if _, err := os.Lstat(dst); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return filepath.WalkDir(dst, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return do(path, d)
	})
}

func isLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode().Type() == fs.ModeSymlink
}

// Fetch is that of the Resolver, with documents that the ProgressListener reads.
func (s *session) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	res, err := s.Resolver.Fetch(ctx, req)
	if err != nil || s.progress == nil || res.Kind != fetch.KindDocument {
		return res, err
	}
	name := path.Base(req.Locator.Redacted())
	res.Body = s.progress.TrackProgress(name, max(0, req.Offset), max(0, res.Size), res.Body)
	return res, nil
}

var _ fetch1738.Downloader = (*session)(nil)
