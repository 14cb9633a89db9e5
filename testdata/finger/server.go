// Package fingertest has a finger server for tests. Package testserver has what all servers have in
// common.
package fingertest

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/build"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// Server is a server of RFC 1288. The users are the files of Content. For any other user the
// response is a text that says so, because the protocol has no errors.
type Server struct {
	testserver.Server
	m *core.Machine
}

// New starts a finger server that ends with the test.
func New(tb testserver.TB, configure ...func(*Server)) *Server {
	tb.Helper()
	return build.New(tb, Start, configure)
}

// Start starts a finger server on addr; "" means a free loopback port. The server ends with ctx or
// by Close.
func Start(ctx context.Context, addr string, configure ...func(*Server)) (*Server, error) {
	s := new(Server)
	return build.Start(ctx, s, &table, configure, func(m *core.Machine) (build.Service, error) {
		s.m = m
		return build.Service{Scheme: "finger", Port: 79, SecureScheme: "finger", SecurePort: 79, Addr: addr, Serve: s.serve}, nil
	})
}

// Fault is a fault that a finger server has.
type Fault interface {
	testserver.Fault
	OfFinger()
}

// table has the faults of the server.
var table = core.Table{
	Server: "Finger",
	Stages: []core.Stage{{Name: "CONNECT"}, {Name: "REQUEST", Arg: true}},
	Rows:   core.StreamRows(),
}

// On arms faults for the n-th occurrence of a stage from now on; 0 means every occurrence.
func (s *Server) On(stage string, n int, faults ...Fault) {
	build.On(&s.Server, stage, n, faults)
}

func (s *Server) serve(c *core.Client) {
	line, err := bufio.NewReaderSize(c, 4<<10).ReadSlice('\n')
	if err != nil {
		return
	}
	c.Quote(line)
	user := strings.TrimRight(string(line), "\r\n")
	faults := s.m.At("REQUEST", "REQUEST "+user)
	if !c.MayAnswer(faults) || faults.EndsAtOnce(c.Conn) {
		return
	}
	out := faults.Shape(s.m.Ctx(), c.Body(), c.Conn)
	if reply, ok := faults.Take(core.Reply); ok {
		_, _ = io.WriteString(out, core.ReplyOctets(reply.Text))
		return
	}
	if file, _, err := s.m.Tree.Open(tree.Clean(user)); err == nil {
		defer file.Close()
		_, _ = io.Copy(out, file)
		return
	}
	_, _ = io.WriteString(out, "Login: "+user+"\r\nno such user\r\n")
}
