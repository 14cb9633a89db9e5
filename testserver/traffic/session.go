package traffic

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"time"

	"golang.org/x/net/http2"
)

// session is a connection of a record with its data connections, whose events are played in order.
type session struct {
	r      *Replay
	root   *peer
	peers  []*peer
	events []step

	ctx    context.Context
	cancel context.CancelFunc
}

// newSession returns a session that ends with the replay, or when it has been played.
func newSession(r *Replay) *session {
	s := &session{r: r}
	s.ctx, s.cancel = context.WithCancel(r.ctx)
	context.AfterFunc(s.ctx, s.end)
	return s
}

// step is an event of a session.
type step struct {
	peer *peer
	line int // in the record
	Event
	// after, if not nil, is a data connection of another session that must come first, because a later
	// one of this session has the same port. Such a step has no event.
	after *peer
	// data, if not nil, is the head of the frame of DATA that begins with the octets of the server, and
	// for which the server has waited for a window of HTTP/2.
	data *http2.FrameHeader
}

// add adds an event. Octets that the client sent in several parts are one event, because they may
// come in others.
func (s *session) add(p *peer, line int, e Event) {
	if n := len(s.events); n > 0 && e.Event == Client {
		if last := &s.events[n-1]; last.Event.Event == Client && last.peer == p {
			last.T, last.Octets = e.T, append(last.Octets, e.Octets...)
			return
		}
	}
	s.events = append(s.events, step{peer: p, line: line, Event: e})
}

// addAfter makes the session wait for a connection of another one, which was opened in a line.
func (s *session) addAfter(other *peer, line int) {
	i := slices.IndexFunc(s.events, func(e step) bool { return e.line > line })
	s.events = slices.Insert(s.events, max(1, i), step{line: line, after: other})
}

// play plays the events after the first one, which has happened.
func (s *session) play() {
	defer s.cancel()
	defer s.r.dropAwaited(s)
	last, before := time.Now(), s.events[0].T
	for _, e := range s.events[1:] {
		if o := e.after; o != nil {
			if !s.wait(s.root, func() bool { return o.nc != nil || o.s.root.nc == nil || o.s.ctx.Err() != nil }) {
				return
			}
			continue
		}
		own := slices.Contains([]Kind{Server, TLS, Notify, Shut, Close, Reset}, e.Event.Event)
		if own && !s.pause(time.Until(last.Add(time.Duration(e.T-before)))) {
			return
		}
		last, before = time.Now(), e.T
		if !e.play() {
			return
		}
		if !own { // it has its time when it has happened
			last = time.Now()
		}
	}
	s.wait(s.root, func() bool { return !slices.ContainsFunc(s.peers, func(p *peer) bool { return p.busy }) })
}

// end closes the connections.
func (s *session) end() {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	for _, p := range s.peers {
		if p.raw != nil {
			_ = p.raw.Close()
		}
	}
	s.r.changed.Broadcast()
}

// pause waits. It returns false if the session has ended.
func (s *session) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return s.ctx.Err() == nil
	case <-s.ctx.Done():
		return false
	}
}

// wait waits for p until ok, which is called under the mu of the replay. It returns false if the
// session has ended or its client has gone.
func (s *session) wait(p *peer, ok func() bool) bool {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	for s.ctx.Err() == nil {
		if ok() {
			return true
		}
		if root := s.root; p != root && root.in.err != nil && !root.ended {
			return false
		}
		s.r.changed.Wait()
	}
	return false
}

// play makes an event happen, or waits until it has. It returns false if the session has ended.
func (e step) play() bool {
	p, s := e.peer, e.peer.s
	switch {
	case e.Event.Event == Open:
		return s.wait(p, func() bool { return p.nc != nil })
	case e.Event.Event == Connect:
		p.reportDifference("the server opened this connection (active mode), which cannot be replayed", "", "")
		return true
	case p.nc == nil: // the server opened it
		return true
	}
	switch e.Event.Event {
	case Client:
		return p.expect(e.Octets)
	case EOF:
		return p.expectEOF()
	case TLS:
		return p.startTLS(e.Octets)
	case Server:
		return p.do(func() error { return p.send(e.data, e.Octets) })
	case Notify:
		return p.do(func() error { return closeWrite(p.nc) })
	case Shut:
		return p.do(func() error { return closeWrite(p.raw) })
	case Close, Reset:
		end := func() error { return p.close(e.Event.Event == Reset) }
		if p.cut {
			_ = end()
			return true
		}
		return p.do(end)
	}
	return true
}

