// Package talk is our end of a conversation by lines, as FTP, NNTP and SMTP have
// it: commands go out, and replies come that begin with a code of three digits.
package talk

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A Talk is a conversation. It bounds what the server says in length and time, and
// shows all but secrets to the Trace. What makes it impossible to go on ends it
// for good.
type Talk struct {
	Raw    net.Conn         // as it was dialled
	TLS    *tls.Conn        // over Raw; nil where the connection is in the clear
	Lines  *wire.LineReader // what the server sends, for blocks behind replies
	Limits fetch.Limits
	Trace  *fetch.Trace
	Err    error // what ended the conversation

	protocol string // for messages
	buffer   int    // how much is received at once
	conn     *wire.Conn
	due      time.Time // when what is awaited is too late; zero: never
	block    bool      // a block is received: Limits.Idle holds between its octets
	sent     bool      // commands; what comes before is the greeting
	secrets  []string
}

// New is a conversation by a protocol over conn; buffer is how many octets are
// received at once.
func New(ctx context.Context, conn net.Conn, protocol string, buffer int, limits fetch.Limits, trace *fetch.Trace) *Talk {
	t := &Talk{Raw: conn, Limits: limits, Trace: trace, protocol: protocol, buffer: buffer}
	t.attach(ctx, conn)
	return t
}

// attach makes conn what is read and written.
func (t *Talk) attach(ctx context.Context, conn net.Conn) {
	t.conn = wire.NewConn(ctx, conn, t.Limits.Reply)
	t.Lines = wire.NewLineReader(bufio.NewReaderSize(reader{t}, t.buffer), t.Limits.Line)
}

// Resume puts an idle conversation under another context.
func (t *Talk) Resume(ctx context.Context, limits fetch.Limits, trace *fetch.Trace) {
	t.Limits, t.Trace = limits, trace
	t.conn.SetContext(ctx)
}

// Rest makes the conversation nobody's, until it is resumed or left.
func (t *Talk) Rest() {
	t.Resume(context.Background(), t.Limits, fetch.ContextTrace(context.Background()))
}

// Fail ends the conversation because of err, unless it has ended, and returns err.
func (t *Talk) Fail(err error) error {
	if t.Err == nil {
		t.Err = err
	}
	return err
}

// reader is what the server sends, for Lines.
type reader struct{ t *Talk }

// Read implements io.Reader within the time that is left for a reply as a whole, so
// that a server cannot stretch it by sending an octet now and then; or within the
// time between octets of a block.
func (r reader) Read(p []byte) (int, error) {
	t := r.t
	limit := t.Limits.Idle
	if !t.block {
		limit = 0
		if !t.due.IsZero() {
			if limit = time.Until(t.due); limit <= 0 {
				return 0, os.ErrDeadlineExceeded
			}
		}
	}
	t.conn.SetTimeout(limit)
	return t.conn.Read(p)
}

// within bounds the time until the end of what is read next; 0 is no bound.
func (t *Talk) within(d time.Duration) {
	t.block, t.due = false, time.Time{}
	if d > 0 {
		t.due = time.Now().Add(d)
	}
}

// Block is the block behind the reply that has just come.
func (t *Talk) Block() *wire.DotReader {
	t.block = true
	return wire.NewDotReader(t.Lines)
}

// Send sends command lines, in one piece. The Trace is told of each.
func (t *Talk) Send(lines ...string) error {
	if t.Err != nil {
		return t.Err
	}
	var octets strings.Builder
	for _, line := range lines {
		// The components of locators and options are checked long before; this also
		// stops what a server or Env.Credentials might slip in.
		if i := strings.IndexAny(line, "\r\n\x00"); i >= 0 {
			return &fetch.Error{Kind: fetch.ErrBadURL, Err: fmt.Errorf("octet %02X in an argument", line[i])}
		}
		octets.WriteString(line + "\r\n")
	}
	t.conn.SetTimeout(t.Limits.Reply)
	if _, err := io.WriteString(t.conn, octets.String()); err != nil {
		return t.Fail(err)
	}
	if t.Lines.Buffered() == 0 { // else answers are under way, and enough is acknowledged
		wire.QuickAck(t.Raw)
	}
	t.sent = true
	for _, line := range lines {
		t.Trace.Sent([]byte(wire.Masked(line + "\r\n")))
	}
	return nil
}

