package ftptest

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

const twoCandidates = "One port: two candidates."

var errTwoCandidates = errors.New("two connections may be the data connection")

// How long a candidate must have been alone before it is taken: usually, and for crowdTime after a
// sign of a second client.
const (
	aloneTime     = 20 * time.Millisecond
	longAloneTime = 100 * time.Millisecond
	crowdTime     = 10 * time.Second
)

// onePort decides what the connections to the only port are.
//
// On RETR and LIST a client is silent until the server sends something, on its control connection
// and on its data connection. Through a forwarder, all clients have one address, and connections do
// not arrive in the order in which they were made. So a new connection tells nothing about itself.
// But a client makes exactly one data connection for each passive reply, after that reply. So:
//
//  1. One session is alive at a time. Meanwhile other connections receive nothing, except the one
//     that is taken as the data connection. After lateTime they are reset.
//  2. A window begins before each passive reply. It ends before the last reply to the transfer, or,
//     if the session gives it up or ends, when one connection has arrived in it, or after lateTime.
//     The next passive reply and the next greeting wait for its end. Before the last reply to a
//     transfer, all connections that have reached the port are accepted (core.Machine.CatchUp).
//  3. The first connection that arrives in a window is the candidate. A second one spoils the
//     window: both are reset, and so are all further ones until the window ends; the transfer fails
//     with 425 or 426.
//  4. The candidate is taken after a transfer command, when it has been alone for aloneTime.
//
// Hence a transfer succeeds only if exactly one connection has arrived in its window. If the data
// connection has, then it is this one, and the bytes are right. If it has not, then a foreign
// connection has come in the same window, and the data connection is on its way for longer than
// aloneTime and the transfer together. Then an empty document could look complete to one side. That
// is the one mistake that cannot be excluded, because nothing distinguishes the two: with both
// times 0, it happened in 16 of 10,000 transfers of eight clients, in none with 20 ms for both, and
// in 1 of 240 on an overloaded machine, where connections are on their way for longer
// (TestFTPOnePortCrowd in interop). It takes a second client, of which there are signs: connections
// that wait, spoiled windows, data connections that do not come. For crowdTime after a sign
// longAloneTime replaces aloneTime.
//
// Apart from that mistake, a data connection receives a greeting only if it arrives after its
// window: a greeting is sent when no window is open (2), to a connection that arrived outside of
// one. By then the transfer has failed, because the window was spoiled, or the session has given it
// up or ended, lateTime before. So these bytes complete nothing.
type onePort struct {
	srv *Server

	mu      sync.Mutex
	alive   bool       // there is a session
	waiting []*arrival // connections that arrived outside of windows, in order
	window  *window    // nil if no data connection is to come
	crowd   time.Time  // until when there may be a second client
}

// arrival is a connection that has arrived.
type arrival struct {
	net.Conn
	served chan struct{} // closed if it is a client to be served
	ended  chan struct{} // closed if it is not
}

// window is the time in which one data connection must arrive. It is a dataListener.
type window struct {
	one  *onePort
	peer netip.Addr    // connections from other hosts are not candidates
	news chan struct{} // has a value if candidate or spoiled has changed
	over chan struct{} // closed when the window has ended

	candidate *arrival // the first connection that arrived
	taken     bool     // as the data connection
	spoiled   bool     // a second one has arrived
	givenUp   bool     // there will be no transfer
}

// sort implements build.Service.
func (o *onePort) sort(nc net.Conn, serve func()) func() {
	a := &arrival{nc, make(chan struct{}), make(chan struct{})}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch w := o.window; {
	case w != nil && addrOf(nc.RemoteAddr()) == w.peer:
		w.arrive(a)
	default:
		o.waiting = append(o.waiting, a)
		o.greet()
	}
	return func() {
		late := time.NewTimer(lateTime)
		defer late.Stop()
		select {
		case <-a.served:
		case <-a.ended:
		case <-late.C:
			o.refuse(a)
		case <-o.srv.m.Ctx().Done():
		}
		select {
		case <-a.served:
			serve()
			o.leave()
		case <-a.ended:
		case <-o.srv.m.Ctx().Done():
		}
	}
}

