package http

import (
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// prior are protocols with which HTTP/2 is spoken at once.
func prior() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}

func TestConformance(t *testing.T) {
	for name, protocols := range map[string]*http.Protocols{"HTTP/1.1": nil, "HTTP/2": prior()} {
		t.Run(name, func(t *testing.T) { conformance(t, protocols) })
	}
}

func conformance(t *testing.T, protocols *http.Protocols) {
	fetchtest.Run(t, fetchtest.Harness{
		New: func(env *fetch.Env) driver.Fetcher { return &Fetcher{Env: env, Retries: -1, Protocols: protocols} },
		Serve: func(tb testing.TB, content fs.FS, login *locator.Login) *fetchtest.Site {
			srv := webtest.New(tb, func(s *webtest.Server) {
				s.Content, s.InMemory = content, true
				if login != nil {
					s.Users = map[string]testserver.User{login.User: {Password: login.Password}}
				}
			})
			ref, err := locator.Parser{}.Parse(srv.URL)
			if err != nil {
				tb.Fatal(err)
			}
			return &fetchtest.Site{Dial: srv.Dial, Locate: func(name string) locator.Locator {
				if info, err := fs.Stat(content, name); err == nil && info.IsDir() {
					return nil // in HTTP, a directory is a document
				}
				l := *ref.Locator.(*locator.HTTP)
				l.HasPath, l.Path = true, strings.ReplaceAll(url.PathEscape(name), "%2F", "/")
				return &l
			}}
		},
		Ranges: true, Encoded: protocols != nil,
	})
}
