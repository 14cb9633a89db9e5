package testserver

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"
)

// Telnet is a server of RFC 854 that goes through the same dialogue with every client. The
// transcript has a line for each command ("IAC DO TERMINAL-TYPE") and for each line of data. Its
// Octets are the bytes on the wire.
type Telnet struct {
	Server

	// Dialogue has the steps, carried out in order; then the server closes. If it is empty, the
	// server echoes.
	Dialogue []TelnetStep
}

// TelnetStep is a part of a dialogue. The fields that are set are carried out in this order.
type TelnetStep struct {
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

// NewTelnet starts a telnet server that ends with the test.
func NewTelnet(tb TB, configure ...func(*Telnet)) *Telnet {
	tb.Helper()
	s, err := StartTelnet(context.Background(), "", configure...)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	s.endWith(tb)
	return s
}

// StartTelnet starts a telnet server on addr, such as "127.0.0.1:2323"; "" means a free loopback
// port. The server ends with ctx or by Close.
func StartTelnet(ctx context.Context, addr string, configure ...func(*Telnet)) (*Telnet, error) {
	s := new(Telnet)
	s.faults.server, s.faults.known = "Telnet", streaming(fData)
	for _, f := range configure {
		f(s)
	}
	if len(s.Dialogue) == 0 {
		s.Dialogue = []TelnetStep{{Echo: true}}
	}
	if err := s.start(ctx, "telnet", 23, addr, s.serve); err != nil {
		return nil, err
	}
	return s, nil
}

// telnetSession is one connection.
type telnetSession struct {
	*conn
	srv      *Telnet
	in, out  *telnetRecorder
	heard    []byte   // data not yet consumed by a step
	commands []string // commands not yet consumed by a step
	echo     bool
}

// maxHeard is the maximum number of bytes kept of a client's data until a step consumes them.
const maxHeard = 1 << 20

func (s *Telnet) serve(c *conn) {
	t := &telnetSession{conn: c, srv: s}
	t.in = &telnetRecorder{script: &s.script, conn: c.received.conn, from: FromClient, session: t}
	c.tap.mute = true
	t.out = &telnetRecorder{script: &s.script, conn: c.received.conn, from: FromServer}
	c.tap.to = io.MultiWriter(t.out, c.Conn)
	defer t.in.end()
	for _, step := range s.Dialogue {
		switch err := t.do(step); {
		case errors.Is(err, errSilent):
			for t.listen() == nil {
			}
			return
		case err != nil:
			return
		}
	}
	t.leave()
}

func (t *telnetSession) do(step TelnetStep) error {
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
func (t *telnetSession) send(stage, text string) error {
	p := t.srv.faults.at(stage)
	if err := t.preempt(p); err != nil {
		return err
	}
	if p.endAtOnce(t.Conn) {
		return errCut
	}
	defer t.out.end()
	out := shape(t.srv.ctx, t.conn, t.Conn, &p.octets)
	switch {
	case p.reply != nil:
		if _, err := io.WriteString(out, replyOctets(*p.reply)); err != nil {
			return err
		}
		t.leave()
		return errCut
	case p.data != nil:
		text = *p.data
	}
	_, err := io.WriteString(out, text)
	return err
}

// wait reads from the client until heard returns true.
func (t *telnetSession) wait(stage string, heard func() bool) error {
	for !heard() {
		if err := t.listen(); err != nil {
			return err
		}
	}
	t.in.end()
	return t.preempt(t.srv.faults.at(stage))
}

// listen reads what the client sends next.
func (t *telnetSession) listen() error {
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

func (t *telnetSession) take(text string) bool {
	_, rest, found := strings.Cut(string(t.heard), text)
	if found {
		t.heard = []byte(rest)
	}
	return found
}

func (t *telnetSession) takeCommand(octets string) bool {
	i := slices.Index(t.commands, octets)
	if i >= 0 {
		t.commands = slices.Delete(t.commands, 0, i+1)
	}
	return i >= 0
}

// leave closes in order and reads the client's remaining data, for a limited time.
func (t *telnetSession) leave() {
	cw, ok := t.Conn.(interface{ CloseWrite() error })
	if ok && cw.CloseWrite() == nil {
		until := time.Now().Add(lingerTime)
		buf := make([]byte, 4<<10)
		for n, err := 0, error(nil); err == nil && time.Now().Before(until); {
			_ = t.SetReadDeadline(until)
			n, err = t.Conn.Read(buf)
			_, _ = t.in.Write(buf[:n])
		}
	}
	_ = t.Close()
}
