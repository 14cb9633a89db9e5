// Package fetchgetter lets go-getter download from the schemes of RFC 1738 that it does not have:
// ftp, ftps, gopher, gophers, news, snews, nntp, nntps, wais and prospero.
//
//	getters := maps.Clone(getter.Getters)
//	maps.Copy(getters, fetchgetter.Getters(nil))
//	client := &getter.Client{
//		Ctx:     ctx,
//		Src:     "ftp://ftp.example.org/pub/tool.tar.gz?checksum=sha256:…",
//		Dst:     "tool",
//		Mode:    getter.ClientModeAny,
//		Getters: getters,
//	}
//	err := client.Get()
//
// This package is for go-getter v1. Package
// [github.com/fetch1738/fetch1738/adapters/getter2] is for go-getter v2. Each is a module of its
// own, so that only programs that import it depend on go-getter.
//
// # URLs
//
// go-getter takes its parameters from the query of the URL: checksum, archive, and filename, which
// has an effect in ClientModeAny only. It sorts and escapes the rest of the query again. The URLs of
// RFC 1738 have no query, so a Getter refuses any other parameter. Write a "?" in the name of a file
// as %3F. The search words of a gopher URL follow %09; a WAIS search ("wais://host/db?words") cannot
// be written.
//
// go-getter takes "//" in a path for the beginning of a subdirectory: "ftp://host/pub//new" fetches
// all of pub and keeps new. Write a path from the root of an FTP server as "ftp://host/%2Fetc/motd".
//
// In ClientModeAny the name of the file is the last component of the path, with a typecode if there
// is one ("README;type=a"); use filename to give another. news URLs have no path, so they require
// it. An archive is recognized by the end of the path; with a typecode, use archive=zip.
//
// There is no Detector, as go-getter asks Detectors only about text that is not a URL.
package fetchgetter

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/hashicorp/go-getter"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
)

// schemes are the schemes of a Getter.
var schemes = []string{"ftp", "ftps", "gopher", "gophers", "news", "nntp", "nntps", "prospero", "snews", "wais"}

// Getters returns a new [Getter] under the name of each of its schemes, for the Getters of a
// [getter.Client]. See Getter about r.
func Getters(r *fetch1738.Resolver) map[string]getter.Getter {
	g := &Getter{Resolver: r}
	getters := make(map[string]getter.Getter)
	for _, scheme := range schemes {
		getters[scheme] = g
	}
	return getters
}

// A Getter is a [getter.Getter] for the schemes of [Getters]. The zero value is ready to use.
//
// The context of the Client ends a download. Its ProgressListener reads every document. Its Umask
// applies to all files and directories that are created. With DisableSymlinks, a download fails with
// [getter.ErrSymlinkCopy] if it would write through a symbolic link; a Getter creates none. Insecure
// is for a Getter without a Resolver: with one, the download fails, because the Resolver decides.
// Where a URL may lead, limits of time and size, TLS and logins are those of the Resolver.
//
// go-getter v1 sets another Client, without Umask, DisableSymlinks and Insecure, while it fetches
// the file that ?checksum=file:URL names, and does not set the first one again.
//
// As all Getters of go-getter v1, a Getter must not be used by two Clients at the same time. They
// may use two Getters with one Resolver.
type Getter struct {
	// Resolver fetches. If nil, each call has a new one with every default, and closes it.
	Resolver *fetch1738.Resolver
	// MaxDelete is the MaxDelete of the [mirror.Mirror] of Get: the maximum number of files that it
	// deletes. The zero value means that it deletes none that may only be missing in a listing.
	MaxDelete int

	client *getter.Client
}

var _ getter.Getter = (*Getter)(nil)

// SetClient implements [getter.Getter].
func (g *Getter) SetClient(c *getter.Client) { g.client = c }

// ClientMode implements [getter.Getter]. It asks the server: directories, menus and newsgroups are
// directories. For an FTP URL without a slash at the end that takes up to three requests.
func (g *Getter) ClientMode(u *url.URL) (getter.ClientMode, error) {
	s, err := g.start(u)
	if err != nil {
		return getter.ClientModeInvalid, err
	}
	defer s.close()
	directory, err := s.isDirectory()
	switch {
	case err != nil:
		return getter.ClientModeInvalid, err
	case directory:
		return getter.ClientModeDir, nil
	}
	return getter.ClientModeFile, nil
}

// GetFile implements [getter.Getter] with [fetch1738.Download]: dst appears when it is complete. If
// the download fails, what was received stays in dst+".part", and the next GetFile resumes it.
func (g *Getter) GetFile(dst string, u *url.URL) error {
	s, err := g.start(u)
	if err != nil {
		return err
	}
	defer s.close()
	return s.file(dst)
}

// Get implements [getter.Getter] with a [mirror.Mirror], for ftp, gopher, news and nntp, also over
// TLS: dst becomes a copy of the directory, the gopher site or the newsgroup. A further Get fetches
// only what is new or has changed, and deletes what is gone, unless it was modified locally. The
// record of that is in dst, in the directory ".fetch1738".
//
// No file is written outside of dst. Names that are not safe are changed: none begins with a dot, and
// "what?" becomes "what_". The paths in the copy of a gopher site are the selectors; a menu is the
// file gophermap. Links, devices and items on other servers are skipped.
func (g *Getter) Get(dst string, u *url.URL) error {
	s, err := g.start(u)
	if err != nil {
		return err
	}
	defer s.close()
	return s.tree(dst, g.MaxDelete)
}

// start begins the download of u.
func (g *Getter) start(u *url.URL) (*session, error) {
	s := &session{ctx: context.Background(), Resolver: g.Resolver, close: func() error { return nil }}
	insecure := false
	if c := g.client; c != nil {
		if c.Ctx != nil {
			s.ctx = c.Ctx
		}
		s.progress, s.umask, s.noLinks, insecure = c.ProgressListener, c.Umask, c.DisableSymlinks, c.Insecure
	}
	if s.Resolver == nil {
		s.Resolver = new(fetch1738.Resolver)
		s.close = s.Resolver.Close
		if insecure {
			s.Resolver.Env.TLS = func() (*tls.Config, error) { return &tls.Config{InsecureSkipVerify: true}, nil }
		}
	} else if insecure {
		return nil, errors.New("fetch1738: Insecure has no effect on a Resolver; set Env.TLS of the Resolver instead")
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
