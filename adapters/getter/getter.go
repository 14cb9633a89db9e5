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
// It is a module of its own, so that only programs that import it depend on go-getter.
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
	"net/url"
	"slices"
	"strings"

	// go-getter is what this package adapts to: programs such as Terraform fetch the sources with it
	// that their users name by URLs.
	"github.com/hashicorp/go-getter/v2"

	"github.com/fetch1738/fetch1738"
)

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

var schemes = []string{"ftp", "ftps", "gopher", "gophers", "news", "nntp", "nntps", "prospero", "snews", "wais"}

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
	s, err := start(ctx, g.Resolver, u, &getter.Request{})
	if err != nil {
		return getter.ModeInvalid, err
	}
	defer s.end()
	directory, err := s.isDirectory()
	switch {
	case err != nil:
		return getter.ModeInvalid, err
	case directory:
		return getter.ModeDir, nil
	}
	return getter.ModeFile, nil
}

// GetFile implements [getter.Getter] with [download.File]: req.Dst appears when it is complete.
// If the download fails, what was received stays in req.Dst+".part", and the next GetFile resumes it.
func (g *Getter) GetFile(ctx context.Context, req *getter.Request) error {
	s, err := start(ctx, g.Resolver, req.URL(), req)
	if err != nil {
		return err
	}
	defer s.end()
	return s.file(req.Dst)
}

// Get implements [getter.Getter] with a [mirror.Mirror], for ftp, gopher, news and nntp, also over
// TLS: req.Dst becomes a copy of the directory, the gopher site or the newsgroup. A further Get fetches
// only what is new or has changed, and deletes what is gone, unless it was modified locally. The
// record of that is in req.Dst, in the directory ".fetch1738".
//
// No file is written outside of req.Dst. Names that are not safe are changed: none begins with a dot, and
// "what?" becomes "what%3F". The paths in the copy of a gopher site are the selectors; a menu is the
// file gophermap. Links, devices and items on other servers are skipped.
func (g *Getter) Get(ctx context.Context, req *getter.Request) error {
	s, err := start(ctx, g.Resolver, req.URL(), req)
	if err != nil {
		return err
	}
	defer s.end()
	return s.tree(req.Dst, g.MaxDelete)
}
