// Package fetchtest holds a [fetch.Fetcher] to its contract. [Run] takes a
// [Harness], which knows how to serve some content and where it is then, and
// tests what every Fetcher owes its callers, whatever its protocol: the right
// octets or a typed error, within the limits of its Env, leaving nothing behind
// and telling nobody the password.
//
// The faults come from the kit's own connections, handed to the Fetcher by
// Env.Dial: they end, break, stall or garble after any octet. A harness needs
// an honest server only. For one with [testserver] it is about this:
//
//	func TestConformance(t *testing.T) {
//		fetchtest.Run(t, fetchtest.Harness{
//			New: func(env *fetch.Env) fetch.Fetcher { return &ftp.Fetcher{Env: env} },
//			Serve: func(tb testing.TB, content fs.FS, login *locator.Login) *fetchtest.Site {
//				srv := testserver.NewFTP(tb, func(s *testserver.FTP) {
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
// [testserver]: https://pkg.go.dev/github.com/fetch1738/fetch1738/testserver
package fetchtest

import (
	"context"
	"crypto/tls"
	"io/fs"
	"net"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// A Harness is what Run has to know of a Fetcher and its protocol. New and
// Serve are needed; the facts below them have useful zero values.
type Harness struct {
	// New makes a Fetcher that goes out by env only, which may be nil. If it
	// retries after failures, it should do so without a wait, or not at all. Run
	// closes it if it is an io.Closer.
	New func(env *fetch.Env) fetch.Fetcher
	// Serve serves content, mostly that of [Content], until the test ends. With a
	// login it does so for nobody else; where the protocol or its locators know
	// no passwords it then returns nil.
	Serve func(tb testing.TB, content fs.FS, login *locator.Login) *Site

	// Want is what a fetch of a document gives, where that is not what the
	// server has: as when the protocol carries lines and ends them its own way.
	Want func(name string, octets []byte) []byte
	// Ranges says that a server of this kind can start anywhere in a document:
	// Request.Offset and Length work, and what is before Offset is not sent.
	// Otherwise the Fetcher may refuse them as ErrUnsupported.
	Ranges bool
	// EndsWithClose says that a document ends where its connection does, so that
	// a cut cannot be told from the end (gopher, HTTP/1.0). Only then may a part
	// of a document come without an error.
	EndsWithClose bool
	// NoErrors says that the protocol has none: a server answers in words where there
	// is nothing, or nothing for the client, and the words are a document like others.
	NoErrors bool
	// Local says that nothing is ever dialled (file).
	Local bool
	// ReadOnly says that the server takes no documents. Otherwise, if the Fetcher
	// is a fetch.Replacer, what it stores must be there to be fetched.
	ReadOnly bool
	// Forbidden is the kind of error for a document that the server refuses to
	// give; Other, the zero value, stands for Permission.
	Forbidden fetch.ErrorKind
}

// A Site is a server with its content.
type Site struct {
	// Locate gives the locator of a document or directory by its slash-separated
	// name in the content, of the whole for ".". It is nil for what the scheme
	// cannot name or the server cannot list. It need not exist.
	Locate func(name string) locator.Locator
	// Dial reaches a server in memory, which was started inside a testing/synctest
	// bubble and works there; time costs nothing then, and stalls are tested at
	// every octet. nil is for servers on the real network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS is with what settings the server is trusted whose connections are all under
	// TLS; nil is for others. The Fetcher gets it by Env.TLS. What would look at the
	// octets on the wire is left out then, and not every octet is one to fail after.
	TLS *tls.Config
}

// Run tests a Fetcher. Each group is a subtest by its name.
func Run(t *testing.T, h Harness) {
	k := inspect(t, h)
	for _, group := range []struct {
		name string
		test func(*testing.T)
	}{
		{"identity", k.identity},
		{"errors", k.errors},
		{"context", k.context},
		{"close", k.close},
		{"truncation", k.truncation},
		{"hostile", k.hostile},
		{"concurrency", k.concurrency},
		{"sessions", k.sessions},
		{"ranges", k.ranges},
		{"replace", k.replace},
		{"policy", k.policy},
		{"TLS", k.security},
		{"credentials", k.credentials},
		{"trace", k.trace},
		{"explain", k.explain},
	} {
		t.Run(group.name, group.test)
	}
}
