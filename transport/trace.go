package transport

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// traced is the context of a request, in which the hooks of package httptrace that [net.Dialer]
// does not call are called.
func traced(req *http.Request) context.Context {
	ctx := req.Context()
	hooks := httptrace.ContextClientTrace(ctx)
	if hooks == nil {
		return ctx
	}
	var connected, sent, received bool
	got := func(c fetch.Connection, reused bool) {
		if c.Purpose != fetch.PurposeControl || connected {
			return
		}
		connected = true
		if hooks.GotConn != nil {
			hooks.GotConn(httptrace.GotConnInfo{Conn: addrConn{local: c.Local, remote: c.Remote}, Reused: reused, WasIdle: reused})
		}
	}
	first := func() {
		if !received && hooks.GotFirstResponseByte != nil {
			hooks.GotFirstResponseByte()
		}
		received = true
	}
	if hooks.GetConn != nil {
		hooks.GetConn(req.URL.Host)
	}
	return fetch.WithTrace(ctx, &fetch.Trace{
		Connected: func(c fetch.Connection) { got(c, false) },
		Reused:    func(c fetch.Connection) { got(c, true) },
		Sent: func([]byte) {
			if !sent && hooks.WroteRequest != nil {
				hooks.WroteRequest(httptrace.WroteRequestInfo{})
			}
			sent = true
		},
		Received: func([]byte) { first() },
		Body:     func(int64) { first() }, // gopher answers with nothing else
	})
}

// An addrConn shows a hook where a connection leads. It cannot be read, written or closed, which
// hooks must not do.
type addrConn struct{ local, remote netip.AddrPort }

var errTraced = errors.New("fetch1738: the connection belongs to the Transport")

func (c addrConn) LocalAddr() net.Addr            { return net.TCPAddrFromAddrPort(c.local) }
func (c addrConn) RemoteAddr() net.Addr           { return net.TCPAddrFromAddrPort(c.remote) }
func (addrConn) Read([]byte) (int, error)         { return 0, errTraced }
func (addrConn) Write([]byte) (int, error)        { return 0, errTraced }
func (addrConn) Close() error                     { return errTraced }
func (addrConn) SetDeadline(time.Time) error      { return errTraced }
func (addrConn) SetReadDeadline(time.Time) error  { return errTraced }
func (addrConn) SetWriteDeadline(time.Time) error { return errTraced }
