package fetchtest

import (
	"context"
	"crypto/tls"
	"io/fs"
	"iter"
	"net"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// A Harness tells Run how to create a Fetcher and how to serve documents for it, and describes the
// protocol. New and Serve are required; the zero values of the other fields suit most protocols.
type Harness struct {
	// New creates a Fetcher that uses no connections but those of env, which may be nil. If the
	// Fetcher retries after failures, it should do so without delay, or not at all. Run closes it
	// if it is an io.Closer.
	New func(env *fetch.Env) driver.Fetcher
	// Serve serves content, usually that of [Content], until the test ends. If login is not nil, it
	// serves that user only. If the protocol or its locators have no passwords, Serve then returns
	// nil.
	Serve func(tb testing.TB, content fs.FS, login *locator.Login) *Site

	// Want, if not nil, returns the bytes that a fetch of a document delivers, for protocols where
	// these differ from the bytes that the server has. An example is a protocol that transfers
	// lines and changes their line ends.
	Want func(name string, octets []byte) []byte
	// Ranges means that a server of this kind can start anywhere in a document: Request.Offset and
	// Length work, and the server does not send what is before Offset. Otherwise the Fetcher may
	// refuse ranges with ErrUnsupported.
	Ranges bool
	// EndsWithClose means that a document ends where its connection does, so that a truncated
	// document looks like a complete one (gopher, HTTP/1.0). Only then may a part of a document be
	// delivered without an error.
	EndsWithClose bool
	// NoErrors means that the protocol has no errors. If a document does not exist or may not be
	// read, the server answers with a text, and that text is a document like any other.
	NoErrors bool
	// Local means that the Fetcher never opens a connection (file).
	Local bool
	// ReadOnly means that the server accepts no documents. Otherwise, if the Fetcher is a
	// driver.Replacer, Run fetches what it stored.
	ReadOnly bool
	// Encoded means that the Trace and the Explanation show the conversation in another form than it
	// has on the connection (HTTP/2).
	Encoded bool
	// Forbidden is the kind of error for a document that the server refuses to deliver; Other, the
	// zero value, means Permission.
	Forbidden fetch.ErrorKind
}

// A Site is a server with its content.
type Site struct {
	// Locate returns the locator of a document or directory by its slash-separated name in the
	// content; "." is the top directory. It returns nil for what the scheme cannot name or the
	// server cannot list. The document need not exist.
	Locate func(name string) locator.Locator
	// Dial connects to a server in memory, started inside a testing/synctest bubble. Waiting then
	// takes no real time, and stalls are tested after every byte (with the race detector, after
	// every seventh). If nil, the server is on the real network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS, if not nil, means that all connections of the server use TLS, and has the settings that
	// verify its certificate. The Fetcher receives them from Env.TLS. Tests that examine the bytes
	// on the wire are then skipped, and connections do not fail after every single byte.
	TLS *tls.Config
}

// each returns those of the names that have a locator, with it.
func (s *Site) each(names ...string) iter.Seq2[string, locator.Locator] {
	return func(yield func(string, locator.Locator) bool) {
		for _, name := range names {
			if l := s.Locate(name); l != nil && !yield(name, l) {
				return
			}
		}
	}
}

// any returns a locator that can be fetched.
func (s *Site) any() locator.Locator {
	for _, name := range []string{small, octets, directory, "."} {
		if l := s.Locate(name); l != nil {
			return l
		}
	}
	return nil
}
