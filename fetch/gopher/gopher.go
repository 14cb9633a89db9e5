// Package gopher fetches gopher URLs (RFC 1738 §3.4) by the protocol of
// RFC 1436: one connection, one line sent, and what comes until the server
// closes is the answer.
//
// A Gopher+ string in a URL is sent as RFC 1738 §3.4.3 to §3.4.9 say; the answer
// to it comes as it is, with the header of Gopher+ in front.
package gopher

import (
	"context"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// Fetcher is a [fetch.Fetcher] and [fetch.Explainer] for gopher URLs. The zero
// value is ready. It keeps nothing between requests; its fields must not be
// changed once it is in use.
//
// Menus are KindMenu; one line that is nothing but the server's complaint is an
// error of kind NotFound. A search (type 7) without words is KindQuery, and a
// telnet session (8, T) KindAdvice; nothing is dialled for either. An item that
// stands for a URL (type h, "URL:…") is a *[fetch.Referral]. CSO phone books
// (type 2) speak another protocol and are Unsupported.
//
// Gopher has no sizes and no ranges: Size is -1, and with an Offset what comes
// before it is received all the same; counting from the end is Unsupported.
type Fetcher struct {
	// Env is the way out; nil is the zero Env.
	Env *fetch.Env
	// Exact sends what RFC 1738 §3.4 says to the letter where real servers want
	// something else: an empty search string with its TAB before a Gopher+ string
	// (§3.4.3), and spaces between attribute names (§3.4.7). It also leaves "?" in
	// the selector of a search instead of taking what follows for its words.
	Exact bool
}

var (
	_ fetch.Fetcher   = (*Fetcher)(nil)
	_ fetch.Explainer = (*Fetcher)(nil)
)

// Info is the [fetch.Resource.Info] of what was fetched by gopher.
type Info struct {
	// Request is what was sent.
	Request []byte
	// Complete is set when the server has marked the end of a text or menu. For
	// anything else the end cannot be told from a connection that was cut. It
	// holds once the Body, or Items, has been read to its end.
	Complete bool
}

// Fetch implements [fetch.Fetcher].
func (f *Fetcher) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	a, err := f.prepare(req)
	if err != nil {
		return nil, err
	}
	if a.note != "" {
		fetch.ContextTrace(ctx).Note(a.note)
	}
	res := &fetch.Resource{
		Attributes: fetch.Attributes{Size: -1, MediaType: a.media, Guessed: a.media != ""},
		Locator:    a.loc,
		Kind:       a.kind,
		Body:       fetch.EmptyBody,
		Advice:     a.advice,
	}
	switch {
	case a.referral != nil:
		return nil, fetch.Fail("fetch", a.loc, fetch.Moved, &fetch.Referral{To: a.referral, From: req.From})
	case a.kind == fetch.KindQuery || a.kind == fetch.KindAdvice:
		return res, nil
	}
	if err := f.open(ctx, req, a, res); err != nil {
		return nil, err
	}
	return res, nil
}

// open does the exchange and fills in res.
func (f *Fetcher) open(ctx context.Context, req *fetch.Request, a *access, res *fetch.Resource) error {
	env := f.Env.WithDefaults()
	conn, err := env.Connect(ctx, fetch.Target{Locator: a.loc, From: req.From, Network: "tcp", Host: a.host, Port: a.port})
	if err != nil {
		return err
	}
	c := wire.NewConn(ctx, conn, env.Limits.Reply)
	src, err := exchange(ctx, c, a, env.Limits.Idle)
	if err != nil {
		c.Close()
		return err
	}
	info := &Info{Request: a.request}
	b := newBody(ctx, c, a, env.Limits.Body)
	trace := fetch.ContextTrace(ctx)
	if a.framing == untilClose {
		b.src, b.raw = src, src
	} else {
		b.src = &textReader{src: src, menu: a.framing == menuLines, info: info, note: trace.Note}
	}
	if err := b.part(req.Offset, req.Length); err != nil {
		b.Close()
		return err
	}
	res.Body, res.Info, res.Peer = b, info, peer(conn)
	if b.raw != nil {
		res.Body = &rawBody{b}
	}
	if a.kind == fetch.KindMenu {
		res.Items = items(b, a.loc, env.Limits)
	}
	return nil
}

// exchange sends the request and waits for the first of the answer. An answer
// that is only a complaint is an error.
func exchange(ctx context.Context, c *wire.Conn, a *access, idle time.Duration) (*source, error) {
	trace := fetch.ContextTrace(ctx)
	// In one write: a server may take what comes first for the whole request.
	if _, err := c.Write(a.request); err != nil {
		return nil, fetch.Fail("send", a.loc, fetch.Other, err)
	}
	trace.Sent(a.request)
	wire.QuickAck(c.Conn)
	src := &source{conn: c}
	if src.fill(); src.err != nil && src.err != io.EOF && len(src.head) == 0 {
		return nil, fetch.Fail("read", a.loc, fetch.Other, src.err)
	}
	c.SetTimeout(idle)
	if a.plus {
		return src, nil
	}
	if text, refused := src.complaint(a.kind == fetch.KindMenu); refused {
		trace.Received(src.head)
		return nil, &fetch.Error{Op: "fetch", URL: a.loc.Redacted(), Kind: fetch.NotFound, Reply: text}
	}
	return src, nil
}

// peer is the address of the server, if the connection has one.
func peer(c net.Conn) netip.AddrPort {
	tcp, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := tcp.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

// source is what the server sends. The first of it is looked at before it is
// read.
type source struct {
	conn *wire.Conn
	head []byte // received, not yet read
	err  error  // what comes after head, if that is known
}

// headSize is how much is received at once at first.
const headSize = 16 << 10

// fill receives more into head.
func (s *source) fill() {
	if cap(s.head)-len(s.head) < headSize/2 {
		s.head = append(make([]byte, 0, 2*cap(s.head)+headSize), s.head...)
	}
	n, err := s.conn.Read(s.head[len(s.head):cap(s.head)])
	s.head, s.err = s.head[:len(s.head)+n], err
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	switch {
	case len(s.head) > 0:
		n := copy(p, s.head)
		s.head = s.head[n:]
		return n, nil
	case s.err != nil:
		return 0, s.err
	}
	n, err := s.conn.Read(p)
	s.err = err
	return n, err
}

// locatorOf is the request's Locator if it is a gopher one without an octet
// that cannot be sent.
func locatorOf(req *fetch.Request) (*locator.Gopher, error) {
	l, ok := req.Locator.(*locator.Gopher)
	if !ok || l == nil {
		return nil, fetch.Fail("fetch", req.Locator, fetch.Unsupported, errNotGopher)
	}
	if err := fetch.CheckOctets(l); err != nil {
		return nil, err
	}
	return l, nil
}
