package telnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// A Session is a conversation with a telnet service. Read and Write transfer only the data, which is
// 8-bit clean in both directions. One goroutine may read while another writes. The other methods may
// be called by any goroutine.
//
// Options are negotiated during Read, so a program must keep reading. At the end of the connection,
// Read returns io.EOF. Telnet has no end mark, so a connection that breaks between two bytes of
// data also ends in io.EOF. Other errors are of type *[fetch.Error]. Their kind is ErrTruncated for
// an end inside a command, and ErrTooLarge or ErrProtocol for a server that exceeds the limits of
// negotiation. It is ErrTooLarge, too, for more data than Limits.Body.
type Session struct {
	in, out *wire.Conn // the same connection; each has its own time limit
	data    io.Reader
	loc     *locator.Telnet
	ctx     context.Context
	idle    time.Duration // time limit between reads; in has the limit for the first read
	err     error         // returned by every further Read
	limit   int64         // of the data, in bytes; 0 means none
	read    int64

	writing sync.Mutex // held while writing to out; Read never waits for it

	mu      sync.Mutex // guards the fields below; never held during I/O
	terms   terms
	closed  bool
	answers answerLimit
	pending []byte // commands to be sent before any data
	unsent  error  // the last error of a write

	hooks sync.Mutex // held while a hook runs: the hooks of a fetch never run concurrently
	trace *fetch.Trace
}

var _ io.ReadWriteCloser = (*Session)(nil)

func newSession(ctx context.Context, conn net.Conn, a *access, limits fetch.Limits) *Session {
	first, idle := limits.Reply, limits.Idle
	if a.opt.Idle != 0 {
		first, idle = max(a.opt.Idle, 0), max(a.opt.Idle, 0)
	}
	s := &Session{
		in: wire.NewConn(ctx, conn, first), out: wire.NewConn(ctx, conn, limits.Reply),
		loc: a.loc, ctx: ctx, idle: idle, limit: limits.Body, trace: driver.ContextTrace(ctx),
		terms:   terms{opt: a.opt, columns: a.opt.Columns, rows: a.opt.Rows},
		answers: answerLimit{left: maxAnswers, burst: answerBurst},
	}
	s.data, s.err = newReader(&filter{r: s.in, on: (*negotiator)(s)})
	return s
}

// Read reads data that the server has sent, and answers the commands between the data.
func (s *Session) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := s.ended(); err != nil {
		return 0, err
	}
	n, err := s.data.Read(p)
	if beyond := s.read + int64(n) - s.limit; s.limit > 0 && beyond > 0 {
		n -= int(beyond)
		err = &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("more than %d bytes", s.limit)}
	}
	s.read += int64(n)
	if n > 0 {
		s.in.SetTimeout(s.idle)
		s.callHook(func(t *fetch.Trace) { t.Took(p[:n]) })
	}
	if err == io.EOF {
		err = s.reset()
	} else if err != nil {
		err = s.fail(fetch.OpRead, err)
	}
	s.err = err
	return n, err
}

// reset returns the error of a connection that the server has reset, or io.EOF. The kernel reports a
// reset only once. If a write got it, the read gets an end of file.
func (s *Session) reset() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(s.unsent, syscall.ECONNRESET) {
		return s.fail(fetch.OpRead, s.unsent)
	}
	return io.EOF
}

// ended returns the error of a session that has ended, or nil.
func (s *Session) ended() error {
	switch err := s.ctx.Err(); {
	case s.err != nil:
		return s.err
	case err != nil:
		return s.fail(fetch.OpRead, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.fail(fetch.OpRead, net.ErrClosed)
	}
	return nil
}

// Write sends data. CR LF, the end of a line, must be in one Write. A CR at the end of p is sent as a
// lone CR, which most servers treat as the Enter key.
func (s *Session) Write(p []byte) (int, error) {
	sent, err := s.writeAll(p)
	if err == nil {
		err = s.push() // commands that became due during the write
	}
	return sent, err
}

// writeAll sends p in pieces, so that pending commands need not wait for all of it.
func (s *Session) writeAll(p []byte) (sent int, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	const chunk = 16 << 10
	for part := p; len(part) > 0; {
		n := min(chunk, len(part))
		if n < len(part) && part[n-1] == '\r' {
			n-- // keep CR together with the next byte
		}
		if err := s.send(part[:n]); err != nil {
			return sent, err
		}
		sent += n
		part = part[n:]
	}
	return sent, nil
}

// send writes the pending commands, and then data, escaped for the current mode of transmission.
// s.writing must be held.
func (s *Session) send(data []byte) error {
	s.mu.Lock()
	commands := s.pending
	s.pending = nil
	octets := escape(commands[:len(commands):len(commands)], data, s.terms.us[optBinary] == on)
	s.mu.Unlock()
	if len(octets) == 0 {
		return nil
	}
	if _, err := s.out.Write(octets); err != nil {
		s.mu.Lock()
		s.unsent = err
		s.mu.Unlock()
		return s.fail(fetch.OpWrite, err)
	}
	if len(commands) > 0 {
		s.callHook(func(t *fetch.Trace) { t.Sent(commands) })
	}
	return nil
}

// push sends the pending commands, unless a concurrent Write does that.
func (s *Session) push() error {
	for s.isPending() && s.writing.TryLock() {
		err := s.send(nil)
		s.writing.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// isPending reports whether commands wait to be sent.
func (s *Session) isPending() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending) > 0
}

// Close ends the session.
func (s *Session) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	err := s.in.Close()
	s.out.Close() // the same connection; ends the second wrapper
	if err != nil {
		return s.fail(fetch.OpClose, err)
	}
	return nil
}

// Resize sends the new window size if the server has requested window sizes. The option is available
// only if [Options].Columns and Rows are set. Resize does nothing if the size has not changed.
func (s *Session) Resize(columns, rows uint16) error {
	s.mu.Lock()
	command := s.terms.resize(columns, rows)
	s.pending = append(s.pending, command...)
	s.mu.Unlock()
	if command == nil {
		return nil
	}
	return s.push()
}

// Enter returns the bytes to send for the Enter key, in one Write. They are CR LF, the end of a line
// on a network virtual terminal (RFC 854 p. 11). In binary transmission they are CR, because the
// server's terminal then receives exactly what the key sends.
func (s *Session) Enter() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.terms.us[optBinary] == on {
		return "\r"
	}
	return "\r\n"
}

// Echoes reports whether the server echoes its input (RFC 857). While it does, a terminal must not
// show typed characters itself.
func (s *Session) Echoes() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.terms.them[optEcho] == on
}

func (s *Session) fail(op fetch.Op, err error) error {
	kind := fetch.ErrOther
	switch {
	case errors.Is(err, errSubnegotiation):
		kind = fetch.ErrTooLarge
	case errors.Is(err, errLoop):
		kind = fetch.ErrProtocol
	}
	e := driver.Fail(op, s.loc, kind, err)
	if e.Kind == fetch.ErrOther {
		e.Kind = fetch.ErrConnectionFailed
	}
	return e
}

// callHook calls a hook. Calls do not overlap.
func (s *Session) callHook(hook func(*fetch.Trace)) {
	s.hooks.Lock()
	defer s.hooks.Unlock()
	hook(s.trace)
}
