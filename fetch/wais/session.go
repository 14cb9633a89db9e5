package wais

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/internal/z3950"
	"github.com/fetch1738/fetch1738/locator"
)

// maxAnswer bounds a server's message in octets. Real servers stop at 100000.
const maxAnswer = 4 << 20

var (
	errNoAnswer = errors.New("the server closed the connection without an answer")
	errEmpty    = errors.New("the server's answer is empty: it cannot do what was asked")
	errNoLike   = fmt.Errorf("%w; freeWAIS fails at searches for documents like another: search for words instead", errNoAnswer)
	errNotInit  = errors.New("the server's answer to Init is none")
	errOtherPDU = errors.New("the server's answer is no SearchResponse")
)

// session is a connection to a server.
type session struct {
	ctx    context.Context
	loc    *locator.WAIS
	conn   *wire.Conn
	trace  *fetch.Trace
	limits fetch.Limits
	agreed uint32 // the longest message that the server sends, in octets; 0 is unknown
	sent   []byte // room for requests
	got    []byte // the last answer, and room for the next
}

// hello is what is said in Init: nothing about the user or the machine.
func hello() *z3950.Init {
	return &z3950.Init{Terms: z3950.Terms{
		Version: 0x80, Options: 0x80, PreferredMessageSize: maxAnswer, MaximumRecordSize: maxAnswer,
		ImplementationName: "fetch1738",
	}}
}

// open connects and says hello.
func (f *Fetcher) open(ctx context.Context, req *fetch.Request, a *access) (*session, error) {
	env := f.Env.WithDefaults()
	conn, err := env.Connect(ctx, fetch.Target{Locator: a.loc, From: req.From, Network: "tcp", Host: a.host, Port: a.port})
	if err != nil {
		return nil, err
	}
	s := &session{
		ctx: ctx, loc: a.loc, conn: wire.NewConn(ctx, conn, env.Limits.Reply),
		trace: fetch.ContextTrace(ctx), limits: env.Limits,
	}
	if !f.NoInit {
		if err := s.init(); err != nil {
			s.conn.Close()
			return nil, err
		}
	}
	return s, nil
}

// init introduces the client. Whether the server cares does not matter: it has
// to answer searches without.
func (s *session) init() error {
	p, err := s.exchange(fetch.OpInit, hello())
	if err != nil {
		return err
	}
	switch p := p.(type) {
	case nil:
		s.trace.Note("the server does not know Init")
	case *z3950.InitResponse:
		s.agreed = p.MaximumRecordSize
		if !p.Accepted {
			s.trace.Note("the server declines Init; it is asked all the same")
		}
	default:
		return fetch.Fail(fetch.OpInit, s.loc, fetch.ErrProtocol, errNotInit)
	}
	return nil
}

// ask searches and wants an answer.
func (s *session) ask(op fetch.Op, request *z3950.Search) (*z3950.SearchResponse, error) {
	p, err := s.exchange(op, request)
	if err != nil {
		return nil, err
	}
	r, ok := p.(*z3950.SearchResponse)
	switch {
	case p == nil:
		return nil, fetch.Fail(op, s.loc, fetch.ErrProtocol, errEmpty)
	case !ok:
		return nil, fetch.Fail(op, s.loc, fetch.ErrProtocol, errOtherPDU)
	}
	return r, nil
}

// askWords searches for words; an answer without anything in it is nil.
func (s *session) askWords(database, words string, max int) (*z3950.SearchResponse, error) {
	r, err := s.ask(fetch.OpSearch, wordSearch(database, words, max))
	if errors.Is(err, errEmpty) {
		return nil, nil
	}
	return r, err
}

// exchange sends a request and receives the answer, nil for an empty one. The
// answer holds until the next exchange.
func (s *session) exchange(op fetch.Op, request z3950.PDU) (z3950.PDU, error) {
	var err error
	if s.sent, err = z3950.AppendMessage(s.sent[:0], z3950.NewHeader(), request); err != nil {
		return nil, fetch.Fail(op, s.loc, fetch.ErrBadURL, err)
	}
	s.conn.SetTimeout(s.limits.Reply)
	if _, err := s.conn.Write(s.sent); err != nil {
		return nil, fetch.Fail(op, s.loc, fetch.ErrOther, err)
	}
	s.trace.Sent(s.sent)
	wire.QuickAck(s.conn.Conn)
	header, answer, err := z3950.ReadMessage(&waiting{conn: s.conn, idle: s.limits.Idle}, s.got, maxAnswer)
	s.got = answer
	if len(answer) > 0 {
		s.trace.Received(answer)
	}
	if err != nil {
		return nil, s.broken(op, err)
	}
	if header.Type != 'z' {
		return nil, fetch.Fail(op, s.loc, fetch.ErrProtocol, fmt.Errorf("the server's answer is of type %q", header.Type))
	}
	if header.Length == 0 {
		return nil, nil
	}
	p, err := z3950.Decode(answer[z3950.HeaderSize:])
	if err != nil {
		return nil, fetch.Fail(op, s.loc, fetch.ErrProtocol, err)
	}
	return p, nil
}

// broken is the error of an answer that does not come, or not whole.
func (s *session) broken(op fetch.Op, err error) error {
	kind := fetch.ErrOther
	switch {
	case err == io.EOF:
		kind, err = fetch.ErrConnectionFailed, errNoAnswer
	case errors.Is(err, z3950.ErrNotWAIS):
		kind, err = fetch.ErrProtocol, fmt.Errorf("this is no WAIS server: %w", err)
	case errors.Is(err, z3950.ErrTooLong):
		kind = fetch.ErrTooLarge
	case errors.Is(err, z3950.ErrUnsupported):
		kind = fetch.ErrUnsupported
	}
	return fetch.Fail(op, s.loc, kind, err)
}

// waiting reads an answer. Once the first of it is there the rest must not be
// idle.
type waiting struct {
	conn *wire.Conn
	idle time.Duration
}

func (w *waiting) Read(p []byte) (int, error) {
	n, err := w.conn.Read(p)
	if n > 0 {
		w.conn.SetTimeout(w.idle)
	}
	return n, err
}