// greet lets the connection that waits longest have a session, if that is possible now.
func (o *onePort) greet() {
	if !o.alive && o.window == nil && len(o.waiting) > 0 {
		o.alive = true
		close(o.waiting[0].served)
		o.waiting = o.waiting[1:]
	}
}

// leave records that the session has ended.
func (o *onePort) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.alive = false
	o.greet()
}

// refuse resets a connection that has waited for long enough. A candidate may wait for longer.
func (o *onePort) refuse(a *arrival) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, waiting := range o.waiting {
		if waiting == a {
			o.waiting = append(o.waiting[:i:i], o.waiting[i+1:]...)
			o.noteOtherClient()
			a.reset()
		}
	}
}

// reset ends a connection so that its end cannot be that of a document.
func (a *arrival) reset() {
	core.EndConn(a.Conn, true)
	close(a.ended)
}

// noteOtherClient records a sign of a second client.
func (o *onePort) noteOtherClient() { o.crowd = time.Now().Add(crowdTime) }

// open begins a window, after the end of the previous one.
func (o *onePort) open(ctx context.Context, peer netip.Addr) (dataListener, error) {
	for {
		o.mu.Lock()
		previous := o.window
		if previous == nil {
			defer o.mu.Unlock()
			o.window = &window{one: o, peer: peer, news: make(chan struct{}, 1), over: make(chan struct{})}
			return o.window, nil
		}
		o.mu.Unlock()
		select {
		case <-previous.over:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (w *window) port() uint16 { return w.one.srv.m.Port() }

// arrive deals with a connection that has arrived in the window.
func (w *window) arrive(a *arrival) {
	switch {
	case w.givenUp:
		a.reset()
		w.end()
	case w.spoiled:
		a.reset()
	case w.candidate == nil:
		w.candidate = a
	default:
		w.spoiled = true
		w.one.noteOtherClient()
		a.reset()
		w.candidate.reset()
	}
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// end ends the window.
func (w *window) end() {
	w.one.window = nil
	close(w.over)
	w.one.greet()
}

func (w *window) accept(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dataTimeout)
	defer cancel()
	for {
		nc, alone, err := w.take(false)
		if err != nil {
			return nil, err
		}
		var taken <-chan time.Time
		if nc != nil {
			timer := time.NewTimer(alone)
			defer timer.Stop()
			taken = timer.C
		}
		select {
		case <-w.news:
		case <-taken:
			if nc, _, err = w.take(true); err != nil {
				return nil, err
			}
			return nc, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take returns the candidate, if there is one, and how long it must be alone. If now is true, it is
// taken as the data connection.
func (w *window) take(now bool) (net.Conn, time.Duration, error) {
	w.one.mu.Lock()
	defer w.one.mu.Unlock()
	switch {
	case w.spoiled:
		return nil, 0, errTwoCandidates
	case w.candidate == nil:
		return nil, 0, nil
	}
	w.taken = w.taken || now
	if len(w.one.waiting) > 0 {
		w.one.noteOtherClient()
	}
	if time.Now().Before(w.one.crowd) {
		return w.candidate.Conn, longAloneTime, nil
	}
	return w.candidate.Conn, aloneTime, nil
}

func (w *window) close() error {
	if w.taken {
		_ = w.one.srv.m.CatchUp(w.one.srv.m.Ctx())
	}
	w.one.mu.Lock()
	defer w.one.mu.Unlock()
	switch {
	case w.spoiled:
		w.end()
		return errTwoCandidates
	case w.taken:
		close(w.candidate.ended)
		w.end()
	case w.candidate != nil:
		w.candidate.reset()
		w.end()
	default: // the data connection may still be on its way
		w.givenUp = true
		time.AfterFunc(lateTime, w.expire)
	}
	return nil
}

// expire ends a window in which nothing has arrived.
func (w *window) expire() {
	w.one.mu.Lock()
	defer w.one.mu.Unlock()
	if w.one.window == w {
		w.one.noteOtherClient()
		w.end()
	}
}
