package exchange

import (
	"cmp"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/internal/session"
)

// Transport keeps the connections of a Fetcher. The fields must not be changed after first use.
type Transport struct {
	// Protocols are the versions that may be used. If nil, these are HTTP/1.1 and, over TLS, HTTP/2.
	Protocols *http.Protocols
	// MaxIdle is the maximum number of idle connections. 0 means 100, a negative number none.
	MaxIdle int
	// Limits apply to connections that exchanges share, and to the wait for one.
	Limits fetch.Limits

	once    sync.Once
	idle    session.Keeper[place, *Exchange, *conn]
	streams streams
}

// Close closes the idle connections. The Transport can be used again.
func (t *Transport) Close() error {
	t.streams.close()
	return t.idle.Close()
}

func (t *Transport) maxIdle() int { return cmp.Or(t.MaxIdle, 100) }

func (t *Transport) terms() session.Terms {
	return session.Terms{Limit: t.maxIdle(), Age: idleTime, Limits: t.Limits}
}

// RoundTrip sends r, the request of ex, over a connection that is kept or new. One that the server has
// closed meanwhile is replaced. Otherwise it is as that of http.RoundTripper.
func (t *Transport) RoundTrip(ex *Exchange, r *http.Request) (*http.Response, error) {
	t.once.Do(func() {
		t.streams.versions, t.streams.prior, t.streams.maxIdle = t.Versions(), t.priorKnowledge(), t.maxIdle()
	})
	ex.Began = time.Now()
	if t.offersHTTP2(ex, r) {
		resp, c, err := t.streams.roundTrip(ex, r)
		if resp != nil || err != nil {
			return resp, err
		}
		return t.overHTTP1(ex, r, c)
	}
	return t.overHTTP1(ex, r, nil)
}

// overHTTP1 sends r over its own connection: c, if it is not nil, or one that is kept or new.
func (t *Transport) overHTTP1(ex *Exchange, r *http.Request, c *conn) (resp *http.Response, err error) {
	where := ex.place()
	again := false
	var failed error // of a connection
	start := func(c *conn) (err error) {
		failed = nil
		if again {
			err = ex.Rewind(r)
		}
		if err == nil {
			resp, err = c.exchange(ex, r)
		}
		return err
	}
	open := func(o session.Opening) (c *conn, err error) {
		c, err = ex.connect([]string{http1}, o)
		failed = err
		return c, err
	}
	if c != nil {
		if err = start(c); err != nil {
			c.Drop()
		}
	} else {
		c, err = t.idle.Begin(r.Context(), where, ex, t.terms(), open, start, func(error) { again = true })
	}
	if err != nil { // of Begin, which would put a failed connection down to the number of sessions
		return nil, cmp.Or(failed, err)
	}
	c.release = func() { t.idle.Release(where, c, t.terms()) }
	c.receive(resp)
	return resp, nil
}

// Outline returns the head of r as it is sent if the server accepts each version, and the names of the
// versions that TLS offers to it.
func (t *Transport) Outline(ex *Exchange, r *http.Request) (head []byte, versions []string, err error) {
	head, err = ex.RequestHead(r)
	switch {
	case err != nil || !t.offersHTTP2(ex, r):
		return head, []string{http1}, err
	case t.priorKnowledge():
		head = asHTTP2(head)
	}
	return head, t.Versions(), nil
}

// Versions returns the names of the versions that TLS offers to a server, the preferred one first.
func (t *Transport) Versions() []string {
	var names []string
	if t.Protocols == nil || t.Protocols.HTTP2() || t.Protocols.UnencryptedHTTP2() {
		names = append(names, http2)
	}
	if t.Protocols == nil || t.Protocols.HTTP1() || len(names) == 0 {
		names = append(names, http1)
	}
	return names
}

// priorKnowledge reports whether HTTP/2 is spoken without asking whether the server does.
func (t *Transport) priorKnowledge() bool {
	return t.Protocols != nil && t.Protocols.UnencryptedHTTP2() && !t.Protocols.HTTP1()
}

// offersHTTP2 reports whether r may be sent by HTTP/2. The form that a proxy or Options.Target require
// may have no equivalent there.
func (t *Transport) offersHTTP2(ex *Exchange, r *http.Request) bool {
	opaque := r.URL.Opaque
	switch {
	case ex.HTTP10, ex.Forwarded(), opaque != "" && opaque != "*" && !strings.HasPrefix(opaque, "/"):
		return false
	case ex.Locator.Secure:
		return t.Versions()[0] == http2
	}
	return t.priorKnowledge() // RFC 9113 has removed the upgrade from HTTP/1.1
}
