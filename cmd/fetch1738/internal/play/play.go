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
)

// A Server is one of the test servers.
type Server struct {
	Scheme string
	Start  func(ctx context.Context, addr string, set Setting) (*testserver.Server, error)
}

// Setting configures the part that all servers have in common.
type Setting = func(*testserver.Server)

// Servers returns the test servers, one for each scheme that has one.
func Servers() []Server {
	return []Server{
		server("ftp", testserver.StartFTP, func(s *testserver.FTP) *testserver.Server { return &s.Server }),
		server("gopher", testserver.StartGopher, func(s *testserver.Gopher) *testserver.Server {
			s.Personality = testserver.StandardGopher // the UMN client requests menus by Gopher+ only
			return &s.Server
		}),
		server("http", testserver.StartHTTP, func(s *testserver.HTTP) *testserver.Server { return &s.Server }),
		server("nntp", testserver.StartNNTP, func(s *testserver.NNTP) *testserver.Server { return &s.Server }),
		server("wais", testserver.StartWAIS, func(s *testserver.WAIS) *testserver.Server { return &s.Server }),
		server("prospero", testserver.StartProspero, func(s *testserver.Prospero) *testserver.Server { return &s.Server }),
	}
}

// server returns a Server that is started by start. ready configures it and returns the part that
// it has in common with the other servers.
func server[S any](scheme string, start func(context.Context, string, ...func(*S)) (*S, error), ready func(*S) *testserver.Server) Server {
	return Server{scheme, func(ctx context.Context, addr string, set Setting) (srv *testserver.Server, err error) {
		_, err = start(ctx, addr, func(s *S) {
			srv = ready(s)
			set(srv)
		})
		return srv, err
	}}
}

// Content returns the files below dir, or the sample if dir is "". Links that lead out of dir are
// not followed.
func Content(dir string) (fs.FS, error) {
	if dir == "" {
		return fs.Sub(sampleFiles, "sample")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return root.FS(), nil
}

//go:embed sample
var sampleFiles embed.FS

// Prospero starts a Prospero directory server whose objects are on an FTP server. It returns the
// URL and a function that stops both.
func Prospero(ctx context.Context, sample fs.FS) (string, func(), error) {
	ftp, err := testserver.StartFTP(ctx, "", func(s *testserver.FTP) { s.Content = sample })
	if err != nil {
		return "", nil, err
	}
	host, port, _ := net.SplitHostPort(ftp.Addr)
	srv, err := testserver.StartProspero(ctx, "", func(s *testserver.Prospero) {
		s.Content = sample
		s.Methods = func(name string) []testserver.ProsperoMethod {
			return []testserver.ProsperoMethod{{Name: "AFTP", Host: fmt.Sprintf("%s(%s)", host, port), HSOName: path.Join("/", name), Args: []string{"BINARY"}}}
		}
	})
	if err != nil {
		_ = ftp.Close()
		return "", nil, err
	}
	return srv.URL, func() { _ = srv.Close(); _ = ftp.Close() }, nil
}
