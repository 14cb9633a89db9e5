package core

import (
	"context"
	"net"
	"sync"
)

// arrivals are the connections by which CatchUp learns that those before them have been accepted.
type arrivals struct {
	mu      sync.Mutex
	waiting map[string]chan<- struct{} // by local address; closed when the connection is accepted
}

// CatchUp returns when every connection that was opened before the call has been accepted, or with
// an error when ctx ends or the server is closed.
func (m *Machine) CatchUp(ctx context.Context) error {
	// Connections are accepted in the order in which they were opened.
	m.arrivals.mu.Lock()
	last, err := m.Net.Dial(ctx, "tcp", m.Own)
	if err != nil {
		m.arrivals.mu.Unlock()
		return err
	}
	defer EndConn(last, true) // an orderly end would keep a port for a minute
	accepted := make(chan struct{})
	if m.arrivals.waiting == nil {
		m.arrivals.waiting = make(map[string]chan<- struct{})
	}
	m.arrivals.waiting[last.LocalAddr().String()] = accepted
	m.arrivals.mu.Unlock()
	select {
	case <-accepted:
	case <-ctx.Done():
		return ctx.Err()
	case <-m.ended:
		return net.ErrClosed
	}
	return nil
}

// Arrived reports whether CatchUp has opened a connection, which has been accepted now.
func (m *Machine) Arrived(nc net.Conn) bool {
	m.arrivals.mu.Lock()
	defer m.arrivals.mu.Unlock()
	key := nc.RemoteAddr().String()
	accepted, ok := m.arrivals.waiting[key]
	if ok {
		close(accepted)
		delete(m.arrivals.waiting, key)
	}
	return ok
}
