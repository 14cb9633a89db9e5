package exchange

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/http/internal/frames"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// shared is a connection that speaks HTTP/2 (RFC 9113), which net/http does. Any number of exchanges
// may use it at once.
type shared struct {
	*http.ClientConn
	watch *frames.Conn
	about fetch.Connection
	peer  netip.AddrPort // the server's; invalid through a proxy
	tls   *tls.ConnectionState

	suspect atomic.Bool // the server was silent for too long

	mu      sync.Mutex
	users   int       // exchanges
	since   time.Time // when the last one ended
	leaving bool      // it is closed when the last one ends
}

// How much a server may send ahead of its readers, in bytes. One stream reaches 300 Mbit/s at a round
// trip of 50 ms, and one reader that pauses does not stop the others.
const (
	mostAheadOfReader = 2 << 20
	mostAhead         = 512 * mostAheadOfReader
)

// share makes a new connection one that speaks HTTP/2.
func (c *conn) share(ex *Exchange) (*shared, error) {
	limits := &ex.Env.Limits
	s := &shared{since: time.Now(), about: c.about, peer: c.peer, tls: c.tls, watch: frames.Watch(c.Conn.Conn, frames.Limits{Line: limits.Line, Header: limits.Header}, ex.Hooks.Frames())}
	t := &http.Transport{
		DialContext:            func(context.Context, string, string) (net.Conn, error) { return s.watch, nil },
		Protocols:              new(http.Protocols),
		DisableCompression:     true,
		MaxResponseHeaderBytes: 8 * int64(limits.Header), // watch has the limit; net/http counts 32 more for each field
		ExpectContinueTimeout:  ex.ContinueTime,
		IdleConnTimeout:        idleTime,
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerConnection: mostAhead, MaxReceiveBufferPerStream: mostAheadOfReader, WriteByteTimeout: limits.Idle,
		},
	}
	// The connection is below TLS already. With UnencryptedHTTP2 net/http takes any net.Conn; the URL of
	// each request says https.
	t.Protocols.SetUnencryptedHTTP2(true)
	var err error
	if s.ClientConn, err = t.NewClientConn(context.Background(), "http", "h:1"); err != nil {
		return nil, err
	}
	return s, nil
}

// usable reports whether another exchange may begin. After a silence the server may be gone. A PING
// could find out, and a new connection does so, too.
func (s *shared) usable() bool {
	return s.Err() == nil && !s.watch.Closing() && s.watch.Lost() == nil && !s.suspect.Load()
}

// use adds n to the number of exchanges.
func (s *shared) use(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users += n
	s.since = time.Now()
	if s.users == 0 && s.leaving {
		_ = s.Close() // no exchange waits for the result
	}
}

// idle returns since when no exchange uses the connection, and whether that is so.
func (s *shared) idle() (since time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.since, s.users == 0 && s.Err() == nil
}

// leave closes the connection when no exchange uses it. s may be nil.
func (s *shared) leave() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.leaving = true
	s.mu.Unlock()
	s.use(0)
}

// permit asks the policy the questions of a new connection.
func (s *shared) permit(ctx context.Context, ex *Exchange) error {
	return talk.PermitReuse(ctx, ex.Env, ex.target(), s.peer)
}

// stream is an exchange over a shared connection.
type stream struct {
	frames.Stream
	on   *shared
	ex   *Exchange
	r    *http.Request
	ctx  context.Context         // ends with the exchange
	stop context.CancelCauseFunc // ends the exchange

	mu    sync.Mutex
	phase phase
	timer *time.Timer // of what is awaited
	waits int         // counts the calls of await
	ended bool

	telling sync.Mutex // held while heads are reported
	heads   []string   // that have not been
	final   []byte     // the head of the response
}

// A phase is what an exchange waits for.
type phase int

const (
	waiting   phase = iota // for the end of other exchanges: the server permits no more at once
	asking                 // the server to take the request, and to respond
	receiving              // the body of the response; the request may still be sent
)

// end ends the exchange.
func (st *stream) end(why error) {
	st.await(receiving, 0, "")
	st.stop(why)
	st.mu.Lock()
	ended := st.ended
	st.ended = true
	st.mu.Unlock()
	if !ended {
		st.on.watch.Forget(&st.Stream)
		st.on.use(-1)
	}
}

