// Package play starts the test servers for the commands serve and demo, and holds their sample
// content.
package play

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// A Server is one of the test servers.
type Server struct {
	Scheme string
	// Start starts the server on addr.
	Start func(ctx context.Context, addr string, set Setting) (*testserver.Server, error)
}

// Setting configures the part that all servers have in common.
type Setting = func(*testserver.Server)

// Servers returns the test servers, one for each scheme that has one. Once the FTP server runs, the
// Prospero server is an archie server that finds its files.
func Servers() []Server {
	site := "" // of the FTP server, in the form of Prospero
	return []Server{
		{"ftp", starter(func(ctx context.Context, addr string, configure ...func(*ftptest.Server)) (*ftptest.Server, error) {
			srv, err := ftptest.Start(ctx, addr, configure...)
			if err == nil {
				site = siteOf(srv.Addr)
			}
			return srv, err
		})},
		{"gopher", starter(func(ctx context.Context, addr string, configure ...func(*gophertest.Server)) (*gophertest.Server, error) {
			// The UMN client requests menus by Gopher+ only.
			return gophertest.Start(ctx, addr, append(configure, func(s *gophertest.Server) { s.Dialect = gophertest.StandardGopher })...)
		})},
		{"http", starter(webtest.Start)},
		{"nntp", starter(nntptest.Start)},
		{"wais", starter(waistest.Start)},
		{"prospero", starter(func(ctx context.Context, addr string, configure ...func(*prosperotest.Server)) (*prosperotest.Server, error) {
			return prosperotest.Start(ctx, addr, append(configure, func(s *prosperotest.Server) { s.Site = site })...)
		})},
	}
}

// siteOf returns an address in the form of Prospero: host(port).
func siteOf(addr string) string {
	host, port, _ := net.SplitHostPort(addr)
	return fmt.Sprintf("%s(%s)", host, port)
}

// starter returns a function that starts a server of a package by its Start.
func starter[S interface{ Common() *testserver.Server }](start func(context.Context, string, ...func(S)) (S, error)) func(context.Context, string, Setting) (*testserver.Server, error) {
	return func(ctx context.Context, addr string, set Setting) (*testserver.Server, error) {
		srv, err := start(ctx, addr, func(s S) { set(s.Common()) })
		if err != nil {
			return nil, err
		}
		return srv.Common(), nil
	}
}

// Content returns the files below dir, or the sample if dir is "". Links that lead out of dir are
// not followed.
func Content(dir string) (fs.FS, error) {
	if dir == "" {
		return fs.Sub(sampleFiles, "sample")
	}
	root, err := Folder(dir)
	if err != nil {
		return nil, err
	}
	return root.FS(), nil
}

// Folder opens a folder that the user named. The slash makes a named pipe an error; without it,
// opening one waits for its writer.
func Folder(dir string) (*os.Root, error) { return os.OpenRoot(dir + "/") }

//go:embed sample
var sampleFiles embed.FS

// Prospero starts a Prospero directory server whose objects are on an FTP server. It returns the
// URL and a function that stops both.
func Prospero(ctx context.Context, sample fs.FS) (string, func(), error) {
	ftp, err := ftptest.Start(ctx, "", func(s *ftptest.Server) { s.Content = sample })
	if err != nil {
		return "", nil, err
	}
	srv, err := prosperotest.Start(ctx, "", func(s *prosperotest.Server) {
		s.Content = sample
		s.Methods = func(name string) []prosperotest.Method {
			return []prosperotest.Method{{Name: "AFTP", Host: siteOf(ftp.Addr), HSOName: path.Join("/", name), Args: []string{"BINARY"}}}
		}
	})
	if err != nil {
		_ = ftp.Close()
		return "", nil, err
	}
	return srv.URL, func() { _ = srv.Close(); _ = ftp.Close() }, nil
}
