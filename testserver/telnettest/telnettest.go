// Package telnettest has a telnet server for tests. Package testserver has what all servers have in
// common.
package telnettest

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/build"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Server is a server of RFC 854 that goes through the same dialogue with every client. The
// transcript has a line for each command ("IAC DO TERMINAL-TYPE") and for each line of data. Its
// Octets are the bytes on the wire.
type Server struct {
	testserver.Server `json:"-"`

	// Dialogue has the steps, carried out in order; then the server closes. If it is empty, the
	// server echoes.
	Dialogue []Step

	m *core.Machine
}

// Step is a part of a dialogue. The fields that are set are carried out in this order.
type Step struct {
	// Command is sent unchanged, such as "\xff\xfd\x18" (IAC DO TERMINAL-TYPE).
	Command string
	// Say is sent as data: IAC is doubled, nothing else is changed.
	Say string
	// Hear waits until the client's data contains this. A doubled IAC in the data counts as one; CR
	// LF and CR NUL are unchanged.
	Hear string
	// HearCommand waits until the client has sent this command, such as "\xff\xfb\x18" (IAC WILL
	// TERMINAL-TYPE).
	HearCommand string
	// Echo means that the server sends the client's data back until the client leaves.
	Echo bool
}

// New starts a telnet server that ends with the test.
func New(tb testserver.TB, configure ...func(*Server)) *Server {
	tb.Helper()
	return build.New(tb, Start, configure)
}

// Start starts a telnet server on addr, such as "127.0.0.1:2323"; "" means a free loopback port. The
// server ends with ctx or by Close.
func Start(ctx context.Context, addr string, configure ...func(*Server)) (*Server, error) {
	s := new(Server)
	return build.Start(ctx, s, &table, configure, func(m *core.Machine) (build.Service, error) {
		if s.m = m; len(s.Dialogue) == 0 {
			s.Dialogue = []Step{{Echo: true}}
		}
		return build.Service{Scheme: "telnet", Port: 23, SecureScheme: "telnet", SecurePort: 992, Addr: addr, Serve: s.serve}, nil
	})
}

// Fault is a fault that a telnet server has.
type Fault interface {
	testserver.Fault
	OfTelnet()
}

// table has the faults of the server. At HEAR nothing is sent on which the others could act.
var table = core.Table{
	Server: "Telnet",
	Stages: []core.Stage{{Name: "CONNECT"}, {Name: "COMMAND"}, {Name: "SAY"}, {Name: "HEAR"}, {Name: "ECHO"}},
	Rows: append(
		core.But(core.StreamRows(), []string{"HEAR"}, core.Reply, core.Truncate, core.Reset, core.Drip, core.Split, core.Garble),
		core.Row{Kind: core.Data, At: []string{"COMMAND", "SAY", "ECHO"}},
	),
}

// On arms faults for the n-th occurrence of a stage from now on, counted from 1 over all connections;
// 0 means every occurrence. See package testserver.
func (s *Server) On(stage string, n int, faults ...Fault) {
	build.On(&s.Server, stage, n, faults)
}

// session is one connection.
type session struct {
	*core.Client
	srv      *Server
	in, out  *logger
	heard    []byte   // data not yet consumed by a step
	commands []string // commands not yet consumed by a step
	echo     bool
}

// maxHeard is the maximum number of bytes kept of a client's data until a step consumes them.
const maxHeard = 1 << 20

// serve goes through the dialogue.
func (s *Server) serve(c *core.Client) {
	t := &session{Client: c, srv: s}
	t.in = &logger{client: c, from: core.FromClient, session: t}
	t.out = &logger{client: c, from: core.FromServer}
	c.Through(io.MultiWriter(t.out, c.Conn))
	defer t.in.end()
	for _, step := range s.Dialogue {
		switch err := t.do(step); {
		case errors.Is(err, core.ErrSilent):
			t.echo = false
			for t.listen() == nil {
			}
			return
		case err != nil:
			return
		}
	}
	t.leave()
}

// do carries out a step.
func (t *session) do(step Step) error {
	if step.Command != "" {
		if err := t.send("COMMAND", step.Command); err != nil {
			return err
		}
	}
	if step.Say != "" {
		if err := t.send("SAY", strings.ReplaceAll(step.Say, "\xff", "\xff\xff")); err != nil {
			return err
		}
	}
	if step.Hear != "" {
		if err := t.wait("HEAR", func() bool { return t.take(step.Hear) }); err != nil {
			return err
		}
	}
	if step.HearCommand != "" {
		if err := t.wait("HEAR", func() bool { return t.takeCommand(step.HearCommand) }); err != nil {
			return err
		}
	}
	if step.Echo {
		t.echo = true
		if err := t.wait("ECHO", func() bool { return false }); err != io.EOF {
			return err
		}
	}
	return nil
}

// send sends bytes with the faults of a stage.
func (t *session) send(stage, text string) error {
	faults := t.At(stage)
	if err := t.Preempt(faults); err != nil {
		return err
	}
	if faults.EndsAtOnce(t.Conn) {
		return core.ErrCut
	}
	defer t.out.end()
	out := faults.Shape(t.srv.m.Ctx(), t.Client, t.Conn)
	if reply, ok := faults.Take(core.Reply); ok {
		if _, err := io.WriteString(out, core.ReplyOctets(reply.Text)); err != nil {
			return err
		}
		t.leave()
		return core.ErrCut
	}
	_, err := io.WriteString(out, faults.Text(core.Data, text))
	return err
}

// wait reads from the client until heard returns true.
func (t *session) wait(stage string, heard func() bool) error {
	for !heard() {
		if err := t.listen(); err != nil {
			return err
		}
	}
	t.in.end()
	return t.Preempt(t.At(stage))
}

// listen reads what the client sends next.
func (t *session) listen() error {
	buf := make([]byte, 4<<10)
	n, err := t.Read(buf)
	before := len(t.heard)
	_, _ = t.in.Write(buf[:n])
	if said := t.heard[min(before, len(t.heard)):]; t.echo && len(said) > 0 {
		t.heard = nil
		if err := t.send("ECHO", strings.ReplaceAll(string(said), "\xff", "\xff\xff")); err != nil {
			return err
		}
	}
	if len(t.heard) > maxHeard {
		t.heard = t.heard[len(t.heard)-maxHeard/2:]
	}
	return err
}

// take removes what was heard up to the end of a text. It returns false if the text is missing.
func (t *session) take(text string) bool {
	_, rest, found := strings.Cut(string(t.heard), text)
	if found {
		t.heard = []byte(rest)
	}
	return found
}

// takeCommand removes the commands up to this one. It returns false if it is missing.
func (t *session) takeCommand(octets string) bool {
	i := slices.Index(t.commands, octets)
	if i >= 0 {
		t.commands = slices.Delete(t.commands, 0, i+1)
	}
	return i >= 0
}

// leave closes in order and reads the client's remaining data, for a limited time.
func (t *session) leave() {
	cw, ok := t.Conn.(interface{ CloseWrite() error })
	if ok && cw.CloseWrite() == nil {
		until := time.Now().Add(core.LingerTime)
		buf := make([]byte, 4<<10)
		for n, err := 0, error(nil); err == nil && time.Now().Before(until); {
			_ = t.SetReadDeadline(until)
			n, err = t.Conn.Read(buf)
			_, _ = t.in.Write(buf[:n])
		}
	}
	_ = t.Close()
}