// close closes or resets the connection.
func (p *peer) close(reset bool) error {
	if l, ok := p.raw.(interface{ SetLinger(sec int) error }); ok && reset {
		_ = l.SetLinger(0)
	}
	p.s.r.mu.Lock()
	p.ended = true
	p.s.r.mu.Unlock()
	return p.raw.Close()
}

// dropLast takes octets away from the last ones that the server has sent.
func (p *peer) dropLast(lost int) {
	p.cut = true
	for i := len(p.s.events) - 1; i >= 0; i-- {
		if e := &p.s.events[i]; e.peer == p && e.Event.Event == Server {
			e.Octets = e.Octets[:max(0, len(e.Octets)-max(0, lost))]
			return
		}
	}
}

// closeWrite closes the sending side, or all of a connection that has no sides.
func closeWrite(nc net.Conn) error {
	if half, ok := nc.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nc.Close()
}

// peer is a connection of a record, and the client's that takes its place.
type peer struct {
	id     int
	opened int // line of the record
	addr   string
	active bool // the server opened it
	cut    bool // the server closed it while it was sending
	s      *session
	flow   *flow // nil if the client does not speak HTTP/2

	// Of the goroutine that plays.
	came    int64  // octets that were compared
	line    []byte // the beginning of the last line of them
	differs bool

	// Under the mu of the replay; nc is written by the goroutine that plays.
	ended   bool     // as the record says: by the client's EOF, or by the server
	raw, nc net.Conn // without TLS, and with it; nil until the client connects
	in      *inbox   // of nc
	queue   []func() error
	busy    bool // the queue is being worked off
}

// arrive gives the peer its connection, under the mu of the replay. The first of a session starts
// it.
func (p *peer) arrive(nc net.Conn) {
	s := p.s
	if s.ctx.Err() != nil {
		_ = nc.Close()
		return
	}
	ReceiveUrgent(nc)
	p.raw, p.nc, p.in = nc, nc, &inbox{Conn: nc, s: s, flow: p.flow}
	if slices.ContainsFunc(s.events, func(e step) bool { return e.peer == p && e.Event.Event == TLS }) {
		p.in.flow = nil
	}
	s.r.wg.Go(p.in.pump)
	if p == s.root {
		s.r.wg.Go(s.play)
	}
	s.r.changed.Broadcast()
}

// do appends an action to what is sent. It waits for its end, but not while the client has sent
// something else: it may have stopped to read, as with ABOR.
func (p *peer) do(action func() error) bool {
	s := p.s
	s.r.mu.Lock()
	p.queue = append(p.queue, action)
	if !p.busy {
		p.busy = true
		s.r.wg.Go(p.work)
	}
	s.r.mu.Unlock()
	return s.wait(p, func() bool {
		return !p.busy || slices.ContainsFunc(s.peers, func(p *peer) bool { return p.in != nil && len(p.in.buf) > 0 })
	})
}

// work works off the queue. After an error nothing can be sent: the client has gone.
func (p *peer) work() {
	p.s.r.mu.Lock()
	defer p.s.r.mu.Unlock()
	for len(p.queue) > 0 {
		action := p.queue[0]
		p.queue = p.queue[1:]
		p.s.r.mu.Unlock()
		_ = action()
		p.s.r.mu.Lock()
	}
	p.busy = false
	p.s.r.changed.Broadcast()
}

// expect waits for octets of the client and compares them.
func (p *peer) expect(want []byte) bool {
	for len(want) > 0 {
		got, ok := p.next(len(want))
		switch {
		case !ok:
			return false
		case got == nil:
			p.reportDifference(fmt.Sprintf("the client ended the connection after byte %d; the record has %d more", p.came, len(want)), "", "")
			return true
		case p.differs:
			return true
		}
		n := 0
		for n < len(got) && n < len(want) && got[n] == want[n] {
			n++
		}
		if n < min(len(got), len(want)) {
			p.s.r.mu.Lock()
			got = append(got, p.in.take(len(p.in.buf))...)
			p.s.r.mu.Unlock()
			p.follow(got[:n])
			p.reportDifference(fmt.Sprintf("byte %d of the client", p.came+1), firstLine(p.line, got[n:]), firstLine(p.line, want[n:]))
			return true
		}
		p.follow(got)
		want = want[len(got):]
	}
	return true
}

