package exchange

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/http/internal/frames"
	"github.com/fetch1738/fetch1738/fetch/internal/session"
)

// streams has one connection for each place whose server speaks HTTP/2.
type streams struct {
	versions []string // that TLS offers
	prior    bool     // HTTP/2 is spoken without asking
	maxIdle  int      // connections that no exchange uses

	mu sync.Mutex
	at map[place]*line
}

// mostTries is how many connections a request is sent on that servers do not process.
const mostTries = 5

// roundTrip sends r by HTTP/2. If the server does not speak it, there is neither response nor error, but
// perhaps a connection. A request that the server has certainly not processed is sent again over
// another connection (RFC 9113 §8.7).
func (s *streams) roundTrip(ex *Exchange, r *http.Request) (*http.Response, *conn, error) {
	for tries := 1; ; tries++ {
		c, used, own, err := s.join(ex, r)
		if c == nil || err != nil {
			return nil, own, err
		}
		if used {
			ex.Hooks.Call(func(t *fetch.Trace) { t.Reused(c.about) })
		}
		resp, st, err := c.exchange(ex, r)
		misdirected := err == nil && used && resp.StatusCode == http.StatusMisdirectedRequest
		code, ended := c.watch.Ended(&st.Stream)
		unsent := err != nil && !c.watch.Sent(&st.Stream) && (used || !c.usable()) // not for a reason in r
		unprocessed := unsent || err != nil && c.watch.Unprocessed(&st.Stream)
		again := tries < mostTries && r.Context().Err() == nil && ex.Body.CanResend() &&
			(misdirected || unprocessed || used && !ended && !c.usable() && ex.stale(r, err))
		if err == nil && !again {
			return resp, nil, nil
		}
		if err == nil {
			resp.Body.Close()
		}
		st.end(err)
		if err != nil && code == "HTTP_1_1_REQUIRED" && !s.prior && ex.Body.CanResend() {
			s.refuse(ex.place(), c)
			return nil, nil, ex.Rewind(r)
		}
		if !again {
			return nil, nil, err
		}
		if misdirected || unsent || !c.usable() {
			s.leave(ex.place(), c)
		}
		if err := ex.Rewind(r); err != nil {
			return nil, nil, err
		}
	}
}

// join returns the connection that exchanges to a place share. It returns neither connection nor error
// if the server does not speak HTTP/2, or a new connection by HTTP/1.1.
func (s *streams) join(ex *Exchange, r *http.Request) (shared *shared, used bool, c *conn, err error) {
	where := ex.place()
	for {
		s.mu.Lock()
		l := s.line(where)
		o := l.opening
		switch {
		case l.http1:
			s.mu.Unlock()
			return nil, false, nil, nil
		case l.shared != nil && l.shared.usable():
			shared := l.shared
			s.mu.Unlock()
			return shared, true, nil, shared.permit(r.Context(), ex)
		case o == nil:
			unusable := l.shared
			o = &opening{done: make(chan struct{})}
			l.shared, l.opening = nil, o
			s.mu.Unlock()
			unusable.leave()
			shared, c, err := s.open(ex, r)
			s.mu.Lock()
			l.shared, l.http1, l.opening = shared, c != nil, nil
			surplus := s.surplus()
			s.mu.Unlock()
			surplus.leave()
			if r.Context().Err() == nil {
				o.err = ex.shared(err)
			}
			close(o.done)
			return shared, false, c, err
		}
		s.mu.Unlock()
		select {
		case <-r.Context().Done():
			return nil, false, nil, context.Cause(r.Context())
		case <-o.done:
			switch fetch.KindOf(o.err) {
			case fetch.ErrUnreachable, fetch.ErrUnresolved, fetch.ErrTimeout, fetch.ErrConnectionFailed:
				return nil, false, nil, o.err // many tries, one after another, would not end better
			}
		}
	}
}

// open opens a connection by the version that the server chooses.
func (s *streams) open(ex *Exchange, r *http.Request) (*shared, *conn, error) {
	c, err := ex.connect(s.versions, session.Opening{Context: r.Context(), Greeted: func() {}})
	if err != nil {
		return nil, nil, err
	}
	switch chosen := c.tls != nil && c.tls.NegotiatedProtocol == http2; {
	case s.prior && c.tls != nil && !chosen: // no fallback, as in curl since 8.10
		c.Drop()
		return nil, nil, driver.Fail(fetch.OpTLS, ex.Locator, fetch.ErrUnreachable, frames.ErrVersion)
	case !s.prior && !chosen:
		return nil, c, nil
	}
	shared, err := c.share(ex)
	if err != nil {
		c.Drop()
		return nil, nil, err
	}
	if s.maxIdle < 0 {
		shared.leaving = true
	}
	ex.Hooks.Call(func(t *fetch.Trace) { t.Note("using HTTP/2") })
	return shared, nil, nil
}

// line is what is known of the server at a place.
type line struct {
	shared  *shared  // nil if there is no connection
	http1   bool     // the server has chosen HTTP/1.1
	opening *opening // not nil while the connection is opened
}

// opening is a connection that one exchange opens and others wait for.
type opening struct {
	done chan struct{} // closed at its end
	err  error         // valid then; nil if the exchange was canceled
}

// shared returns an error of ex as others get it: without the URL, for which they have theirs.
func (ex *Exchange) shared(err error) error {
	known, ok := errors.AsType[*fetch.Error](err)
	if !ok || known.URL != ex.Locator.Redacted() {
		return err
	}
	anyones := *known
	anyones.URL = ""
	return &anyones
}

// mostLines is how many servers are remembered that are not connected.
const mostLines = 1000

// line returns the line of a place. The caller holds mu.
func (s *streams) line(where place) *line {
	if l := s.at[where]; l != nil {
		return l
	}
	if len(s.at) >= mostLines {
		for at, l := range s.at {
			if l.opening == nil && (l.shared == nil || !l.shared.usable()) {
				delete(s.at, at)
			}
		}
	}
	if s.at == nil {
		s.at = make(map[place]*line)
	}
	l := new(line)
	s.at[where] = l
	return l
}

// surplus returns the connection that has been idle longest, if there are too many, or nil. The caller
// holds mu.
func (s *streams) surplus() (oldest *shared) {
	n := 0
	var since time.Time
	for _, l := range s.at {
		if l.shared == nil {
			continue
		}
		if at, idle := l.shared.idle(); idle {
			n++
			if oldest == nil || at.Before(since) {
				oldest, since = l.shared, at
			}
		}
	}
	if n <= max(1, s.maxIdle) {
		return nil
	}
	return oldest
}

// leave makes the next exchanges at a place use another connection than from.
func (s *streams) leave(where place, from *shared) {
	s.mu.Lock()
	if l := s.at[where]; l != nil && l.shared == from {
		l.shared = nil
	}
	s.mu.Unlock()
	from.leave()
}

// refuse makes the next exchanges at a place use HTTP/1.1.
func (s *streams) refuse(where place, from *shared) {
	s.leave(where, from)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line(where).http1 = true
}

// close closes each connection when no exchange uses it.
func (s *streams) close() {
	var all []*shared
	s.mu.Lock()
	for where, l := range s.at {
		all = append(all, l.shared)
		if l.shared = nil; l.opening == nil {
			delete(s.at, where)
		}
	}
	s.mu.Unlock()
	for _, c := range all {
		c.leave()
	}
}
