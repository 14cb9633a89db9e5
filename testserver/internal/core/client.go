package core

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver/traffic"
)

// Client is an accepted connection. What is written to it passes the recorder and the faults armed at
// CONNECT. What is read must be recorded by the protocol, with Received or Record.
type Client struct {
	net.Conn
	ID       int // number of the connection
	Received *Recorder

	m     *Machine
	place *place    // shared by the streams of the connection
	plan  *Plan     // armed at CONNECT
	out   io.Writer // leads to Conn, through the plan's faults and the recorder
	tap   *tap
}

// These errors end a connection without a further reply.
var (
	ErrCut    = errors.New("testserver: truncated by a fault")
	ErrSilent = errors.New("testserver: silenced by a fault")
)

func newClient(m *Machine, nc net.Conn, id int) *Client {
	at := &place{conn: id}
	p := m.at(at, "CONNECT")
	tap := &tap{to: nc, sent: Recorder{script: &m.script, conn: id, from: FromServer}}
	return &Client{
		Conn: nc, ID: id, m: m, place: at, plan: p, tap: tap, out: p.Shape(m.Ctx(), tap, nc),
		Received: &Recorder{script: &m.script, conn: id, from: FromClient},
	}
}

// tap records what is written to the control connection and passes it on.
type tap struct {
	to   io.Writer
	sent Recorder
	mute bool
}

func (t *tap) Write(p []byte) (int, error) {
	if !t.mute {
		_, _ = t.sent.Write(p)
	}
	return t.to.Write(p)
}

// open applies the faults armed at CONNECT. It returns false if the connection is over.
func (c *Client) open() bool {
	if err := c.Preempt(c.plan); err != nil {
		if errors.Is(err, ErrSilent) {
			c.Wait()
		}
		return false
	}
	if c.plan.EndsAtOnce(c.Conn) {
		return false
	}
	if reply, ok := c.plan.Take(Reply); ok {
		_, _ = c.Write([]byte(ReplyOctets(reply.Text)))
		return false
	}
	return true
}

// Secure starts TLS on the connection. No other goroutine may be reading from it. The transcript has
// what goes over TLS decrypted.
func (c *Client) Secure() error {
	ctx, cancel := context.WithTimeout(c.m.Ctx(), c.m.IdleTimeout)
	defer cancel()
	_ = c.SetDeadline(time.Time{})
	t, err := traffic.StartTLS(ctx, c.Conn, c.m.TLS)
	if err == nil {
		c.Replace(t)
	}
	return err
}

// Replace continues the connection on another one, above or below it.
func (c *Client) Replace(nc net.Conn) { c.Conn, c.tap.to = nc, nc }

// Armed returns the faults armed at CONNECT.
func (c *Client) Armed() *Plan { return c.plan }

// Stream returns a client for one of several streams that share the connection. What is written to it
// goes to out; what acts on a connection acts on that of c.
func (c *Client) Stream(out io.Writer) *Client {
	s := *c
	s.out = out
	return &s
}

// RecordLines records lines, also an unfinished last one.
func (c *Client) RecordLines(from Side, octets string) {
	r := Recorder{script: &c.m.script, conn: c.ID, from: from}
	_, _ = io.WriteString(&r, octets)
	r.End()
}

// Read waits for the client, but not longer than IdleTimeout.
func (c *Client) Read(p []byte) (int, error) {
	_ = c.SetReadDeadline(time.Now().Add(c.m.IdleTimeout))
	return c.Conn.Read(p)
}

// Write sends bytes of the control connection. The bytes that are really sent are recorded.
func (c *Client) Write(p []byte) (int, error) { return c.out.Write(p) }

// Body returns a writer for a document on this connection. Documents are not recorded.
func (c *Client) Body() io.Writer {
	c.tap.mute = true
	if c.plan.Shapes() {
		return c.out
	}
	return c.Conn // the kernel may splice into it
}

// Mute sets whether what the server sends is not recorded.
func (c *Client) Mute(mute bool) { c.tap.mute = mute }

// Through makes all that the server sends pass w, which must write to Conn, in place of the recorder.
func (c *Client) Through(w io.Writer) { c.tap.mute, c.tap.to = true, w }

// Preempt applies the faults of p that come before an answer or instead of one. An error means that
// no answer must be sent. The error is ErrSilent if the connection must stay open nevertheless.
func (c *Client) Preempt(p *Plan) error {
	err := c.preempt(p)
	if err != nil {
		p.End()
	}
	return err
}

// preempt applies the faults that Preempt is for.
func (c *Client) preempt(p *Plan) error {
	p.Acts(Gather)
	for _, come := range p.gather {
		select {
		case <-come:
		case <-c.m.Ctx().Done():
			return c.m.Ctx().Err()
		}
	}
	if err := c.m.Delay(c.m.Ctx(), p); err != nil {
		return err
	}
	switch {
	case p.Acts(Silence):
		return ErrSilent
	case p.Acts(Close):
		EndConn(c.Conn, false)
		return ErrCut
	case p.Acts(EndlessLine):
		return WriteEndlessLine(c)
	}
	return nil
}

// Delay waits as the faults of p say.
func (m *Machine) Delay(ctx context.Context, p *Plan) error {
	var sum time.Duration
	for _, d := range p.TakeAll(Delay) {
		sum += d.D
	}
	return Sleep(ctx, sum)
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

// Answer sends a reply with the faults of p, except Reply.
func (c *Client) Answer(p *Plan, reply string) error {
	text := p.Text(Octets, ReplyOctets(reply))
	if extra, ok := p.Take(ExtraReply); ok {
		if extra.Text == "" {
			extra.Text = reply
		}
		text += ReplyOctets(extra.Text)
	}
	_, err := io.WriteString(p.Shape(c.m.Ctx(), c, c.Conn), text)
	if err == nil && p.Acts(Hangup) {
		EndConn(c.Conn, false)
		return ErrCut
	}
	return err
}

// Wait reads and records until the client or the server ends.
func (c *Client) Wait() {
	_ = c.SetReadDeadline(time.Time{})
	_, _ = io.Copy(c.Received, c.Conn)
	c.Received.End()
}

// linger closes in order: it gives the client time to read what was sent. Closing with unread bytes
// from the client would destroy that.
func (c *Client) linger() {
	if cw, ok := c.Conn.(interface{ CloseWrite() error }); ok && cw.CloseWrite() == nil {
		_ = c.SetReadDeadline(time.Now().Add(LingerTime))
		_, _ = io.CopyN(io.Discard, c.Conn, 1<<20)
	}
	_ = c.Close()
}

// Record records a line whose Text is show(octets).
func (c *Client) Record(from Side, octets string, show func(octets string) string) {
	c.m.Record(Line{Conn: c.ID, From: from, Octets: octets}, show)
}

// Quote records a whole request with its line end.
func (c *Client) Quote(line []byte) { c.Record(FromClient, string(line), strconv.Quote) }

// Count records the length of an answer or of an upload.
func (c *Client) Count(from Side, n int64) {
	c.m.Record(Line{Conn: c.ID, From: from, Text: fmt.Sprintf("(%d bytes)", n)}, nil)
}

// ReplyOctets returns a reply text as it is sent, with CR LF.
func ReplyOctets(text string) string {
	return strings.ReplaceAll(text, "\n", "\r\n") + "\r\n"
}
