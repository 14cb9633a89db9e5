package crawl

import (
	"errors"
	"net/netip"
	"sync"
	"time"
)

// gates keep hosts with one address apart: several names may lead to one server. The name is looked
// up only when a connection is made, so a job finds out then that it must wait.
type gates struct {
	mu sync.Mutex
	by map[netip.Addr]*gate
}

type gate struct {
	holder  *host     // who is asked now, or nil
	free    time.Time // when the next request may begin
	waiting []*host
}

var errCrowded = errors.New("another host with this address is being asked")

// enter lets a host ask at the address that it had before. Otherwise it returns when to try again;
// zero if leave will return the host.
func (g *gates) enter(h *host, now time.Time) (again time.Time, ok bool) {
	if !h.addr.IsValid() {
		return time.Time{}, true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.at(h.addr)
	switch {
	case at.holder != nil:
		at.waiting = append(at.waiting, h)
		return time.Time{}, false
	case now.Before(at.free):
		return at.free, false
	}
	at.holder = h
	return time.Time{}, true
}

func (g *gates) at(addr netip.Addr) *gate {
	if g.by[addr] == nil {
		g.by[addr] = new(gate)
	}
	return g.by[addr]
}

// claim is called before each connection to an address.
func (g *gates) claim(j *job, addr netip.Addr) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.at(addr)
	if at.holder == j.host {
		return nil
	}
	if at.holder != nil || time.Now().Before(at.free) {
		j.crowded = addr
		return errCrowded
	}
	at.holder = j.host
	j.held = append(j.held, addr)
	return nil
}

// leave ends claims. It returns the hosts that waited.
func (g *gates) leave(held []netip.Addr, free time.Time) (waited []*host) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, addr := range held {
		if at := g.by[addr]; at != nil {
			waited = append(waited, at.waiting...)
			at.holder, at.free, at.waiting = nil, free, nil
		}
	}
	return waited
}
