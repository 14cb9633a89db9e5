// Package fetchtest tests a [driver.Fetcher] against its contract. [Run] takes a [Harness], which
// can serve some content and has the locators of its documents. It tests what callers may expect of
// every Fetcher, whatever its protocol. A Fetcher delivers exactly the bytes of a document or a
// typed error. It keeps to the limits of its Env, closes what it opens, and discloses no password.
//
// The failures come from connections that the package itself hands to the Fetcher by Env.Dial: they
// end, break, stall or change a byte after any number of bytes. The server of a harness therefore
// need not misbehave. A harness with [testserver] looks like this:
//
//	func TestConformance(t *testing.T) {
//		fetchtest.Run(t, fetchtest.Harness{
//			New: func(env *fetch.Env) driver.Fetcher { return &ftp.Fetcher{Env: env} },
//			Serve: func(tb testing.TB, content fs.FS, login *locator.Login) *fetchtest.Site {
//				srv := ftptest.New(tb, func(s *ftptest.Server) {
//					s.Content, s.InMemory = content, true
//					if login != nil {
//						s.Anonymous = false
//						s.Users = map[string]testserver.User{login.User: {Password: login.Password}}
//					}
//				})
//				return &fetchtest.Site{Dial: srv.Dial, Locate: func(name string) locator.Locator { … }}
//			},
//			Ranges: true,
//		})
//	}
//
// The example of Run is complete. A failed subtest says what the Fetcher did and what is required
// of it.
//
// [testserver]: https://pkg.go.dev/github.com/fetch1738/fetch1738/testserver
package fetchtest

import (
	"testing"
)

// Run tests a Fetcher. Each group of tests is a subtest.
func Run(t *testing.T, h Harness) {
	s := inspect(t, h)
	for _, group := range []struct {
		name string
		test func(*testing.T, *subject)
	}{
		{"identity", testIdentity},
		{"errors", testErrors},
		{"context", testContext},
		{"close", testClose},
		{"truncation", testTruncation},
		{"hostile", testHostile},
		{"concurrency", testConcurrency},
		{"sessions", testSessions},
		{"ranges", testRanges},
		{"replace", testReplace},
		{"policy", testPolicy},
		{"TLS", testTLS},
		{"credentials", testCredentials},
		{"trace", testTrace},
		{"explain", testExplain},
	} {
		t.Run(group.name, func(t *testing.T) { group.test(t, s) })
	}
}
