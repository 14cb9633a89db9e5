package traffic

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Player plays the server's side of a record. The zero value listens where the servers of the
// record did, and reports nothing.
type Player struct {
	// Listen opens a listener. If nil, it is that of net.ListenConfig.
	Listen func(ctx context.Context, network, address string) (net.Listener, error)
	// Address, if not nil, returns the address to listen on in place of addr. The url is that of the
	// server in the record, or "" for a port of data connections.
	Address func(url, addr string) (string, error)
	// Report, if not nil, is called with each Difference, one call at a time.
	Report func(Difference)
}

// Difference is where a client departs from the record. There is at most one for each connection.
type Difference struct {
	Addr string // of the server in the record
	Conn int    // number of the connection in the record; 0 if it is not there
	What string // what differs, as in "byte 12 of the client"
	// Got is the line that the client has sent, and Want that of the record, without their ends; ""
	// if no byte differs. Both can have passwords.
	Got, Want string
}

// Replay is a record that is played. Clients can connect until it is closed, or its context ends. A
// connection is the next one of the record at the same port; there is nothing for one that comes
// after the last.
//
// The events of a connection and of its data connections are played in the order of the record:
// what the server sends is sent when all that the client has sent before has come, and not earlier
// after the event before than in the record. The client's octets are compared; after a Difference
// anything that the client sends counts as the next of its octets in the record. What HTTP/2 sends when
// it likes (PING, WINDOW_UPDATE, the acknowledgement of SETTINGS) is not compared. A connection that
// the server has opened (FTP's active mode) cannot be played, because its port was that of the
// client.
type Replay struct {
	// URLs are those of the servers, in the order of the record.
	URLs []string

	player  *Player
	ctx     context.Context
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	reports sync.Mutex

	mu      sync.Mutex         // guards the state of all connections
	changed sync.Cond          // signals that it has changed
	awaited map[string][]*peer // the connections of each port that have not come, in order
	configs map[string]*tls.Config
}

