package core

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver/traffic"
)

// Client is an accepted connection. What is written to it is logged, and passes the faults armed at
// CONNECT. What is read must be logged by the protocol, with Received or Log.
type Client struct {
	net.Conn
	ID       int // number of the connection
	Received *LineWriter

	m      *Machine
	place  *place    // shared by the streams of the connection
	faults *Faults   // armed at CONNECT
	out    io.Writer // leads to Conn, through the faults and tap
	tap    *tap
	idle   time.Duration // how long Read waits
	tls    *tls.Config   // of Secure

	release func() // the connection does not count as open any more
}

// NewClient returns the client of a new connection, whose number is id. It may be silent for the time
// idle. secure is the configuration of Secure; it may be nil. release is [Conns.Release], but counts once.
func NewClient(m *Machine, nc net.Conn, id int, idle time.Duration, secure *tls.Config, release func()) *Client {
	at := &place{conn: id}
	faults := m.at(at, "CONNECT")
	tap := &tap{to: nc, sent: LineWriter{log: &m.Log, conn: id, from: FromServer}}
	return &Client{
		Conn: nc, ID: id, m: m, place: at, faults: faults, tap: tap, out: faults.Shape(m.Ctx(), tap, nc),
		Received: &LineWriter{log: &m.Log, conn: id, from: FromClient}, idle: idle, tls: secure, release: release,
	}
}

// tap logs what is written to the control connection and passes it on.
type tap struct {
	to   io.Writer
	sent LineWriter
	mute bool
}

func (t *tap) Write(p []byte) (int, error) {
	if !t.mute {
		_, _ = t.sent.Write(p)
	}
	return t.to.Write(p)
}

// Open applies the faults armed at CONNECT. It returns false if the connection is over.
func (c *Client) Open() bool {
	if !c.MayAnswer(c.faults) || c.faults.EndsAtOnce(c.Conn) {
		return false
	}
	if reply, ok := c.faults.Take(Reply); ok {
		_, _ = c.Write([]byte(ReplyOctets(reply.Text)))
		return false
	}
	return true
}

// Secure starts TLS on the connection. No other goroutine may be reading from it. The transcript has
// what goes over TLS decrypted.
func (c *Client) Secure() error {
	ctx, cancel := context.WithTimeout(c.m.Ctx(), c.idle)
	defer cancel()
	_ = c.SetDeadline(time.Time{})
	t, err := traffic.StartTLS(ctx, c.Conn, c.tls)
	if err == nil {
		c.Replace(t)
	}
	return err
}

// Replace continues the connection on another one, above or below it.
func (c *Client) Replace(nc net.Conn) { c.Conn, c.tap.to = nc, nc }

// Armed returns the faults armed at CONNECT.
func (c *Client) Armed() *Faults { return c.faults }

// At returns the faults armed for an event of the client that has all the given stage names.
func (c *Client) At(stages ...string) *Faults { return c.m.at(c.place, stages...) }

// Stream returns a client for one of several streams that share the connection. What is written to it
// goes to out; what acts on a connection acts on that of c.
func (c *Client) Stream(out io.Writer) *Client {
	s := *c
	s.out = out
	return &s
}

// LogLines adds lines to the transcript, also an unfinished last one.
func (c *Client) LogLines(from Side, octets string) {
	r := LineWriter{log: &c.m.Log, conn: c.ID, from: from}
	_, _ = io.WriteString(&r, octets)
	r.End()
}

// Read waits for the client, but no longer than it may be silent.
func (c *Client) Read(p []byte) (int, error) {
	_ = c.SetReadDeadline(time.Now().Add(c.idle))
	return c.Conn.Read(p)
}

// Write sends bytes of the control connection. The bytes that are really sent are logged.
func (c *Client) Write(p []byte) (int, error) { return c.out.Write(p) }

// Body returns a writer for a document on this connection. Documents are not logged.
func (c *Client) Body() io.Writer {
	c.tap.mute = true
	if c.faults.Shapes() {
		return c.out
	}
	return c.Conn // the kernel may splice into it
}

