package ftp

import (
	"io/fs"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/fetchtest"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	fetchtest.Run(t, fetchtest.Harness{
		New: func(env *fetch.Env) fetch.Fetcher { return &Fetcher{Env: env} },
		Serve: func(tb testing.TB, content fs.FS, login *locator.Login) *fetchtest.Site {
			srv := testserver.NewFTP(tb, func(s *testserver.FTP) {
				s.Content, s.InMemory = content, true
				if login != nil {
					s.Anonymous = false
					s.Users = map[string]testserver.User{login.User: {Password: login.Password}}
				}
			})
			return &fetchtest.Site{Dial: srv.Dial, Locate: func(name string) locator.Locator {
				l := locate(srv, strings.Split(name, "/")...)
				if name == "." {
					l.Name = ""
				} else if info, err := fs.Stat(content, name); err == nil && info.IsDir() {
					l.CWD, l.Name = append(l.CWD, l.Name), ""
				}
				l.Login = login
				return l
			}}
		},
		Ranges: true,
	})
}

// TestConformanceSecure has the same of ftps.
func TestConformanceSecure(t *testing.T) {
	server, client := certificate(t)
	fetchtest.Run(t, fetchtest.Harness{
		New: func(env *fetch.Env) fetch.Fetcher { return &Fetcher{Env: env, TLS: client} },
		Serve: func(tb testing.TB, content fs.FS, login *locator.Login) *fetchtest.Site {
			srv := testserver.NewFTP(tb, func(s *testserver.FTP) {
				s.Content, s.InMemory, s.TLS = content, true, server
				implicitly(s)
				if login != nil {
					s.Anonymous = false
					s.Users = map[string]testserver.User{login.User: {Password: login.Password}}
				}
			})
			return &fetchtest.Site{Dial: srv.Dial, Locate: func(name string) locator.Locator {
				path, _ := Path(on(srv, ""))
				path.CWD, path.Name = nil, name
				if i := strings.LastIndexByte(name, '/'); i >= 0 {
					path.CWD, path.Name = strings.Split(name[:i], "/"), name[i+1:]
				}
				if name == "." {
					path.Name = ""
				} else if info, err := fs.Stat(content, name); err == nil && info.IsDir() {
					path.CWD, path.Name = append(path.CWD, path.Name), ""
				}
				path.Login = login
				return SecureLocator(path)
			}}
		},
		Ranges: true,
		Secure: true,
	})
}

// locate is the locator of a path on a test server.
func locate(srv *testserver.FTP, path ...string) *locator.FTP {
	l, err := locator.Parse(srv.URL + "/")
	if err != nil {
		panic(err)
	}
	ftp := l.(*locator.FTP)
	ftp.CWD, ftp.Name = path[:len(path)-1], path[len(path)-1]
	return ftp
}
