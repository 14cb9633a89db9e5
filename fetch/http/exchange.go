package http

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/proxy"
	"github.com/fetch1738/fetch1738/locator"
)

// exchange is a request and its response, as seen by the connection. It travels in the context of
// the http.Request, also when that is repeated.
type exchange struct {
	call  *call
	hop   hop
	proxy *proxy.Proxy // if nil, there is no proxy

	head []byte         // the final response's, once it has arrived
	peer netip.AddrPort // the server's address; invalid through a proxy

	mu       sync.Mutex
	conn     *conn // the current one
	sending  []byte
	received []byte
	location []string
	framing  framing
	refusal  error // why the response is not read any further
	loan     *loan // a file for the body; nil for most bodies
}

type exchangeKey struct{}

// exchangeOf returns the exchange of a context, or nil.
func exchangeOf(ctx context.Context) *exchange {
	ex, _ := ctx.Value(exchangeKey{}).(*exchange)
	return ex
}

// forwarded reports whether an HTTP proxy makes the request on our behalf.
func (ex *exchange) forwarded() bool {
	return ex.proxy != nil && ex.proxy.Scheme == "http" && !ex.hop.locator.Secure
}

// answered reports whether a part of the final response has arrived.
func (ex *exchange) answered() bool {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	return len(ex.received) > 0
}

// via returns the name of the proxy; empty if there is no proxy.
func (ex *exchange) via() string {
	if ex.proxy == nil {
		return ""
	}
	return ex.proxy.String()
}

// target returns the Target of the exchange, without an address.
func (ex *exchange) target() fetch.Target {
	server, _ := locator.ServerOf(ex.hop.locator)
	return fetch.Target{Locator: ex.hop.locator, From: ex.hop.from, Network: "tcp", Host: server.Host, Port: server.Port}
}

// traced returns ctx with the httptrace hooks that report which connection the transport uses.
// There are no others: with a hook for each event of a Trace, they were a tenth of what a request
// allocates.
func (ex *exchange) traced(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:     func(info httptrace.GotConnInfo) { info.Conn.(*conn).begin(ex, info.Reused) },
		PutIdleConn: func(error) { ex.current().end(ex) },
	})
}

// current returns the connection of the exchange, or nil.
func (ex *exchange) current() *conn {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	return ex.conn
}

// start is called when the exchange gets a connection, and again when it is repeated over another.
func (ex *exchange) start(c *conn) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	ex.conn, ex.sending, ex.received, ex.location, ex.framing, ex.refusal = c, []byte{}, nil, nil, framing{}, nil
}

// versioned returns the bytes to send over c instead of octets.
func (ex *exchange) versioned(c *conn, octets []byte) []byte {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.conn != c || ex.sending == nil || len(ex.sending) > 0 {
		return octets
	}
	return ex.call.versioned(octets) // net/http writes the request line at once
}

// recordHead records bytes that are about to be sent over c, until the head is complete.
func (ex *exchange) recordHead(c *conn, octets []byte) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.conn == c && ex.sending != nil {
		ex.sending = append(ex.sending, octets...)
	}
}

// sent is called after a write over c of which the last unsent bytes were not sent.
func (ex *exchange) sent(c *conn, unsent int) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.conn == c && ex.sending != nil {
		ex.sending = ex.sending[:len(ex.sending)-unsent]
		ex.traceSent()
	}
}

// traceSent reports the request's head to the Trace once the head is complete.
func (ex *exchange) traceSent() {
	if end := bytes.Index(ex.sending, []byte("\r\n\r\n")); end >= 0 {
		ex.call.hooks.call(func(t *fetch.Trace) { t.Sent(masked(ex.sending[:end+4])) })
		ex.sending = nil
	}
}

// headSent reports whether the whole head of the request has been sent.
func (ex *exchange) headSent() bool {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	return ex.sending == nil
}