// exchange sends a request, and returns the response, whose body ends the exchange. After an error the
// caller must end it.
func (s *shared) exchange(ex *Exchange, r *http.Request) (*http.Response, *stream, error) {
	st := &stream{Stream: frames.Stream{NoBody: r.Method == http.MethodHead, Seen: ex.Hooks.Frames()}, on: s, ex: ex, r: r}
	st.ctx, st.stop = context.WithCancelCause(r.Context())
	s.use(1)
	head, err := ex.RequestHead(r)
	if err != nil {
		return nil, st, err
	}
	shown := Masked(asHTTP2(head))
	ex.Request = shown
	// net/http calls WroteHeaders too late: the response may be there before.
	st.Begun = func() { ex.Hooks.Call(func(t *fetch.Trace) { t.Sent(shown) }) } // ex may be sent again meanwhile
	limits := ex.Env.Limits
	ctx := httptrace.WithClientTrace(st.ctx, &httptrace.ClientTrace{
		WroteHeaderField: func(name string, _ []string) {
			if name == ":authority" { // the first one; net/http holds the lock under which it sends the head
				st.await(asking, 0, "")
				s.watch.Sending(&st.Stream)
			}
		},
		WroteRequest:   func(httptrace.WroteRequestInfo) { st.await(asking, limits.Reply, "no response") },
		Got1xxResponse: func(int, textproto.MIMEHeader) error { st.report(false); return nil },
	})
	sent := r.WithContext(ctx)
	sent.Close = false // or net/http would not use the connection again
	if r.Body != nil && r.Body != http.NoBody {
		sent.Body = paced{r.Body, st}
	}
	st.await(waiting, limits.Reply, "the server accepts no other request")
	resp, err := s.RoundTrip(sent)
	st.await(receiving, 0, "")
	if err != nil {
		if err = st.reason(err); fetch.KindOf(err) == fetch.ErrTruncated { // there is no body yet
			err = &fetch.Error{Kind: fetch.ErrConnectionFailed, Err: err}
		}
		return nil, st, err
	}
	resp.Request = r
	if ex.Head = st.report(false); ex.Head == nil {
		return nil, st, errNoHead
	}
	if resp.ContentLength < 0 {
		if resp.ContentLength, err = statedLength(ex.Head); err != nil {
			return nil, st, err
		}
	}
	ex.HTTP2, ex.Peer, ex.TLS = true, s.peer, s.tls
	ex.answered()
	body := &streamed{st: st, from: resp.Body, left: resp.ContentLength}
	resp.Body = body
	if code := resp.StatusCode; code == http.StatusNoContent || code == http.StatusNotModified {
		resp.Body, resp.ContentLength = http.NoBody, 0 // whatever the Content-Length (RFC 9113 §8.1.1)
		err = body.expectEnd()
	}
	return resp, st, err
}

// statedLength returns the length in a head from which net/http has taken none, or -1.
func statedLength(head []byte) (int64, error) {
	lengths := slices.Compact(members(Fields(head), "Content-Length"))
	if len(lengths) == 0 {
		return -1, nil
	}
	n, err := strconv.ParseUint(lengths[0], 10, 63)
	if err != nil || len(lengths) > 1 {
		return -1, &fetch.Error{Kind: fetch.ErrProtocol, Err: fmt.Errorf("invalid length %.40q", strings.Join(lengths, ", "))}
	}
	return int64(n), nil
}

// errNoHead means that the version of net/http sends or reads heads in another way than package frames
// knows.
var errNoHead = errors.New("the head of the response was not seen")

// asHTTP2 returns the head of a request of HTTP/1.1 as people read that of HTTP/2, as curl does.
func asHTTP2(head []byte) []byte {
	line, rest, _ := strings.Cut(string(head), "\r\n")
	text := strings.TrimSuffix(line, "HTTP/1.1") + "HTTP/2\r\n"
	for field := range strings.Lines(rest) {
		name, _, _ := strings.Cut(field, ":")
		if !strings.EqualFold(name, "Connection") && !strings.EqualFold(name, "Transfer-Encoding") {
			text += field
		}
	}
	return []byte(text)
}

// report reports what has come of heads up to that of the response, and if all is set, the trailer
// behind it. It returns the head of the response, or nil.
func (st *stream) report(all bool) []byte {
	st.telling.Lock()
	defer st.telling.Unlock()
	st.heads = append(st.heads, st.on.watch.Heads(&st.Stream)...)
	for len(st.heads) > 0 && (all || st.final == nil) {
		h := head{octets: []byte(st.heads[0])}
		st.heads = st.heads[1:]
		st.ex.Hooks.Call(func(t *fetch.Trace) { t.Received(h.octets) })
		if st.final == nil && !h.isInterim() {
			st.final = h.octets
		}
	}
	return st.final
}