// Mute sets whether what the server sends is not logged.
func (c *Client) Mute(mute bool) { c.tap.mute = mute }

// Through makes all that the server sends pass w, which must write to Conn, in place of the log.
func (c *Client) Through(w io.Writer) { c.tap.mute, c.tap.to = true, w }

// MayAnswer is Preempt for a server that answers one request after the other. It reports whether an
// answer is to be sent; otherwise the connection is over. With Silence it returns when that ends.
func (c *Client) MayAnswer(faults *Faults) bool {
	err := c.Preempt(faults)
	if errors.Is(err, ErrSilent) {
		c.Wait()
	}
	return err == nil
}

// Preempt applies the faults that come before an answer or instead of one. An error means that
// no answer must be sent. The error is ErrSilent if the connection must stay open nevertheless.
func (c *Client) Preempt(faults *Faults) error {
	err := c.preempt(faults)
	if err != nil {
		faults.End()
	}
	return err
}

// preempt applies the faults that Preempt is for.
func (c *Client) preempt(faults *Faults) error {
	faults.Acts(Gather)
	for _, come := range faults.gather {
		select {
		case <-come:
		case <-c.m.Ctx().Done():
			return c.m.Ctx().Err()
		}
	}
	if err := faults.Delay(c.m.Ctx()); err != nil {
		return err
	}
	switch {
	case faults.Acts(Silence):
		return ErrSilent
	case faults.Acts(Close):
		c.HangUp()
		return ErrCut
	case faults.Acts(EndlessLine):
		return WriteEndlessLine(c)
	}
	return nil
}

// WriteEndlessLine writes a line without end until the client closes the connection.
func WriteEndlessLine(w io.Writer) error {
	chunk := bytes.Repeat([]byte{'a'}, 4<<10)
	for {
		if _, err := w.Write(chunk); err != nil {
			return err
		}
	}
}

// Answer sends a reply with its faults, except Reply.
func (c *Client) Answer(faults *Faults, reply string) error {
	text := faults.Text(Octets, ReplyOctets(reply))
	if extra, ok := faults.Take(ExtraReply); ok {
		if extra.Text == "" {
			extra.Text = reply
		}
		text += ReplyOctets(extra.Text)
	}
	_, err := io.WriteString(faults.Shape(c.m.Ctx(), c, c.Conn), text)
	if err == nil && faults.Acts(Hangup) {
		c.HangUp()
		return ErrCut
	}
	return err
}

// HangUp ends the connection. What the client still sends is read.
func (c *Client) HangUp() {
	c.release()
	EndConn(c.Conn, false)
}

// Wait reads and logs until the client or the server ends.
func (c *Client) Wait() {
	_ = c.SetReadDeadline(time.Time{})
	_, _ = io.Copy(c.Received, c.Conn)
	c.Received.End()
}

// LingerTime is how long a closing connection waits for its peer.
const LingerTime = time.Second

// Linger closes in order: it gives the client time to read what was sent. Closing with unread bytes
// from the client would destroy that.
func (c *Client) Linger() {
	if cw, ok := c.Conn.(interface{ CloseWrite() error }); ok && cw.CloseWrite() == nil {
		_ = c.SetReadDeadline(time.Now().Add(LingerTime))
		_, _ = io.CopyN(io.Discard, c.Conn, 1<<20)
	}
	_ = c.Close()
}

// Log adds a line to the transcript whose Text is show(octets).
func (c *Client) Log(from Side, octets string, show func(octets string) string) {
	c.m.Log.Append(Line{Conn: c.ID, From: from, Octets: octets}, show)
}

// Quote logs a whole request with its line end.
func (c *Client) Quote(line []byte) { c.Log(FromClient, string(line), strconv.Quote) }

// Count logs the length of an answer or of an upload.
func (c *Client) Count(from Side, n int64) {
	c.m.Log.Append(Line{Conn: c.ID, From: from, Text: fmt.Sprintf("(%d bytes)", n)}, nil)
}

// ReplyOctets returns a reply text as it is sent, with CR LF.
func ReplyOctets(text string) string {
	return strings.ReplaceAll(text, "\n", "\r\n") + "\r\n"
}
