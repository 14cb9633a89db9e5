// Package getting is what the getters for go-getter v1 and v2 share: everything that needs no type of
// go-getter. A released getter may be built with a later version of this module, so what is exported
// here must stay compatible.
package getting

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
)

// Schemes are the schemes of a getter. It must not be changed.
var Schemes = []string{"ftp", "ftps", "gopher", "gophers", "news", "nntp", "nntps", "prospero", "snews", "wais"}

// Settings are what a client of go-getter sets for all getters.
type Settings struct {
	// Progress, if not nil, reads every document.
	Progress interface {
		TrackProgress(src string, currentSize, totalSize int64, stream io.ReadCloser) io.ReadCloser
	}
	Umask os.FileMode
	// LinkError, if not nil, is the error for what would be written through a symbolic link.
	LinkError error
}

// Session is one call of a getter. It is a [fetch1738.Downloader] that shows the progress. It must be
// ended.
type Session struct {
	*fetch1738.Resolver
	Settings
	ctx context.Context
	req *fetch.Request
	own bool // the Resolver is that of this call
}

// Start begins the call of a getter for u. If r is nil, the call has a Resolver of its own, with
// every default and, if that is not nil, this configuration of TLS.
func Start(ctx context.Context, r *fetch1738.Resolver, secure func() (*tls.Config, error), u *url.URL, set Settings) (*Session, error) {
	s := &Session{Resolver: r, Settings: set, ctx: ctx, own: r == nil}
	if s.own {
		s.Resolver = &fetch1738.Resolver{Env: fetch.Env{TLS: secure}}
	}
	if err := s.locate(u); err != nil {
		s.End()
		return nil, err
	}
	return s, nil
}

// End closes the Resolver, if it is the call's own.
func (s *Session) End() {
	if s.own {
		_ = s.Close()
	}
}

// locate sets the request for u.
func (s *Session) locate(u *url.URL) error {
	if !slices.Contains(Schemes, u.Scheme) {
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

// IsDirectory reports whether the server has a directory, a menu or a newsgroup at the URL.
func (s *Session) IsDirectory() (bool, error) {
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
func (s *Session) kind(req *fetch.Request) (bool, error) {
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

// File downloads a file.
func (s *Session) File(dst string) error {
	part := dst + fetch1738.PartSuffix
	if s.LinkError != nil && (isLink(dst) || isLink(part)) {
		return s.LinkError
	}
	if err := os.MkdirAll(filepath.Dir(dst), 0o755&^s.Umask); err != nil {
		return err
	}
	if !isLink(part) { // which Download refuses
		// Download keeps the permissions.
		f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE, 0o666&^s.Umask)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return fetch1738.DownloadRequest(s.ctx, s, s.req, dst)
}

// Tree makes or updates the copy of a directory.
func (s *Session) Tree(dst string, maxDelete int) error {
	if s.LinkError != nil {
		if err := eachFile(dst, func(_ string, d fs.DirEntry) error {
			if d.Type() == fs.ModeSymlink {
				return s.LinkError
			}
			return nil
		}); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dst, 0o755&^s.Umask); err != nil {
		return err
	}
	m := mirror.Mirror{Fetcher: s, Start: s.req.Locator, Dir: dst, Names: mirror.ChangeNames, Delete: true, MaxDelete: maxDelete}
	_, err := m.Run(s.ctx)
	if s.Umask == 0 {
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
		if err != nil || info.Mode().Perm()&s.Umask == 0 {
			return err
		}
		return os.Chmod(path, info.Mode().Perm()&^s.Umask)
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
func (s *Session) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	res, err := s.Resolver.Fetch(ctx, req)
	if err != nil || s.Progress == nil || res.Kind != fetch.KindDocument {
		return res, err
	}
	name := path.Base(req.Locator.Redacted())
	res.Body = s.Progress.TrackProgress(name, max(0, req.Offset), max(0, res.Size), res.Body)
	return res, nil
}

var _ fetch1738.Downloader = (*Session)(nil)
