package http

import (
	"io/fs"
	"net/url"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/fetchtest"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

func TestConformance(t *testing.T) {
	fetchtest.Run(t, fetchtest.Harness{
		New: func(env *fetch.Env) fetch.Fetcher { return &Fetcher{Env: env, Retries: -1} },
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
		Ranges: true,
	})
}
