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

	"github.com/hashicorp/go-getter/v2"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/download"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
)

// session is one call of a Getter. It is a [download.Fetcher] that shows the progress. It must be
// ended.
type session struct {
	*fetch1738.Resolver
	ctx    context.Context
	client *getter.Request
	req    *fetch.Request
	own    bool // the Resolver is that of this call
}

// start begins the download of u. If r is nil, the call has a Resolver of its own, with every
// default.
func start(ctx context.Context, r *fetch1738.Resolver, u *url.URL, client *getter.Request) (*session, error) {
	s := &session{Resolver: r, ctx: ctx, client: client, own: r == nil}
	if s.own {
		s.Resolver = new(fetch1738.Resolver)
	}
	if err := s.locate(u); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// end closes the Resolver, if it is the call's own.
func (s *session) end() {
	if s.own {
		_ = s.Close()
	}
}

// locate sets the request for u.
func (s *session) locate(u *url.URL) error {
	if !slices.Contains(schemes, u.Scheme) {
		return fmt.Errorf("fetch1738: scheme %q is not supported here", u.Scheme)
	}
	q := u.Query()
	q.Del("filename") // which go-getter removes after Mode
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
	return false, driver.Fail(fetch.OpAccess, req.Locator, fetch.ErrUnsupported, errors.New("a "+res.Kind.String()+", not a document or directory"))
}

// file downloads a file.
func (s *session) file(dst string) error {
	part := dst + download.PartSuffix
	if s.client.DisableSymlinks && (isLink(dst) || isLink(part)) {
		return getter.ErrSymlinkCopy
	}
	if err := os.MkdirAll(filepath.Dir(dst), 0o755&^s.client.Umask); err != nil {
		return err
	}
	if !isLink(part) { // which Download refuses
		// Download keeps the permissions.
		f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE, 0o666&^s.client.Umask)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return download.Request(s.ctx, s, s.req, dst)
}

// tree makes or updates the copy of a directory.
func (s *session) tree(dst string, maxDelete int) error {
	if s.client.DisableSymlinks {
		if err := eachFile(dst, func(_ string, d fs.DirEntry) error {
			if d.Type() == fs.ModeSymlink {
				return getter.ErrSymlinkCopy
			}
			return nil
		}); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dst, 0o755&^s.client.Umask); err != nil {
		return err
	}
	m := mirror.Mirror{Fetcher: s, Start: s.req.Locator, Dir: dst, Names: mirror.ChangeNames, Delete: true, MaxDelete: maxDelete}
	_, err := m.Run(s.ctx)
	if s.client.Umask == 0 {
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
		if err != nil || info.Mode().Perm()&s.client.Umask == 0 {
			return err
		}
		return os.Chmod(path, info.Mode().Perm()&^s.client.Umask)
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
	if err != nil || s.client.ProgressListener == nil || res.Kind != fetch.KindDocument {
		return res, err
	}
	name := path.Base(req.Locator.Redacted())
	res.Body = s.client.ProgressListener.TrackProgress(name, max(0, req.Offset), max(0, res.Size), res.Body)
	return res, nil
}

var _ download.Fetcher = (*session)(nil)