// await ends the exchange unless await is called again within d, which is 0 for no limit. What belongs
// to an earlier phase does nothing.
func (st *stream) await(in phase, d time.Duration, what string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if in < st.phase {
		return
	}
	st.phase = in
	st.waits++
	if st.timer != nil {
		st.timer.Stop()
	}
	if d > 0 {
		st.expect(st.waits, d, d, what)
	}
}

// expect ends the exchange after left, unless await is called before. While the exchange waits, or the
// body is received, bytes count that have come meanwhile: others, or a frame, may take their time. The
// caller holds mu.
func (st *stream) expect(wait int, d, left time.Duration, what string) {
	st.timer = time.AfterFunc(left, func() {
		st.mu.Lock()
		defer st.mu.Unlock()
		if st.waits != wait {
			return
		}
		if left := d - time.Since(st.on.watch.Heard(&st.Stream)); st.phase != asking && left > 0 {
			st.expect(wait, d, left, what)
			return
		}
		st.on.suspect.Store(true)
		st.stop(&wire.TimeoutError{Limit: d, Awaited: what, Err: context.DeadlineExceeded})
	})
}

// reason returns why an exchange has failed with err. The kinds are those of HTTP/1.1, because a
// script need not know which version the server has chosen.
func (st *stream) reason(err error) error {
	var late *wire.TimeoutError
	code, ended := st.on.watch.Ended(&st.Stream)
	lost := st.on.watch.Lost()
	switch limit, about := st.on.watch.Err(&st.Stream); {
	case errors.As(context.Cause(st.ctx), &late):
		return late
	case st.r.Context().Err() != nil:
		return err
	case limit != nil && !about:
		return &fetch.Error{Kind: fetch.ErrConnectionFailed, Err: fmt.Errorf("another transfer over the connection failed: %w", limit)}
	case errors.Is(limit, frames.ErrHead):
		return &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("%w: %w", ErrHeader, limit)}
	case limit != nil:
		return &fetch.Error{Kind: fetch.ErrProtocol, Err: limit}
	case ended:
		return &fetch.Error{Kind: fetch.ErrConnectionFailed, Err: fmt.Errorf("the server ended the transfer with the error %s", code)}
	case lost != nil && fetch.KindOf(err) == fetch.ErrOther: // net/http has closed what it could not write to
		return &fetch.Error{Kind: fetch.ErrConnectionFailed, Err: lost}
	}
	return err
}

// paced is the body of a request. It fails if the server takes nothing for Limits.Idle.
type paced struct {
	io.ReadCloser
	st *stream
}

func (p paced) Read(octets []byte) (int, error) {
	p.st.await(asking, 0, "")
	n, err := p.ReadCloser.Read(octets)
	p.st.await(asking, p.st.ex.Env.Limits.Idle, "the server accepts no data")
	return n, err
}

// streamed is the body of a response.
type streamed struct {
	st   *stream
	from io.ReadCloser
	left int64 // bytes up to the Content-Length; negative if it is not known
}

// Read implements io.Reader. A body whose length is known ends when the server has ended it, too: more
// bytes are an error (RFC 9113 §8.1.1).
func (b *streamed) Read(p []byte) (int, error) {
	n, err := b.read(p)
	if b.left -= int64(n); b.left == 0 {
		for more := 0; more == 0 && err == nil; {
			more, err = b.read(make([]byte, 1))
		}
	}
	switch {
	case err == io.EOF:
		b.st.report(true) // the trailer
		b.Close()
	case err != nil:
		err = b.st.reason(err)
		b.Close() // the rest is requested by another exchange, if at all
	}
	return n, err
}

func (b *streamed) read(p []byte) (int, error) {
	b.st.await(receiving, b.st.ex.Env.Limits.Idle, "no data")
	defer b.st.await(receiving, 0, "")
	return b.from.Read(p)
}

// expectEnd waits for the end of a body that must be empty. Package frames reports bytes of it.
func (b *streamed) expectEnd() error {
	var err error
	for err == nil {
		_, err = b.Read(make([]byte, 1))
	}
	if err != io.EOF && err != io.ErrUnexpectedEOF { // the latter is about the Content-Length
		return err
	}
	return b.Close()
}

// Close implements io.Closer. It cancels what has not come.
func (b *streamed) Close() error {
	b.st.end(net.ErrClosed)
	return b.from.Close()
}
