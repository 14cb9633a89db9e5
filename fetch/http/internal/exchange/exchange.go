// Package exchange sends requests and receives responses. The connections of HTTP/1.1 are its own;
// net/http writes the head of a request and parses that of a response. Its Transport reads ahead:
// it takes bytes behind a response for the next one, or writes about them to the standard logger.
// It also refuses responses that curl accepts. HTTP/2 is that of net/http (see shared).
package exchange

import (
	"crypto/tls"
	"net/http"
	"net/netip"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/proxy"
	"github.com/fetch1738/fetch1738/locator"
)

// Exchange is a request and its response. It is the same one when the request is repeated.
type Exchange struct {
	Env     *driver.Env
	Hooks   *Hooks
	Locator *locator.HTTP
	From    fetch.Provenance
	Proxy   *proxy.Proxy // if nil, there is no proxy
	HTTP10  bool         // the request is one of HTTP/1.0
	Body    Body
	// IgnoreLength is set if the Content-Length of the response does not count (HTTP/1).
	IgnoreLength bool
	// ContinueTime is how long to wait for "100 Continue".
	ContinueTime time.Duration
	// Rewind sets the body of a request that is sent again.
	Rewind func(*http.Request) error
	// Answered, if not nil, is called when the fields below are set, by the goroutine of RoundTrip.
	Answered func(*Exchange)

	// Of the last request, and of the final response to it:
	Began   time.Time
	HTTP2   bool
	Request []byte // the head, with secrets masked
	Head    []byte
	Peer    netip.AddrPort // the server's address; invalid through a proxy
	TLS     *tls.ConnectionState
}

// answered calls Answered.
func (ex *Exchange) answered() {
	if ex.Answered != nil {
		ex.Answered(ex)
	}
}

// Body is what is known of the body of a request.
type Body interface {
	// CanResend reports whether all of it can be sent once more.
	CanResend() bool
}

// Forwarded reports whether an HTTP proxy makes the request on our behalf.
func (ex *Exchange) Forwarded() bool {
	return ex.Proxy != nil && ex.Proxy.Scheme == "http" && !ex.Locator.Secure
}

// via returns the name of the proxy; empty if there is no proxy.
func (ex *Exchange) via() string {
	if ex.Proxy == nil {
		return ""
	}
	return ex.Proxy.String()
}

// target returns the Target of the exchange, without an address.
func (ex *Exchange) target() fetch.Target {
	server, _ := locator.ServerOf(ex.Locator)
	return fetch.Target{Locator: ex.Locator, From: ex.From, Network: "tcp", Host: server.Host, Port: server.Port}
}

// Idempotent reports whether a method may be sent twice (RFC 9110 §9.2.2).
func Idempotent(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}
