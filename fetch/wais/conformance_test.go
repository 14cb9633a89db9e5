package wais

import (
	"io/fs"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

func TestConformance(t *testing.T) {
	t.Run("memory", func(t *testing.T) { fetchtest.Run(t, harness(true, false)) })
	t.Run("loopback", func(t *testing.T) { fetchtest.Run(t, harness(false, false)) })
	t.Run("without Init", func(t *testing.T) { fetchtest.Run(t, harness(true, true)) })
}

func harness(inMemory, noInit bool) fetchtest.Harness {
	return fetchtest.Harness{
		New: func(env *fetch.Env) driver.Fetcher { return &Fetcher{Env: env, NoInit: noInit} },
		Serve: func(tb testing.TB, content fs.FS, login *locator.Login) *fetchtest.Site {
			if login != nil {
				return nil
			}
			srv := waistest.New(tb, func(s *waistest.Server) { s.Content, s.InMemory = content, inMemory })
			site := &fetchtest.Site{Locate: func(name string) locator.Locator {
				if name == "." || name == "dir" {
					return nil // there are no directories
				}
				return parse(tb, srv.URL+srv.DocumentPath("files", name))
			}}
			if inMemory {
				site.Dial = srv.Dial
			}
			return site
		},
		Ranges: true,
	}
}
