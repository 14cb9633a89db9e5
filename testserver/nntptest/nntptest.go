// Package nntptest has a news server for tests. Package testserver has what all servers have in
// common.
package nntptest

import (
	"context"
	"slices"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/build"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// Server is a news server: RFC 3977 with OVER, HDR and NEWNEWS, AUTHINFO USER (RFC 4643), STARTTLS
// (RFC 4642) and the XOVER, XHDR and XPAT of RFC 2980. Posted articles are kept in memory.
//
// Its groups are those of Groups, and one for each directory of Content that has files in it:
// "local/test" and "local.test" are both the group local.test. A file whose name is a number is the
// article of that number. Others follow in the order of their names. Content is read when the
// server starts.
//
// A file that does not begin with a header gets one. Lines end in CR LF on the wire, whatever their
// ends in the file.
type Server struct {
	testserver.Server `json:"-"`

	// Groups are newsgroups by name, each with its articles in order from number 1: header, an
	// empty line, body. They are sent unchanged. An empty one means an article that has expired.
	Groups map[string][]string
	// Spool, if not nil, has the groups and articles in place of Groups and Content.
	Spool Spool `json:"-"`
	// Descriptions are the descriptions in LIST NEWSGROUPS, by group.
	Descriptions map[string]string
	// Users are the accounts. If there are any, only they can read the groups in Protected.
	Users map[string]testserver.User `json:"-"`
	// Protected are the groups that require a login if there are Users. If nil, all do, and then no
	// command works without a login except those that a login requires.
	Protected []string
	// ReadOnly means that articles are refused: the greeting is 201, and POST is answered with 440.
	ReadOnly bool
	// RFC977 makes the server behave like one of 1986: no CAPABILITIES, MODE READER, OVER,
	// LISTGROUP or AUTHINFO, and LIST has no argument.
	RFC977 bool
	// Hide lists commands that are answered with 500 and left out of CAPABILITIES, such as "XOVER"
	// or "LIST NEWSGROUPS".
	Hide []string
	// Reader means that the server requires MODE READER before it serves readers.
	Reader bool
	// Greeting is the first reply; "" means one that says whether posting is allowed.
	Greeting string
	// Replies replaces texts of replies; see [Replies].
	Replies Replies
	// Delay is how long the server waits before each reply.
	Delay time.Duration

	m    *core.Machine
	news store
}

// New starts a news server that ends with the test.
func New(tb testserver.TB, configure ...func(*Server)) *Server {
	tb.Helper()
	return build.New(tb, Start, configure)
}

// Start starts a news server on addr, such as "127.0.0.1:1119"; "" means a free loopback port. The
// server ends with ctx or by Close.
func Start(ctx context.Context, addr string, configure ...func(*Server)) (*Server, error) {
	s := new(Server)
	s.news.srv = s
	return build.Start(ctx, s, &table, configure, func(m *core.Machine) (build.Service, error) {
		if s.m = m; s.Spool != nil {
			s.ReadOnly, s.Hide = true, append(slices.Clip(s.Hide), "NEWNEWS")
		}
		return build.Service{
			Scheme: "nntp", Port: 119, SecureScheme: "nntps", SecurePort: 563, Addr: addr, Serve: s.serve, Fresh: s.news.open,
		}, nil
	})
}

// On arms faults for the n-th occurrence of a stage from now on, counted from 1 over all
// connections; 0 means every occurrence. See package testserver.
func (s *Server) On(stage string, n int, faults ...Fault) {
	build.On(&s.Server, stage, n, faults)
}

// Put stores an article while the server runs. Its name is that of a file in Content:
// "local/test/5" and "local.test/5" are article 5 of the group local.test. With a number that is
// taken, or a name that is no number, the article gets the next number.
func (s *Server) Put(name string, data []byte) error {
	name = tree.Clean(name)
	if err := s.Server.Put(name, data); err != nil {
		return err
	}
	return s.news.put(name)
}

// Remove removes an article by the name of its file, a directory of articles, or an article of
// Groups or a posted one as in "local.test/5".
func (s *Server) Remove(name string) error {
	name = tree.Clean(name)
	found := s.news.remove(name)
	if err := s.Server.Remove(name); err != nil && !found {
		return err
	}
	return nil
}

// Posted returns the articles that clients have posted, in the order of their arrival, unchanged
// except that doubled dots are single again.
func (s *Server) Posted() []string { return s.news.posted() }
