package ftp

import (
	"crypto/tls"
	"io/fs"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) { conformance(t, nil, nil) }

// TestConformanceSecure tests the same for ftps.
func TestConformanceSecure(t *testing.T) {
	server, client := certificate(t)
	conformance(t, server, client)
}

func conformance(t *testing.T, server, client *tls.Config) {
	h := fetchtest.Harness{Ranges: true}
	h.New = func(env *fetch.Env) driver.Fetcher { return &Fetcher{Env: env} }
	h.Serve = func(tb testing.TB, content fs.FS, login *locator.Login) *fetchtest.Site {
		srv := ftptest.New(tb, func(s *ftptest.Server) {
			s.Content, s.InMemory, s.TLS = content, true, server
			if server != nil {
				implicitly(s)
			}
			if login != nil {
				s.Anonymous = false
				s.Users = map[string]testserver.User{login.User: {Password: login.Password}}
			}
		})
		return &fetchtest.Site{Dial: srv.Dial, TLS: client, Locate: func(name string) locator.Locator {
			l := locate(srv, strings.Split(name, "/")...)
			if name == "." {
				l.Name = ""
			} else if info, err := fs.Stat(content, name); err == nil && info.IsDir() {
				l.CWD, l.Name = append(l.CWD, l.Name), ""
			}
			l.Login = login
			return l
		}}
	}
	fetchtest.Run(t, h)
}

// locate returns the locator of a path on a test server.
func locate(srv *ftptest.Server, path ...string) *locator.FTP {
	ref, err := locator.Parser{}.Parse(srv.URL + "/")
	if err != nil {
		panic(err)
	}
	ftp := ref.Locator.(*locator.FTP)
	ftp.CWD, ftp.Name = path[:len(path)-1], path[len(path)-1]
	return ftp
}
