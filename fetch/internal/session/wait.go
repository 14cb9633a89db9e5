package session

import (
	"context"
	"io"
	"slices"
	"time"
)

// Some servers have few sessions at once, often only one. They do not refuse another connection:
// the system accepts it, and no greeting comes until a session has ended. An access that needs a
// session therefore takes what comes first, the greeting of a new connection or a session that
// another access releases.

const (
	// minPatience is how long a connection may be without a greeting before its access takes a
	// session that is free.
	minPatience = time.Second
	// maxPatience limits that where greetings are late, and how long the probe waits for its greeting
	// while others need the sessions.
	maxPatience = 8 * time.Second
)

// Server is the host and port that a session connects to.
type Server struct {
	Host string
	Port uint16
}

// Key says what a session is for. Accesses with equal keys can share one.
type Key interface {
	comparable
	Server() Server
}

// A line has the accesses that wait for a session with a server, and what is known about the number
// of sessions that the server has at once.
type line[K Key, S io.Closer] struct {
	waiters []*waiter[K, S] // in the order of arrival

	open     int           // sessions, from the greeting until they are closed
	dialing  int           // connections without a greeting
	patience time.Duration // see minPatience; longer if the greetings of the server are late
	closed   time.Time     // the latest end of a session

	// If a connection had no greeting while a session was free, the server seems to have no more
	// sessions at once than it had then, which is limit. It may only have been slow: from time to
	// time another connection, the probe, finds out. After its greeting the next one may follow.
	limit   int           // 0 means no limit
	probing time.Duration // how long the next probe waits
	probeAt time.Time     // when it may connect
}

// A waiter is an access that waits for a session.
type waiter[K Key, S io.Closer] struct {
	key     K
	cancel  context.CancelFunc // ends the wait, and closes the connection without a greeting
	connect chan struct{}      // closed when it may connect
	check   *time.Timer

	dialing bool
	greeted bool
	since   time.Time     // when it began to connect
	probe   time.Duration // how long it waits as the probe; 0 if it is not the probe
	session S             // that another access has released
	given   bool          // session is valid
}

// room reports whether there may be another connection, and for how long as the probe.
func (l *line[K, S]) room(now time.Time) (ok bool, probe time.Duration) {
	switch {
	case l.limit == 0, l.open+l.dialing < l.limit:
		return true, 0
	case l.dialing == 0 && !now.Before(l.probeAt):
		return true, l.probing
	}
	return false, 0
}

// admit has w connect if there is room.
func (l *line[K, S]) admit(w *waiter[K, S], now time.Time) {
	if ok, probe := l.room(now); ok {
		w.dialing, w.since, w.probe = true, now, probe
		l.dialing++
		close(w.connect)
	}
}

// next returns the waiter that gets a session which has been released, or nil. A connection that has
// begun lately gets none, and the probe only after its time.
func (l *line[K, S]) next(now time.Time) *waiter[K, S] {
	for _, w := range l.waiters {
		if !w.dialing || now.Sub(w.since) >= max(l.patience, w.probe) {
			return w
		}
	}
	return nil
}

// give gives a session to w, which closes its connection if that has no greeting.
func (l *line[K, S]) give(w *waiter[K, S], s S, now time.Time) {
	w.session, w.given = s, true
	if w.dialing {
		l.limit = max(1, l.open)
		l.probing = min(2*max(w.probe, l.patience), maxPatience)
		l.probeAt = now.Add(2 * l.probing)
	}
	l.remove(w)
	w.cancel()
}

// remove ends the wait of w.
func (l *line[K, S]) remove(w *waiter[K, S]) {
	l.waiters = slices.DeleteFunc(l.waiters, func(other *waiter[K, S]) bool { return other == w })
	if w.dialing {
		w.dialing = false
		l.dialing--
	}
}

// line returns the line of a server.
func (p *Pool[K, S]) line(at Server) *line[K, S] {
	l := p.lines[at]
	if l == nil {
		l = &line[K, S]{patience: minPatience}
		if p.lines == nil {
			p.lines = make(map[Server]*line[K, S])
		}
		p.lines[at] = l
	}
	return l
}

// update follows a change of the number of sessions or connections. It drops a line that has none.
func (p *Pool[K, S]) update(at Server, l *line[K, S], now time.Time) {
	for _, w := range l.waiters {
		if !w.dialing {
			l.admit(w, now)
		}
	}
	if l.open == 0 && len(l.waiters) == 0 {
		delete(p.lines, at)
	}
}

// enter returns an idle session for w, unless fresh is set. Without one, w begins to wait, and may
// connect once w.connect is closed.
func (p *Pool[K, S]) enter(w *waiter[K, S], fresh bool) (session S, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !fresh {
		if session, ok = p.get(w.key); ok {
			return session, true
		}
	}
	l := p.line(w.key.Server())
	l.waiters = append(l.waiters, w)
	l.admit(w, time.Now())
	w.check = time.AfterFunc(l.patience, func() { p.recheck(w) })
	return session, false
}

// recheck does what w may do after some time without a session: connect as the probe, take an idle
// session, or close one of another login, so that the server can have one more.
func (p *Pool[K, S]) recheck(w *waiter[K, S]) {
	p.mu.Lock()
	at, now := w.key.Server(), time.Now()
	l := p.lines[at]
	if l == nil || !slices.Contains(l.waiters, w) {
		p.mu.Unlock()
		return
	}
	w.check.Reset(l.patience)
	if !w.dialing {
		l.admit(w, now)
	}
	i := -1
	if !w.dialing || now.Sub(w.since) >= l.patience {
		if s, ok := p.get(w.key); ok {
			l.give(w, s, now)
		} else {
			i = slices.IndexFunc(p.idle, func(e *entry[K, S]) bool { return e.key.Server() == at })
		}
	}
	if i < 0 {
		p.mu.Unlock()
		return
	}
	p.closeAt(i)
}

// greeted records that the greeting has come on the connection of w. A session for which another
// connection was needed, because the first login was refused, counts once.
func (p *Pool[K, S]) greeted(w *waiter[K, S]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.greeted {
		return
	}
	at, now := w.key.Server(), time.Now()
	l := p.line(at)
	l.remove(w)
	w.greeted = true
	l.patience = max(l.patience, 2*min(now.Sub(w.since), now.Sub(l.closed), maxPatience/2))
	l.open++
	p.update(at, l, now)
}

// leave ends the wait of w. opened reports whether its connection has become a session. If another
// access has given it one, leave returns that. others is the number of other sessions with the
// server.
func (p *Pool[K, S]) leave(w *waiter[K, S], opened bool) (session S, given bool, others int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := w.key.Server()
	l := p.line(at)
	l.remove(w)
	w.check.Stop()
	switch {
	case opened && !w.greeted:
		l.open++
	case !opened && w.greeted:
		l.open--
	}
	others = l.open
	p.update(at, l, time.Now())
	return w.session, w.given, others
}

// gone records that a session has been closed.
func (p *Pool[K, S]) gone(key K) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := key.Server()
	if l := p.lines[at]; l != nil {
		l.open, l.closed = max(0, l.open-1), time.Now()
		p.update(at, l, l.closed)
	}
}
