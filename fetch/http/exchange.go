package http

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/proxy"
	"github.com/fetch1738/fetch1738/locator"
)

// exchange is a request and its answer, as the connection sees them. It travels
// in the context of the http.Request, through its repetitions.
type exchange struct {
	call  *call
	hop   hop
	proxy *proxy.Proxy // nil for none

	head []byte         // the final answer's, once it is there
	peer netip.AddrPort // where it came from; invalid by a proxy

	mu       sync.Mutex
	conn     *conn // the one in use
	sending  []byte
	received []byte
	location []string
	framing  framing
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	ex, _ := ctx.Value(exchangeKey{}).(*exchange)
	return ex
}

// forwarded reports whether a proxy makes the request for us.
func (ex *exchange) forwarded() bool {
	return ex.proxy != nil && ex.proxy.Scheme == "http" && !ex.hop.locator.Secure
}

// answered reports whether some of the final answer has come.
func (ex *exchange) answered() bool {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	return len(ex.received) > 0
}

// via names the proxy.
func (ex *exchange) via() string {
	if ex.proxy == nil {
		return ""
	}
	return ex.proxy.String()
}

// target is where the exchange leads, to be filled in with an address.
func (ex *exchange) target() fetch.Target {
	server, _ := locator.ServerOf(ex.hop.locator)
	return fetch.Target{Locator: ex.hop.locator, From: ex.hop.from, Network: "tcp", Host: server.Host, Port: server.Port}
}

// traced is ctx with the hooks by which the transport tells which connection
// the exchange goes over.
func (ex *exchange) traced(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:     func(info httptrace.GotConnInfo) { info.Conn.(*conn).begin(ex, info.Reused) },
		PutIdleConn: func(error) { ex.current().end(ex) },
	})
}

func (ex *exchange) current() *conn {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	return ex.conn
}

// start is called when a connection has been found for the exchange, and again
// when it is repeated on another.
func (ex *exchange) start(c *conn) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	ex.conn, ex.sending, ex.received, ex.location, ex.framing = c, []byte{}, nil, nil, framing{}
}

// sends is told of octets about to go out over c, until the head is complete.
func (ex *exchange) sends(c *conn, octets []byte) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.conn == c && ex.sending != nil {
		ex.sending = append(ex.sending, octets...)
	}
}

// sent is told that the last unsent octets of those did not go out.
func (ex *exchange) sent(c *conn, unsent int) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.conn == c && ex.sending != nil {
		ex.sending = ex.sending[:len(ex.sending)-unsent]
		ex.tellSent()
	}
}

// tellSent tells the Trace of the request's head once that is complete.
func (ex *exchange) tellSent() {
	if end := bytes.Index(ex.sending, []byte("\r\n\r\n")); end >= 0 {
		ex.call.trace.Sent(masked(ex.sending[:end+4]))
		ex.sending = nil
	}
}

// headSent reports whether the request is out but for its body.
func (ex *exchange) headSent() bool {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	return ex.sending == nil
}

// receive is told of octets that came in over c, and tells how many of them to
// hand on: those up to the end of a head, and of a body those up to its end. It
// fails when the head has grown too large.
func (ex *exchange) receive(c *conn, octets []byte) (int, error) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.conn != c {
		return 0, nil
	}
	if ex.framing.body != nil {
		return ex.receiveBody(octets), nil
	}
	n, ended, err := ex.framing.head(octets, &ex.call.env.Limits)
	if err != nil {
		return 0, fetch.Fail(ex.call.method, ex.hop.locator, fetch.ErrOther, err)
	}
	ex.tellSent() // the answer may be here before Write has returned
	ex.received = append(ex.received, octets[:n]...)
	if !ended {
		return n, nil
	}
	if startsAsHTTP(ex.received) { // else notHTTP tells of it
		ex.call.trace.Received(ex.received)
	}
	if !isInterim(ex.received) {
		ex.framing.body = new(nothing) // until the transport has read the head
		return n, nil
	}
	ex.received = nil
	if ex.framing.interim++; ex.framing.interim > maxInterim {
		err := &fetch.Error{Kind: fetch.ErrProtocol, Err: errors.New("too many answers with a status of 1xx")}
		return 0, fetch.Fail(ex.call.method, ex.hop.locator, fetch.ErrOther, err)
	}
	return n, nil
}

// receiveBody tells how many octets belong to the body, and the Trace of its
// trailer.
func (ex *exchange) receiveBody(octets []byte) int {
	n := ex.framing.body.take(octets)
	if c, ok := ex.framing.body.(*chunks); ok && n > 0 && c.state == chunkDone && len(c.trailer) > 0 {
		ex.call.trace.Received(c.trailer)
	}
	return n
}

// bareLines are where, in the octets received last, lines of a chunked body end in
// LF alone.
func (ex *exchange) bareLines() []int {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if c, ok := ex.framing.body.(*chunks); ok {
		return c.bare
	}
	return nil
}

// isInterim reports whether a head is that of a 1xx that another follows.
func isInterim(head []byte) bool {
	_, status, _ := bytes.Cut(head, []byte(" "))
	status = bytes.TrimLeft(status, " ")
	return len(status) > 3 && status[0] == '1' && !bytes.HasPrefix(status, []byte("101"))
}

// gotHead is called when the transport has read an answer's head, and before
// anybody reads the body. It takes the Location field off: http.Client would
// read it, its own way, even where it must not follow it. finish puts it back.
func (ex *exchange) gotHead(resp *http.Response) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	ex.framing.body = bodyOf(resp)
	ex.location = resp.Header["Location"]
	delete(resp.Header, "Location")
}

// finish takes stock when the final answer's head has come.
func (ex *exchange) finish(resp *http.Response) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.location != nil {
		resp.Header["Location"] = ex.location
	}
	ex.head, ex.peer = ex.received, ex.conn.peer
}