// WriteBody sends octets of a body, each time within Limits.Idle.
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

// Reply receives a reply of any number of lines, within Limits.Reply. Whatever is
// none ends the conversation.
func (t *Talk) Reply() (Reply, error) { return t.reply(true) }

// LineReply receives a reply of one line, as Reply does.
func (t *Talk) LineReply() (Reply, error) { return t.reply(false) }

func (t *Talk) reply(several bool) (Reply, error) {
	if t.Err != nil {
		return Reply{}, t.Err
	}
	t.within(t.Limits.Reply)
	r, err := t.readReply(several)
	if err != nil {
		awaited := "no greeting"
		if t.sent {
			awaited = "no reply"
		}
		return Reply{}, t.Fail(late(err, t.Limits.Reply, awaited))
	}
	return r, nil
}

// late returns err, or, if that is a timeout, the error with the whole limit and not the
// rest of it.
func late(err error, limit time.Duration, awaited string) error {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return &wire.TimeoutError{Limit: limit, Awaited: awaited, Err: err}
}

// Hide keeps a secret that is sent out of what is shown, should the server repeat
// it.
func (t *Talk) Hide(secret string) { t.secrets = append(t.secrets, secret) }

// Mask is a text of the server's as it may be shown.
func (t *Talk) Mask(text string) string { return wire.MaskSecrets(text, t.secrets) }

// Show shows octets received to the Trace.
func (t *Talk) Show(octets []byte) {
	if len(t.secrets) > 0 {
		octets = []byte(t.Mask(string(octets)))
	}
	t.Trace.Received(octets)
}

// StartTLS puts the conversation under TLS with the server called host. What was
// said before does not count after (CVE-2011-0411, CVE-2021-22947): octets that
// have come already end it.
func (t *Talk) StartTLS(ctx context.Context, settings func() (*tls.Config, error), host string) error {
	if t.Lines.Buffered() > 0 {
		return t.Fail(Violation("", "octets in the clear before TLS"))
	}
	t.conn.SetContext(context.Background()) // which is that of the handshake now
	conn, err := wire.StartTLS(ctx, t.Raw, settings, host, t.Limits.Connect, t.Limits.Reply)
	if err != nil {
		return t.Fail(fetch.Fail(fetch.OpTLS, nil, fetch.ErrOther, err))
	}
	t.TLS = conn
	t.attach(ctx, conn)
	return nil
}

// StopTLS goes back to the connection below TLS, whose end the server tells by a
// close_notify and nothing before it, within d; we tell ours first or not at all.
func (t *Talk) StopTLS(ctx context.Context, first bool, d time.Duration) error {
	t.within(d)
	if first {
		if err := t.TLS.CloseWrite(); err != nil {
			return t.Fail(err)
		}
	}
	if err := t.Lines.Fill(); err != io.EOF {
		if err == nil {
			err = Violation("", "a reply that nothing asked for")
		}
		return t.Fail(late(err, d, "no end of TLS"))
	}
	t.conn.SetContext(context.Background())
	t.TLS = nil
	t.attach(ctx, t.Raw)
	return nil
}

// ticketTime is how long octets on a socket may take to turn out to be a reply
// and no session ticket.
const ticketTime = 50 * time.Millisecond

// Waiting reports whether something has come that was not read. What TLS has taken
// in already does not show; it is the server's own.
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

// Await waits up to d for something to come, and reports whether it has, or why
// nothing will.
func (t *Talk) Await(d time.Duration) bool {
	if t.Lines.Buffered() > 0 || t.Err != nil {
		return true
	}
	t.within(d)
	return !errors.Is(t.Lines.Fill(), os.ErrDeadlineExceeded)
}

// maxLate bounds the replies to what was said before that may come before a farewell.
const maxLate = 32

// Quit takes leave, whatever state the conversation is in, waits for the answer for d
// at most, not at all if d is negative, and closes the connection.
func (t *Talk) Quit(d time.Duration) error {
	defer t.conn.Close()
	t.Limits.Reply = max(d, 0)
	if t.Send("QUIT") != nil || d < 0 {
		return nil
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

// Close closes the connection without a word, not even of TLS, which could take its
// time.
func (t *Talk) Close() error {
	err := t.Raw.Close()
	t.conn.Close()
	return err
}
