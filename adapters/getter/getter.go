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
	"net/url"

	"github.com/hashicorp/go-getter"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/adapters/internal/getting"
)

// Getters returns a new [Getter] under the name of each of its schemes, for the Getters of a
// [getter.Client]. See Getter about r.
func Getters(r *fetch1738.Resolver) map[string]getter.Getter {
	g := &Getter{Resolver: r}
	getters := make(map[string]getter.Getter)
	for _, scheme := range getting.Schemes {
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
	defer s.End()
	directory, err := s.IsDirectory()
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
	defer s.End()
	return s.File(dst)
}

// Get implements [getter.Getter] with a [mirror.Mirror], for ftp, gopher, news and nntp, also over
// TLS: dst becomes a copy of the directory, the gopher site or the newsgroup. A further Get fetches
// only what is new or has changed, and deletes what is gone, unless it was modified locally. The
// record of that is in dst, in the directory ".fetch1738".
//
// No file is written outside of dst. Names that are not safe are changed: none begins with a dot, and
// "what?" becomes "what%3F". The paths in the copy of a gopher site are the selectors; a menu is the
// file gophermap. Links, devices and items on other servers are skipped.
func (g *Getter) Get(dst string, u *url.URL) error {
	s, err := g.start(u)
	if err != nil {
		return err
	}
	defer s.End()
	return s.Tree(dst, g.MaxDelete)
}

// start begins the download of u.
func (g *Getter) start(u *url.URL) (*getting.Session, error) {
	ctx, set := context.Background(), getting.Settings{}
	var secure func() (*tls.Config, error)
	if c := g.client; c != nil {
		if c.Ctx != nil {
			ctx = c.Ctx
		}
		set = settings(c)
		if c.Insecure && g.Resolver != nil {
			return nil, errors.New("fetch1738: Insecure has no effect on a Resolver; set Env.TLS of the Resolver instead")
		}
		if c.Insecure {
			secure = func() (*tls.Config, error) { return &tls.Config{InsecureSkipVerify: true}, nil }
		}
	}
	return getting.Start(ctx, g.Resolver, secure, u, set)
}

func settings(c *getter.Client) getting.Settings {
	set := getting.Settings{Umask: c.Umask}
	if c.ProgressListener != nil {
		set.Progress = c.ProgressListener
	}
	if c.DisableSymlinks {
		set.LinkError = getter.ErrSymlinkCopy
	}
	return set
}