// receive is called with bytes that arrived over c. It returns how many of them belong to the
// response: those up to the end of a head, or up to the end of the body. If they are in a head, Read
// returns other bytes instead: nothing until the head is complete, and then plainFraming of it. What
// is not HTTP may never be complete, and is not held back. receive fails if the head is too large.
func (ex *exchange) receive(c *conn, octets []byte) (n int, inHead bool, instead []byte, err error) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.conn != c {
		return 0, false, nil, nil
	}
	if ex.framing.body != nil {
		return ex.receiveBody(octets), false, nil, nil
	}
	n, ended, err := ex.framing.head(octets, &ex.call.env.Limits)
	if err != nil {
		return 0, true, ex.framing.rest(ex.received), ex.refuse(err)
	}
	ex.traceSent() // the response may arrive before Write returns
	ex.received = append(ex.received, octets[:n]...)
	switch isHTTP := startsAsHTTP(ex.received); {
	case !isHTTP: // notHTTP reports it
		instead = ex.framing.rest(ex.received)
	case ended:
		ex.call.hooks.call(func(t *fetch.Trace) { t.Received(ex.received) })
		instead = plainFraming(ex.received)
		if bytes.HasPrefix(instead, []byte("HTTP/1.0 ")) && len(members(fields(instead), "Transfer-Encoding")) > 0 {
			// RFC 9112 §6.1: its framing is faulty. net/http would take the chunks for the document.
			return 0, true, nil, ex.refuse(&fetch.Error{Kind: fetch.ErrProtocol, Err: fmt.Errorf("%w: HTTP/1.0 has no transfer coding", ErrCoding)})
		}
	}
	switch {
	case !ended:
	case isInterim(ex.received):
		ex.received, ex.framing.given = nil, 0
	default:
		ex.framing.body = new(emptyBody) // until the transport has read the head
	}
	return n, true, instead, nil
}

// breakOff is called when nothing more arrives over c. It returns the bytes of an incomplete head.
// ex may be nil.
func (ex *exchange) breakOff(c *conn) []byte {
	if ex == nil {
		return nil
	}
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.conn != c || ex.framing.body != nil {
		return nil
	}
	if ex.refusal == nil && len(ex.received) > 0 && startsAsHTTP(ex.received) {
		_ = ex.refuse(&fetch.Error{Kind: fetch.ErrConnectionFailed, Err: io.ErrUnexpectedEOF})
	}
	return ex.framing.rest(ex.received)
}

// refuse records why the response is not read any further. Read returns it too, but the transport
// may report that the line at which it stopped is malformed.
func (ex *exchange) refuse(why error) error {
	ex.refusal = fetch.Fail(ex.call.method, ex.hop.locator, fetch.ErrOther, why)
	return ex.refusal
}

// receiveBody returns how many bytes belong to the body. It reports a trailer to the Trace.
func (ex *exchange) receiveBody(octets []byte) int {
	n := ex.framing.body.take(octets)
	if c, ok := ex.framing.body.(*chunks); ok && n > 0 && c.state == chunkDone && len(c.trailer) > 0 {
		ex.call.hooks.call(func(t *fetch.Trace) { t.Received(c.trailer) })
	}
	return n
}

// bareLines returns the positions, in the bytes received last, of lines of a chunked body that end
// in LF alone.
func (ex *exchange) bareLines() []int {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if c, ok := ex.framing.body.(*chunks); ok {
		return c.bare
	}
	return nil
}

// isInterim reports whether a head is that of a 1xx response that another response follows.
func isInterim(head []byte) bool {
	_, status, _ := bytes.Cut(head, []byte(" "))
	status = bytes.TrimLeft(status, " ")
	return len(status) > 3 && status[0] == '1' && !bytes.HasPrefix(status, []byte("101"))
}

// gotHead is called when the transport has parsed a response's head, before the body is read. It
// removes the Location field, because http.Client would parse it, in its own way, even where it
// must not follow it. finish restores the field.
func (ex *exchange) gotHead(resp *http.Response) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	ex.framing.body = bodyOf(resp)
	ex.location = resp.Header["Location"]
	delete(resp.Header, "Location")
}

// finish records the head of the final response.
func (ex *exchange) finish(resp *http.Response) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.location != nil {
		resp.Header["Location"] = ex.location
	}
	ex.head, ex.peer = ex.received, ex.conn.peer
}