// Start listens, and plays events until ctx ends or the Replay is closed.
func (p *Player) Start(ctx context.Context, events []Event) (*Replay, error) {
	r := &Replay{player: p, awaited: make(map[string][]*peer), configs: make(map[string]*tls.Config)}
	r.changed.L = &r.mu
	r.ctx, r.cancel = context.WithCancel(ctx)
	if err := r.arrange(events); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Close ends the replay: it closes all listeners and connections, and waits for the goroutines.
func (r *Replay) Close() error {
	r.cancel()
	r.wg.Wait()
	return nil
}

// arrange sorts the events by sessions, and listens.
func (r *Replay) arrange(events []Event) error {
	peers := make(map[int]*peer)
	dataConns := make(map[int]int) // those that were accepted at a port that is not only for data
	for _, e := range events {
		if e.Event == Data {
			dataConns[e.Conn] = e.Of
		}
	}
	var servers []Event
	ports := make(map[string]bool)
	for i, e := range events {
		switch e.Event {
		case Listen:
			if !isURL(e.URL) {
				return fmt.Errorf("line %d: %q is not the URL of a server", i+1, e.URL)
			}
			servers = append(servers, e)
			ports[portOf(e.Addr)] = true
			continue
		case Data:
			continue
		case Open, Connect:
			if of, ok := dataConns[e.Conn]; ok {
				e.Of = of
			}
			p := &peer{id: e.Conn, addr: e.Addr, active: e.Event == Connect, s: r.sessionOf(peers[e.Of])}
			if peers[e.Conn] != nil || e.Conn == 0 {
				return fmt.Errorf("line %d: connection %d is opened twice", i+1, e.Conn)
			}
			peers[e.Conn] = p
			if p.s.root == nil {
				p.s.root = p
			}
			p.s.peers = append(p.s.peers, p)
			p.opened = i + 1
			if e.Event == Open {
				r.awaited[portOf(e.Addr)] = append(r.awaited[portOf(e.Addr)], p)
			}
		}
		p := peers[e.Conn]
		if p == nil {
			return fmt.Errorf("line %d: connection %d is not open", i+1, e.Conn)
		}
		if e.Event == Cut {
			p.dropLast(e.Lost)
			continue
		}
		p.s.add(p, i+1, e)
	}
	for _, p := range peers {
		if p.speaksHTTP2() {
			p.asHTTP2()
		}
	}
	r.orderPorts()
	return r.listenAll(servers, peers, ports)
}

// orderPorts makes a session wait for the data connections of others that come first at the same port.
func (r *Replay) orderPorts() {
	for _, list := range r.awaited {
		for i, p := range list[1:] {
			if before := list[i]; p != p.s.root && p.s != before.s {
				p.s.addAfter(before, before.opened)
			}
		}
	}
}

// listenAll listens at the ports of the servers and of their data connections.
func (r *Replay) listenAll(servers []Event, peers map[int]*peer, ports map[string]bool) error {
	for _, e := range servers {
		at, err := r.listen(e.URL, e.Addr)
		if err != nil {
			return err
		}
		scheme, rest, _ := strings.Cut(e.URL, "://")
		_, path, found := strings.Cut(rest, "/")
		if found {
			path = "/" + path
		}
		r.URLs = append(r.URLs, scheme+"://"+at+path)
	}
	for _, p := range peers {
		port := portOf(p.addr)
		if ports[port] || p.active {
			continue
		}
		ports[port] = true
		if _, err := r.listen("", p.addr); err != nil {
			return err
		}
	}
	return nil
}

// isURL reports whether text can be the URL of a server, all of which is printable.
func isURL(text string) bool {
	scheme, rest, found := strings.Cut(text, "://")
	return found && scheme != "" && rest != "" && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

func portOf(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}

// sessionOf returns the session of a connection, or a new one for nil.
func (r *Replay) sessionOf(p *peer) *session {
	if p != nil {
		return p.s
	}
	return newSession(r)
}

// listen listens at the address of a server, or of data connections if url is "".
func (r *Replay) listen(url, addr string) (at string, err error) {
	port := portOf(addr)
	if r.player.Address != nil {
		if addr, err = r.player.Address(url, addr); err != nil {
			return "", err
		}
	}
	listen := r.player.Listen
	if listen == nil {
		listen = new(net.ListenConfig).Listen
	}
	l, err := listen(r.ctx, "tcp", addr)
	if err != nil {
		if cause, ok := errors.AsType[*os.SyscallError](err); ok {
			err = cause.Err
		}
		why := ""
		if url == "" {
			why = ", where the record has data connections"
		}
		return "", fmt.Errorf("cannot listen on %s%s: %w", addr, why, err)
	}
	context.AfterFunc(r.ctx, func() { _ = l.Close() })
	r.wg.Go(func() { r.accept(l, port) })
	return l.Addr().String(), nil
}

// accept takes connections for those of the record at a port.
func (r *Replay) accept(l net.Listener, port string) {
	for {
		nc, err := l.Accept()
		if r.ctx.Err() != nil {
			if err == nil {
				_ = nc.Close()
			}
			return
		}
		if err != nil { // perhaps out of descriptors: try again
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if !r.assign(nc, port) {
			_ = nc.Close()
			r.report(Difference{Addr: l.Addr().String(), What: "the record has no further connection here"})
		}
	}
}

// assign gives a connection to the next one of the record at a port, but not to a data connection
// whose session has not begun.
func (r *Replay) assign(nc net.Conn, port string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.awaited[port]
	i := slices.IndexFunc(list, func(p *peer) bool { return p == p.s.root || p.s.root.nc != nil })
	if i < 0 {
		return false
	}
	r.awaited[port] = slices.Delete(slices.Clone(list), i, i+1)
	list[i].arrive(nc)
	return true
}

// dropAwaited gives up the connections of a session that have not come.
func (r *Replay) dropAwaited(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for port, list := range r.awaited {
		r.awaited[port] = slices.DeleteFunc(slices.Clone(list), func(p *peer) bool { return p.s == s })
	}
}

// report calls Report, one call at a time.
func (r *Replay) report(d Difference) {
	r.reports.Lock()
	defer r.reports.Unlock()
	if r.player.Report != nil {
		r.player.Report(d)
	}
}

// config returns the TLS configuration with a certificate and key, and protocols for ALPN. There is one
// of each, so that clients can resume sessions.
func (r *Replay) config(pem []byte, protocols []string) (*tls.Config, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := string(pem) + strings.Join(protocols, ",")
	if c := r.configs[key]; c != nil {
		return c, nil
	}
	certificate, err := tls.X509KeyPair(pem, pem)
	if err != nil {
		return nil, err
	}
	c := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: protocols}
	r.configs[key] = c
	return c, nil
}
