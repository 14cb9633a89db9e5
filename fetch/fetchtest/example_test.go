package fetchtest_test

import (
	"io/fs"
	"net/url"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest"
	"github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// This is the whole test of a Fetcher for HTTP. In a test file t is the argument of
// TestConformance(t *testing.T).
func ExampleRun() {
	var t *testing.T

	fetchtest.Run(t, fetchtest.Harness{
		New: func(env *fetch.Env) driver.Fetcher {
			return &http.Fetcher{Env: env, Retries: -1} // retries would take time
		},
		Serve: func(tb testing.TB, content fs.FS, login *locator.Login) *fetchtest.Site {
			srv := webtest.New(tb, func(s *webtest.Server) {
				s.Content, s.InMemory = content, true
				if login != nil {
					s.Users = map[string]testserver.User{login.User: {Password: login.Password}}
				}
			})
			return &fetchtest.Site{Dial: srv.Dial, Locate: func(name string) locator.Locator {
				if info, err := fs.Stat(content, name); err == nil && info.IsDir() {
					return nil // for HTTP, a directory is an ordinary page
				}
				ref, err := locator.Parser{}.Parse(srv.URL + "/" + strings.ReplaceAll(url.PathEscape(name), "%2F", "/"))
				if err != nil {
					tb.Fatal(err)
				}
				return ref.Locator
			}}
		},
		Ranges: true, // HTTP has them
	})
}