// expectEOF waits until the client closes its side.
func (p *peer) expectEOF() bool {
	for {
		got, ok := p.next(maxInbox)
		if !ok {
			return false
		}
		if got == nil {
			p.s.r.mu.Lock()
			defer p.s.r.mu.Unlock()
			p.ended = true
			return true
		}
		p.reportDifference(fmt.Sprintf("byte %d of the client, where the record has the end", p.came+1), firstLine(p.line, got), "")
	}
}

// next waits for octets of the client. It returns at most n of them, or all after a difference; nil
// means that the client has ended the connection.
func (p *peer) next(n int) (got []byte, ok bool) {
	ok = p.s.wait(p, func() bool {
		if len(p.in.buf) == 0 {
			return p.in.err != nil
		}
		if p.differs {
			n = len(p.in.buf)
		}
		got = p.in.take(n)
		return true
	})
	return got, ok
}

// follow counts octets that are as in the record.
func (p *peer) follow(octets []byte) {
	p.came += int64(len(octets))
	p.line = append(p.line, octets...)
	if i := bytes.LastIndexByte(p.line, '\n'); i >= 0 {
		p.line = p.line[i+1:]
	}
	p.line = bytes.Clone(p.line[:min(len(p.line), maxShown)])
}

// maxShown is how much of a line a Difference shows, in bytes.
const maxShown = 200

// firstLine returns the line that begins with before and continues with octets, if it is not too
// long.
func firstLine(before, octets []byte) string {
	line, _, _ := bytes.Cut(octets, []byte{'\n'})
	line = slices.Concat(before, line)
	return string(bytes.TrimSuffix(line[:min(len(line), maxShown)], []byte{'\r'}))
}

// reportDifference reports the first difference of a connection.
func (p *peer) reportDifference(what, got, want string) {
	if !p.differs {
		p.differs = true
		p.s.r.report(Difference{Addr: p.addr, Conn: p.id, What: what, Got: got, Want: want})
	}
}

// startTLS starts TLS with the certificate of the record.
func (p *peer) startTLS(pem []byte) bool {
	s := p.s
	if !s.wait(p, func() bool { return !p.busy }) {
		return false
	}
	config, err := s.r.config(pem, p.protocols())
	if err == nil {
		t := tls.Server(p.in, config)
		if err = t.HandshakeContext(s.ctx); err == nil {
			s.r.mu.Lock()
			defer s.r.mu.Unlock()
			p.nc, p.in = t, &inbox{Conn: t, s: s, flow: p.flow}
			s.r.wg.Go(p.in.pump)
			return true
		}
	}
	p.reportDifference(fmt.Sprintf("TLS: %v", err), "", "")
	return true
}

// protocols returns what the server chooses from by ALPN, so that the client speaks the version of HTTP of
// the record: only HTTP/2 is chosen in that way.
func (p *peer) protocols() []string {
	if p.flow != nil {
		return []string{"h2"}
	}
	return nil
}

// maxInbox is how much an inbox holds, in bytes.
const maxInbox = 64 << 10

// inbox has what was received and not used yet. It is a connection that reads from there.
type inbox struct {
	net.Conn
	s    *session
	flow *flow // nil if the octets are not those of HTTP/2
	buf  []byte
	err  error
}

// pump receives until the end of the connection.
func (in *inbox) pump() {
	part := make([]byte, maxInbox)
	for {
		n, err := in.Conn.Read(part)
		in.s.r.mu.Lock()
		octets := part[:n]
		if in.flow != nil {
			octets = in.flow.add(octets)
		}
		in.buf, in.err = append(in.buf, octets...), err
		in.s.r.changed.Broadcast()
		for len(in.buf) >= maxInbox && in.s.ctx.Err() == nil {
			in.s.r.changed.Wait()
		}
		in.s.r.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// take takes up to n octets, under mu.
func (in *inbox) take(n int) []byte {
	got := bytes.Clone(in.buf[:min(n, len(in.buf))])
	in.buf = in.buf[len(got):]
	in.s.r.changed.Broadcast()
	return got
}

// Read implements net.Conn.
func (in *inbox) Read(p []byte) (n int, err error) {
	in.s.r.mu.Lock()
	defer in.s.r.mu.Unlock()
	for len(in.buf) == 0 && in.err == nil {
		in.s.r.changed.Wait()
	}
	if len(in.buf) == 0 {
		return 0, in.err
	}
	return copy(p, in.take(len(p))), nil
}
