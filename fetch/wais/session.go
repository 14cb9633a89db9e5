package wais

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/codec/z3950"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// maxAnswer is the maximum size of a server's message in bytes. Real servers send at most 100000.
const maxAnswer = 4 << 20

var (
	errNoAnswer = errors.New("the server closed the connection without an answer")
	errEmpty    = errors.New("the server sent an empty reply: it does not support this request")
	errNoLike   = fmt.Errorf("%w; freeWAIS crashes on searches for similar documents: search for words instead", errNoAnswer)
	errNotInit  = errors.New("unexpected reply to Init")
	errOtherPDU = errors.New("unexpected reply: not a SearchResponse")
)

// session is a connection to a server.
type session struct {
	ctx    context.Context
	loc    *locator.WAIS
	conn   *wire.Conn
	trace  *fetch.Trace
	limits fetch.Limits
	agreed uint32 // the maximum size of the server's messages; 0 if unknown
	sent   []byte // buffer for requests
	got    []byte // the last reply; its buffer is reused
}

// initRequest returns the Init message. It contains nothing about the user or the host.
func initRequest() *z3950.Init {
	return &z3950.Init{Terms: z3950.Terms{
		Version: 0x80, Options: 0x80, PreferredMessageSize: maxAnswer, MaximumRecordSize: maxAnswer,
		ImplementationName: "fetch1738",
	}}
}

// open connects and sends Init.
func (f *Fetcher) open(ctx context.Context, req *fetch.Request, a *access) (*session, error) {
	env := driver.NewEnv(f.Env)
	conn, err := env.Connect(ctx, fetch.Target{Locator: a.loc, From: req.From, Network: "tcp", Host: a.host, Port: a.port})
	if err != nil {
		return nil, err
	}
	s := &session{
		ctx: ctx, loc: a.loc, conn: wire.NewConn(ctx, conn, env.Limits.Reply),
		trace: driver.ContextTrace(ctx), limits: env.Limits,
	}
	if !f.NoInit {
		if err := s.init(); err != nil {
			s.conn.Close()
			return nil, err
		}
	}
	return s, nil
}

// init sends Init. The session continues even if the server rejects it, because servers must accept
// searches without Init.
func (s *session) init() error {
	p, err := s.exchange("init", initRequest())
	if err != nil {
		return err
	}
	switch p := p.(type) {
	case nil:
		s.trace.Note("the server does not support Init")
	case *z3950.InitResponse:
		s.agreed = p.MaximumRecordSize
		if !p.Accepted {
			s.trace.Note("the server rejected Init; continuing without it")
		}
	default:
		return driver.Fail("init", s.loc, fetch.ErrProtocol, errNotInit)
	}
	return nil
}

// ask sends a search and returns the response. An empty reply is an error.
func (s *session) ask(op fetch.Op, request *z3950.Search) (*z3950.SearchResponse, error) {
	p, err := s.exchange(op, request)
	if err != nil {
		return nil, err
	}
	r, ok := p.(*z3950.SearchResponse)
	switch {
	case p == nil:
		return nil, driver.Fail(op, s.loc, fetch.ErrProtocol, errEmpty)
	case !ok:
		return nil, driver.Fail(op, s.loc, fetch.ErrProtocol, errOtherPDU)
	}
	return r, nil
}

// askWords searches for words. It returns nil for an empty reply.
func (s *session) askWords(database, words string, max int) (*z3950.SearchResponse, error) {
	r, err := s.ask("search", wordSearch(database, words, max))
	if errors.Is(err, errEmpty) {
		return nil, nil
	}
	return r, err
}

// exchange sends a request and returns the reply, or nil for an empty one. The reply is valid until
// the next exchange.
func (s *session) exchange(op fetch.Op, request z3950.PDU) (z3950.PDU, error) {
	var err error
	if s.sent, err = z3950.AppendMessage(s.sent[:0], z3950.NewHeader(), request); err != nil {
		return nil, driver.Fail(op, s.loc, fetch.ErrBadURL, err)
	}
	s.conn.SetTimeout(s.limits.Reply)
	if _, err := s.conn.Write(s.sent); err != nil {
		return nil, driver.Fail(op, s.loc, fetch.ErrOther, err)
	}
	s.trace.Sent(s.sent)
	wire.QuickAck(s.conn.Conn)
	header, answer, err := z3950.ReadMessage(&idleReader{conn: s.conn, idle: s.limits.Idle}, s.got, maxAnswer)
	s.got = answer
	if len(answer) > 0 {
		s.trace.Received(answer)
	}
	if err != nil {
		return nil, s.readFailure(op, err)
	}
	if header.Type != 'z' {
		return nil, driver.Fail(op, s.loc, fetch.ErrProtocol, fmt.Errorf("unexpected reply of type %q", header.Type))
	}
	if header.Length == 0 {
		return nil, nil
	}
	p, err := z3950.Decode(answer[z3950.HeaderSize:])
	if err != nil {
		return nil, driver.Fail(op, s.loc, fetch.ErrProtocol, err)
	}
	return p, nil
}

// readFailure returns the error for a reply that did not arrive completely.
func (s *session) readFailure(op fetch.Op, err error) error {
	kind := fetch.ErrOther
	switch {
	case err == io.EOF:
		kind, err = fetch.ErrConnectionFailed, errNoAnswer
	case errors.Is(err, z3950.ErrNotWAIS):
		kind, err = fetch.ErrProtocol, fmt.Errorf("not a WAIS server: %w", err)
	case errors.Is(err, z3950.ErrTooLong):
		kind = fetch.ErrTooLarge
	case errors.Is(err, z3950.ErrUnsupported):
		kind = fetch.ErrUnsupported
	}
	return driver.Fail(op, s.loc, kind, err)
}

// idleReader reads a reply. After the first bytes it switches to the idle time limit.
type idleReader struct {
	conn *wire.Conn
	idle time.Duration
}

func (w *idleReader) Read(p []byte) (int, error) {
	n, err := w.conn.Read(p)
	if n > 0 {
		w.conn.SetTimeout(w.idle)
	}
	return n, err
}
