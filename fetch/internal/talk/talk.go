// Package talk implements the client side of line protocols such as FTP, NNTP and SMTP:
// it sends commands and receives replies that start with a three-digit code.
package talk

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A Talk is a conversation with a server. It limits the length and duration of replies and
// reports everything but secrets to the Trace. After a fatal error, Err is set and every
// call fails.
type Talk struct {
	Raw    net.Conn         // the connection below TLS
	TLS    *tls.Conn        // over Raw; nil if the connection is not encrypted
	Lines  *wire.LineReader // lines from the server, for blocks after replies
	Limits fetch.Limits
	Trace  *fetch.Trace
	Err    error  // the fatal error, if any
	Telnet func() // called when Telnet commands precede a reply; if nil, they are not allowed
	// Lenient accepts what clients of FTP accept, and real servers send: a few lines of text before
	// the greeting, and a reply of several lines that ends with another code than it began with. The
	// latter is taken for the end only if no other line follows: inside a reply, a line may begin with
	// any number.
	Lenient bool

	protocol string // for messages
	buffer   int    // size of the receive buffer
	conn     *wire.Conn
	deadline time.Time // for the current reply; zero means no deadline
	block    bool      // a block is being received: Limits.Idle applies to each read
	sent     bool      // a command has been sent; before that, the greeting is expected
	secrets  []string
}

// New returns a Talk over conn. protocol is its name in messages, buffer the size of the
// receive buffer in bytes.
func New(ctx context.Context, conn net.Conn, protocol string, buffer int, limits fetch.Limits, trace *fetch.Trace) *Talk {
	t := &Talk{Raw: conn, Limits: limits, Trace: trace, protocol: protocol, buffer: buffer}
	t.attach(ctx, conn)
	return t
}

// attach starts using conn.
func (t *Talk) attach(ctx context.Context, conn net.Conn) {
	t.conn = wire.NewConn(ctx, conn, t.Limits.Reply)
	t.Lines = wire.NewLineReader(bufio.NewReaderSize(reader{t}, t.buffer), t.Limits.Line)
}

// Resume assigns another context, limits and trace to an idle conversation.
func (t *Talk) Resume(ctx context.Context, limits fetch.Limits, trace *fetch.Trace) {
	t.Limits, t.Trace = limits, trace
	t.conn.SetContext(ctx)
}

// Rest detaches an idle conversation from its context and trace.
func (t *Talk) Rest() {
	t.Resume(context.Background(), t.Limits, driver.ContextTrace(context.Background()))
}

// Fail sets t.Err to err, unless it is already set, and returns err.
func (t *Talk) Fail(err error) error {
	if t.Err == nil {
		t.Err = err
	}
	return err
}

// reader reads from the server, for Lines.
type reader struct{ t *Talk }

// Read implements io.Reader. In a block, each read is limited to Limits.Idle. Otherwise the
// deadline of the whole reply applies, so that a server cannot extend it by sending single
// bytes.
func (r reader) Read(p []byte) (int, error) {
	t := r.t
	limit := t.Limits.Idle
	if !t.block {
		limit = 0
		if !t.deadline.IsZero() {
			if limit = time.Until(t.deadline); limit <= 0 {
				return 0, os.ErrDeadlineExceeded
			}
		}
	}
	t.conn.SetTimeout(limit)
	return t.conn.Read(p)
}

// within sets the deadline of the next reply to d from now. Zero means no deadline.
func (t *Talk) within(d time.Duration) {
	t.block, t.deadline = false, time.Time{}
	if d > 0 {
		t.deadline = time.Now().Add(d)
	}
}

// Block returns a reader of the block that follows the latest reply.
func (t *Talk) Block() *wire.DotReader {
	t.block = true
	return wire.NewDotReader(t.Lines)
}

// Send sends command lines in one write. It reports each to the Trace.
func (t *Talk) Send(lines ...string) error {
	if t.Err != nil {
		return t.Err
	}
	var data []byte
	for _, line := range lines {
		// Components of locators and options have been checked before. This check also
		// covers text from servers and Env.Credentials.
		if i := strings.IndexAny(line, "\r\n\x00"); i >= 0 {
			return &fetch.Error{Kind: fetch.ErrBadURL, Err: fmt.Errorf("a command argument contains the byte %02X", line[i])}
		}
		data = append(append(data, line...), "\r\n"...)
	}
	t.conn.SetTimeout(t.Limits.Reply)
	if _, err := t.conn.Write(data); err != nil {
		return t.Fail(err)
	}
	if t.Lines.Buffered() == 0 { // otherwise replies are being received, which acknowledges enough
		wire.QuickAck(t.Raw)
	}
	t.sent = true
	for _, line := range lines {
		shown := data[:len(line)+len("\r\n")]
		if data = data[len(shown):]; wire.Masked(line) != line {
			shown = []byte(wire.Masked(line) + "\r\n")
		}
		t.Trace.Sent(shown)
	}
	return nil
}

// WriteBody sends a part of a body, within Limits.Idle.
func (t *Talk) WriteBody(p []byte) (int, error) {
	if t.Err != nil {
		return 0, t.Err
	}
	t.conn.SetTimeout(t.Limits.Idle)
	n, err := t.conn.Write(p)
	if err != nil {
		return n, t.Fail(err)
	}
	wire.QuickAck(t.Raw)
	return n, nil
}

// Reply receives a reply of any number of lines, within Limits.Reply, or Limits.Greeting if no command
// has been sent yet. Any error is fatal.
func (t *Talk) Reply() (Reply, error) { return t.reply(true) }

// LineReply receives a reply of one line, as Reply does.
func (t *Talk) LineReply() (Reply, error) { return t.reply(false) }

