package telnet

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// A Session is a conversation with a telnet service. What is read and written is
// the data alone, all 256 octets of it, both ways. One goroutine may read while
// another writes; the other methods may be called by any.
//
// The server's wishes are answered while reading: who never reads never
// negotiates. The end of the connection is io.EOF; telnet has no mark that would
// tell an end from a cut between two octets of data. Other errors are
// *[fetch.Error]s: of kind ErrTruncated for an end inside of a command, ErrTooLarge or
// ErrProtocol for a server that negotiates beyond all bounds.
type Session struct {
	in, out *wire.Conn // the same connection; each has its own time limit
	data    io.Reader
	loc     *locator.Telnet
	opt     Options
	ctx     context.Context
	idle    time.Duration // between octets; that of in is for the first
	err     error         // what Read gives from now on

	writing sync.Mutex // held by who writes to out; never waited for by who reads

	mu       sync.Mutex // over what follows; not held while anything waits
	us, them [256]agreement
	spoken   bool // the server negotiates
	closed   bool
	answers  allowance
	columns  uint16
	rows     uint16
	pending  []byte // commands to be sent before any other octet
	unsent   error  // why something was not sent

	hooks sync.Mutex // those of a fetch never run at once
	trace *fetch.Trace
}

// WindowSetter is a [Session], for programs that have a window.
type WindowSetter interface {
	// Resize tells the server of the window's new size, if it wants to know.
	Resize(columns, rows uint16) error
}

var (
	_ io.ReadWriteCloser = (*Session)(nil)
	_ WindowSetter       = (*Session)(nil)
)

func newSession(ctx context.Context, conn net.Conn, a *access, limits fetch.Limits) *Session {
	first, idle := limits.Reply, limits.Idle
	if a.opt.Idle != 0 {
		first, idle = max(a.opt.Idle, 0), max(a.opt.Idle, 0)
	}
	s := &Session{
		in: wire.NewConn(ctx, conn, first), out: wire.NewConn(ctx, conn, limits.Reply),
		loc: a.loc, opt: a.opt, ctx: ctx, idle: idle, trace: fetch.ContextTrace(ctx),
		columns: a.opt.Columns, rows: a.opt.Rows,
		answers: allowance{left: maxAnswers, burst: answerBurst},
	}
	s.data, s.err = newReader(&filter{r: s.in, on: (*negotiator)(s)})
	return s
}

// Read reads data.
func (s *Session) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := s.over(); err != nil {
		return 0, err
	}
	n, err := s.data.Read(p)
	if n > 0 {
		s.in.SetTimeout(s.idle)
		s.tell(func(t *fetch.Trace) { t.Body(int64(n)) })
	}
	if err == io.EOF {
		err = s.reset()
	} else if err != nil {
		err = s.fail(fetch.OpRead, err)
	}
	s.err = err
	return n, err
}

// reset is the error of a connection that the server has reset, or io.EOF. The
// kernel tells of a reset once: if to who writes, then who reads gets an end.
func (s *Session) reset() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(s.unsent, syscall.ECONNRESET) {
		return s.fail(fetch.OpRead, s.unsent)
	}
	return io.EOF
}

// over is the error of a session that has ended.
func (s *Session) over() error {
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

// Write sends data. CR LF, the end of a line, must come in one Write: a CR at the
// end goes out as the lone CR that it is, which most servers take for the Enter
// key.
func (s *Session) Write(p []byte) (int, error) {
	sent, err := s.writeAll(p)
	if err == nil {
		err = s.push() // what came up meanwhile
	}
	return sent, err
}

func (s *Session) writeAll(p []byte) (sent int, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	const chunk = 16 << 10
	for part := p; len(part) > 0; {
		n := min(chunk, len(part))
		if n < len(part) && part[n-1] == '\r' {
			n-- // together with what follows
		}
		if err := s.send(part[:n]); err != nil {
			return sent, err
		}
		sent += n
		part = part[n:]
	}
	return sent, nil
}

// send writes the commands that are due, and data as the option of binary
// transmission is at that point. s.writing is held.
func (s *Session) send(data []byte) error {
	s.mu.Lock()
	commands := s.pending
	s.pending = nil
	octets := escape(commands[:len(commands):len(commands)], data, s.us[optBinary] == on)
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
		s.tell(func(t *fetch.Trace) { t.Sent(commands) })
	}
	return nil
}

// push sends the commands that are due, or leaves them to who is writing.
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
	s.out.Close() // the same once more
	if err != nil {
		return s.fail(fetch.OpClose, err)
	}
	return nil
}

// Resize tells the server of the window's new size, if it has asked for it
// ([Options].Columns). It does nothing if the size is what it was.
func (s *Session) Resize(columns, rows uint16) error {
	s.mu.Lock()
	if s.columns == columns && s.rows == rows {
		s.mu.Unlock()
		return nil
	}
	s.columns, s.rows = columns, rows
	if s.us[optNAWS] == on {
		s.pending = append(s.pending, s.window()...)
	}
	s.mu.Unlock()
	return s.push()
}

// SetBinary asks for binary transmission both ways (see [Binary]), or for its
// end, on a server that negotiates; others are not disturbed. It is up to the
// server to agree.
func (s *Session) SetBinary(binary bool) error {
	s.mu.Lock()
	if s.opt.Binary = BinaryRefuse; binary {
		s.opt.Binary = BinaryAsk
	}
	if s.spoken {
		s.pending = append(s.pending, s.binaryWishes()...)
	}
	s.mu.Unlock()
	return s.push()
}

// Enter is what the key of that name sends, to be written in one Write: CR LF,
// which ends a line on a network virtual terminal (RFC 854 p. 11), or CR where
// transmission is binary and the server's terminal gets what the key would send.
func (s *Session) Enter() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.us[optBinary] == on {
		return "\r"
	}
	return "\r\n"
}

// Echoes reports whether the server shows what it is sent (RFC 857). A terminal
// shows what is typed only while it does not.
func (s *Session) Echoes() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.them[optEcho] == on
}

func (s *Session) fail(op fetch.Op, err error) error {
	kind := fetch.ErrOther
	switch {
	case errors.Is(err, errSubnegotiation):
		kind = fetch.ErrTooLarge
	case errors.Is(err, errLoop):
		kind = fetch.ErrProtocol
	}
	e := fetch.Fail(op, s.loc, kind, err)
	if e.Kind == fetch.ErrOther {
		e.Kind = fetch.ErrConnectionFailed
	}
	return e
}

func (s *Session) tell(hook func(*fetch.Trace)) {
	s.hooks.Lock()
	defer s.hooks.Unlock()
	hook(s.trace)
}
