package crawl

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"
)

// gates keep hosts apart that have one name or one address: several ports and several names may lead
// to one server. A name is looked up only when a connection is made, so a job finds out then that it
// must wait.
type gates struct {
	mu sync.Mutex
	by map[string]*gate // names and addresses
}

type gate struct {
	holder  *host     // who is asked now, or nil
	free    time.Time // when the next request may begin
	waiting []*host
}

var errCrowded = errors.New("another host with this address is being asked")

// gates returns what a host must have for itself: its name, and the address that it had before.
func (h *host) gates() []string {
	name, _, _ := net.SplitHostPort(h.Name)
	if h.addr.IsValid() && h.addr.String() != name {
		return []string{name, h.addr.String()}
	}
	return []string{name}
}

// enter lets a host ask. Otherwise it returns when to try again; zero if leave will return the host.
func (g *gates) enter(h *host, now time.Time) (again time.Time, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, key := range h.gates() {
		at := g.at(key)
		if at.holder != nil {
			at.waiting = append(at.waiting, h)
			return time.Time{}, false
		}
		if at.free.After(again) {
			again = at.free
		}
	}
	if now.Before(again) {
		return again, false
	}
	for _, key := range h.gates() {
		g.at(key).holder = h
	}
	return time.Time{}, true
}

func (g *gates) at(key string) *gate {
	if g.by[key] == nil {
		g.by[key] = new(gate)
	}
	return g.by[key]
}

// A claims is what the connections of a job have claimed. A dialer that tries several addresses at
// once claims concurrently, and may even do so after the job.
type claims struct {
	addr      netip.Addr // the last one that was tried
	permitted bool       // the job had an address
	crowded   bool       // it did not get one: another host has it, or Claim has failed
	unclaimed bool       // Claim has failed
	over      bool       // the job is finished
	held      []string   // names and addresses that no other host may use until the job is done
}

// claim is called before each connection to an address.
func (g *gates) claim(j *job, addr netip.Addr) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.at(addr.String())
	if j.over || at.holder != j.host && (at.holder != nil || time.Now().Before(at.free)) {
		if !j.over {
			j.addr, j.crowded = addr, true
		}
		return errCrowded
	}
	if at.holder == nil {
		at.holder = j.host
		j.held = append(j.held, addr.String())
	}
	j.addr = addr
	return nil
}

// claimed enters what Claim has answered.
func (g *gates) claimed(j *job, err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case j.over:
		return errCrowded
	case err != nil:
		j.crowded, j.unclaimed = true, true
	default:
		j.permitted = true
	}
	return err
}

// connected is called after a connection: what happened to other addresses before does not matter.
func (g *gates) connected(j *job) {
	g.mu.Lock()
	defer g.mu.Unlock()
	j.crowded, j.unclaimed = false, false
}

// end ends the claims of a job, but not what it holds.
func (g *gates) end(j *job) {
	g.mu.Lock()
	defer g.mu.Unlock()
	j.over = true
}

// leave ends claims. It returns the hosts that waited.
func (g *gates) leave(held []string, free time.Time) (waited []*host) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, key := range held {
		if at := g.by[key]; at != nil {
			waited = append(waited, at.waiting...)
			at.holder, at.waiting = nil, nil
			if free.After(at.free) {
				at.free = free
			}
		}
	}
	return waited
}
