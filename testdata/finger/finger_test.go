package finger

import (
	"io/fs"
	"net/url"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/fingertest"
)

func TestConformance(t *testing.T) {
	fetchtest.Run(t, fetchtest.Harness{
		New: func(env *fetch.Env) driver.Fetcher { return &Fetcher{Env: env} },
		Serve: func(tb testing.TB, content fs.FS, login *locator.Login) *fetchtest.Site {
			if login != nil {
				return nil // the protocol has no passwords
			}
			srv := fingertest.New(tb, func(s *fingertest.Server) { s.Content, s.InMemory = content, true })
			return &fetchtest.Site{Dial: srv.Dial, Locate: func(name string) locator.Locator {
				if info, err := fs.Stat(content, name); err == nil && info.IsDir() {
					return nil // the protocol has no directories
				}
				ref, err := locator.Parser{}.Parse(srv.URL + "/" + url.PathEscape(name))
				if err != nil {
					tb.Fatal(err)
				}
				return ref.Locator
			}}
		},
		EndsWithClose: true,
		NoErrors:      true,
	})
}