// reply receives a reply. Only if several is set may it have more than one line.
func (t *Talk) reply(several bool) (Reply, error) {
	if t.Err != nil {
		return Reply{}, t.Err
	}
	limit, awaited := t.Limits.Reply, "no reply"
	if !t.sent {
		limit, awaited = t.Limits.Greeting(), "no greeting"
	}
	t.within(limit)
	r, err := t.readReply(several)
	if err != nil {
		return Reply{}, t.Fail(late(err, limit, awaited))
	}
	return r, nil
}

// late returns err, or, if that is a timeout, an error that states the whole limit and not what
// was left of it.
func late(err error, limit time.Duration, awaited string) error {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return &wire.TimeoutError{Limit: limit, Awaited: awaited, Err: err}
}

// Hide masks a secret in the Trace and in Mask, in case the server repeats it.
func (t *Talk) Hide(secret string) { t.secrets = append(t.secrets, secret) }

// Mask returns text from the server with secrets masked.
func (t *Talk) Mask(text string) string { return wire.MaskSecrets(text, t.secrets) }

// Show reports received bytes to the Trace, with secrets masked.
func (t *Talk) Show(data []byte) {
	if slices.ContainsFunc(t.secrets, func(secret string) bool { return bytes.Contains(data, []byte(secret)) }) {
		data = []byte(t.Mask(string(data)))
	}
	t.Trace.Received(data)
}

// State returns the state of TLS, or nil if the connection is not encrypted.
func (t *Talk) State() *tls.ConnectionState {
	if t.TLS == nil {
		return nil
	}
	return wire.TLSState(t.TLS)
}

// StartTLS starts TLS with the server of that name. It fails if data has already been
// received, because text received before the handshake must not count after it
// (CVE-2011-0411, CVE-2021-22947).
func (t *Talk) StartTLS(ctx context.Context, settings func() (*tls.Config, error), host string) error {
	if t.Lines.Buffered() > 0 {
		return t.Fail(Violation("", "data in the clear before the TLS handshake"))
	}
	t.conn.SetContext(context.Background()) // the handshake uses ctx
	conn, err := wire.StartTLS(ctx, t.Raw, settings, host, t.Limits.Connect, t.Limits.Reply)
	if err != nil {
		return t.Fail(driver.Fail(fetch.OpTLS, nil, fetch.ErrOther, err))
	}
	t.TLS = conn
	t.attach(ctx, conn)
	return nil
}

// StopTLS returns to the connection below TLS. The server must send close_notify, and
// nothing before it, within d. If first is set, the client sends close_notify before;
// otherwise it sends none.
func (t *Talk) StopTLS(ctx context.Context, first bool, d time.Duration) error {
	t.within(d)
	if first {
		if err := t.TLS.CloseWrite(); err != nil {
			return t.Fail(err)
		}
	}
	if err := t.Lines.Fill(); err != io.EOF {
		if err == nil {
			err = Violation("", "unsolicited reply")
		}
		return t.Fail(late(err, d, "no end of TLS"))
	}
	t.conn.SetContext(context.Background())
	t.TLS = nil
	t.attach(ctx, t.Raw)
	return nil
}

// ticketTime is how long Waiting waits to find out whether data on a TLS connection is a
// reply or only a session ticket.
const ticketTime = 50 * time.Millisecond

// Waiting reports whether received data has not been read. It does not see data that package
// tls has buffered, which the server sent encrypted.
func (t *Talk) Waiting() bool {
	switch {
	case t.Lines.Buffered() > 0:
		return true
	case !wire.Readable(t.Raw):
		return false
	case t.TLS == nil:
		return true
	}
	t.within(ticketTime)
	return !errors.Is(t.Lines.Fill(), os.ErrDeadlineExceeded)
}

// Await waits up to d for data. It reports whether data has arrived or the connection has
// failed.
func (t *Talk) Await(d time.Duration) bool {
	if t.Lines.Buffered() > 0 || t.Err != nil {
		return true
	}
	t.within(d)
	return !errors.Is(t.Lines.Fill(), os.ErrDeadlineExceeded)
}

// maxLate is the maximum number of replies to earlier commands before the reply to QUIT.
const maxLate = 32

// Quit sends QUIT and the end of the connection, waits up to d for the reply, and closes it. If d is
// negative, it does not wait. It may be called in any state. During a transfer Pure-FTPd takes QUIT for
// ABOR and does not reply to it, but closes the connection then.
func (t *Talk) Quit(d time.Duration) error {
	defer t.conn.Close()
	t.Limits.Reply = max(d, 0)
	if t.Send("QUIT") != nil || d < 0 {
		return nil
	}
	if half, ok := t.Raw.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	t.within(d)
	for range maxLate {
		r, err := t.readReply(true)
		if err != nil || r.Code == 221 || r.Code == 205 {
			break
		}
	}
	return nil
}

// HangUp sends the end of the connection, waits up to d until the server has closed it, too, and
// closes it. It may be called in any state. QUIT is sent only if this direction cannot be closed
// alone: a server that has lost commands may take it for anything.
func (t *Talk) HangUp(d time.Duration) {
	defer t.Close()
	if half, ok := t.Raw.(interface{ CloseWrite() error }); !ok {
		t.Err = nil
		_ = t.Send("QUIT")
	} else if half.CloseWrite() != nil {
		return
	}
	_ = t.Raw.SetReadDeadline(time.Now().Add(d))
	_, _ = io.Copy(io.Discard, t.Raw)
}

// Close closes the connection without sending anything, not even close_notify, which could
// block.
func (t *Talk) Close() error {
	err := t.Raw.Close()
	t.conn.Close()
	return err
}
