package gopher

import (
	"context"
	"io"
	"net"
	"net/netip"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// exchange is a request that has been sent, and the beginning of its response.
type exchange struct {
	*access
	ctx      context.Context
	limits   fetch.Limits
	conn     *wire.Conn
	peer     netip.AddrPort
	src      *source
	isPlus   bool // the response has a Gopher+ header
	header   plusHeader
	fallback string // why the response has no Gopher+ header, although one was expected
}

const (
	fallbackHeader = "the response has no Gopher+ header and is read as plain gopher"
	fallbackList   = "the attributes have no Gopher+ header"
	fallbackStub   = "the server does not really support Gopher+; repeating the request without it"
)

// ask sends the request and examines the beginning of the response. If the response is only an
// error message, it returns an error.
func (f *Fetcher) ask(ctx context.Context, req *fetch.Request, a *access) (*exchange, error) {
	x, err := f.send(ctx, req, a)
	if err != nil {
		return nil, err
	}
	if err := x.begin(); err != nil {
		x.conn.Close()
		return nil, err
	}
	if !x.isPlus || !x.isStub() {
		return x, nil
	}
	x.conn.Close()
	driver.ContextTrace(ctx).Note(fallbackStub)
	if x, err = f.ask(ctx, req, f.plain(a)); err == nil {
		x.fallback = fallbackStub
	}
	return x, err
}

// send connects, sends the request and waits for the beginning of the response.
func (f *Fetcher) send(ctx context.Context, req *fetch.Request, a *access) (*exchange, error) {
	env := driver.NewEnv(f.Env)
	conn, err := f.connect(ctx, env, req, a)
	if err != nil {
		return nil, err
	}
	c := wire.NewConn(ctx, conn, env.Limits.Reply)
	x := &exchange{access: a, ctx: ctx, limits: env.Limits, conn: c, peer: driver.AddrPort(conn.RemoteAddr()), src: &source{conn: c}}
	// In one write, because a server may take the first packet for the whole request.
	if _, err := c.Write(a.request); err != nil {
		c.Close()
		return nil, driver.Fail(fetch.OpSend, a.loc, fetch.ErrOther, err)
	}
	driver.ContextTrace(ctx).Sent(a.maskedRequest())
	wire.QuickAck(c.Conn)
	if x.src.fill(); x.src.err != nil && x.src.err != io.EOF && len(x.src.head) == 0 {
		c.Close()
		return nil, driver.Fail(fetch.OpRead, a.loc, fetch.ErrOther, x.src.err)
	}
	c.SetTimeout(env.Limits.Idle)
	return x, nil
}

// connect connects to the item's server. If the form comes from Options, the policy is called with
// a locator that includes it.
func (f *Fetcher) connect(ctx context.Context, env *driver.Env, req *fetch.Request, a *access) (net.Conn, error) {
	target := a.loc
	if a.form != nil {
		filled := *a.loc
		filled.Plus, filled.Fields = a.form.masked, 2
		target = &filled
	}
	conn, err := env.Connect(ctx, fetch.Target{Locator: target, From: req.From, Network: "tcp", Host: a.host, Port: a.port})
	if err != nil {
		e := driver.Fail(fetch.OpConnect, a.loc, fetch.ErrOther, err)
		e.URL = a.loc.Redacted()
		return nil, e
	}
	if !a.loc.Secure {
		return conn, nil
	}
	return f.handshake(ctx, conn, a, env.Limits.Connect)
}

// begin examines the beginning of the response: a Gopher+ header, and whether all of it is an error
// message.
func (x *exchange) begin() (err error) {
	if x.loc.Type == '2' {
		return x.phoneAnswer()
	}
	trace := driver.ContextTrace(x.ctx)
	if x.plus != "" {
		if x.header, x.isPlus, err = x.src.header(); err != nil {
			return driver.Fail(fetch.OpRead, x.loc, fetch.ErrOther, err)
		}
		switch {
		case x.isPlus && x.header.refused:
			return x.refusal()
		case x.isPlus:
			return nil
		case x.src.hasPrefix("+INFO"):
			x.fallback = fallbackList
			trace.Note(x.fallback)
			return nil
		}
		x.fallback = fallbackHeader
		trace.Note(x.fallback)
		x.expectPlain()
	} else if x.framing == menuLines && x.src.hasPrefix("--") {
		// Not a menu line: gopherd refuses searches in this way, even plain ones.
		if x.header, x.isPlus, err = x.src.header(); err == nil && x.isPlus {
			return x.refusal()
		}
		x.isPlus = false
	}
	text, refused := x.src.errorText(x.kind == fetch.KindMenu)
	if !refused && x.framing != menuLines {
		text, refused = x.src.errorPage()
	}
	if refused {
		trace.Received(x.src.head)
		return &fetch.Error{Op: fetch.OpFetch, URL: x.loc.Redacted(), Kind: fetch.ErrNotFound, Reply: text}
	}
	if line, certain := x.src.otherProtocol(x.framing == menuLines); line != nil && x.port != portGopher {
		trace.Received(line)
		if certain {
			text := strings.TrimRight(string(line), "\r\n")
			return &fetch.Error{Op: fetch.OpRead, URL: x.loc.Redacted(), Kind: fetch.ErrProtocol, Reply: text, Err: errNotServer}
		}
		trace.Note("the response looks like that of another protocol")
	}
	return nil
}

// expectPlain changes the access to one with a plain response.
func (x *exchange) expectPlain() {
	a := *x.access
	a.itemType, a.named = types[a.loc.Type], false
	if a.kind = fetch.KindDocument; a.framing == menuLines {
		a.kind = menuIf(a.whole)
	}
	x.access = &a
}

// maskedRequest returns the request with passwords masked.
func (a *access) maskedRequest() []byte {
	if a.form == nil || !a.form.secret {
		return a.request
	}
	masked := append([]byte(nil), a.request[:len(a.request)-len(a.form.plus)]...)
	return append(masked, a.form.masked...)
}

// headSize is how many bytes are received at once at first.
const headSize = wire.BufferSize

// source is the data from the server. Its beginning can be examined before it is read.
type source struct {
	conn *wire.Conn
	head []byte       // received, but not yet read
	buf  *wire.Buffer // of head at first; nil if it is not in use
	err  error        // the read error after head, if there was one
}

// fill receives more into head.
func (s *source) fill() {
	switch {
	case s.head == nil:
		s.buf = wire.GetBuffer()
		s.head = s.buf[:0]
	case cap(s.head)-len(s.head) < headSize/2:
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
		if s.head = s.head[n:]; len(s.head) == 0 && s.buf != nil {
			wire.PutBuffer(s.buf)
			s.head, s.buf = nil, nil
		}
		return n, nil
	case s.err != nil:
		return 0, s.err
	}
	n, err := s.conn.Read(p)
	s.err = err
	return n, err
}
