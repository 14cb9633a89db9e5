package fetch1738

import (
	"context"
	"strings"
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// slots are the operations that run at once: see [Resolver.MaxTransfers]. A goroutine takes a slot
// by sending; those that wait are served in order. Operations count, not connections: a transfer by
// FTP has two, and its idle session costs the server less than a refused login.
type slots struct {
	mu    sync.Mutex
	all   chan struct{}
	hosts map[string]*hostSlots
}

// hostSlots are the slots of one host, while an operation uses them or waits for one.
type hostSlots struct {
	taken chan struct{}
	users int
}

// slot waits for a slot of the host of req, and then for one of all. It returns the function that
// releases them, which can be called more than once, or nil if there is no limit.
func (r *Resolver) slot(ctx context.Context, op fetch.Op, req *fetch.Request) (release func(), err error) {
	if r.MaxTransfers <= 0 && r.MaxTransfersPerHost <= 0 {
		return nil, nil
	}
	leave := func() {}
	take := func(taken chan struct{}) error {
		select {
		case taken <- struct{}{}:
		default:
			driver.ContextTrace(ctx).Note("waiting for another transfer to end")
			select {
			case taken <- struct{}{}:
			case <-ctx.Done():
				leave()
				return driver.Fail(op, req.Locator, fetch.ErrOther, ctx.Err())
			}
		}
		before := leave
		leave = func() { <-taken; before() }
		return nil
	}
	s := &r.slots
	if host := r.hostOf(req.Locator); host != "" && r.MaxTransfersPerHost > 0 {
		h := s.enter(host, r.MaxTransfersPerHost)
		leave = func() { s.leave(host, h) }
		if err := take(h.taken); err != nil {
			return nil, err
		}
	}
	if r.MaxTransfers > 0 {
		if err := take(s.inAll(r.MaxTransfers)); err != nil {
			return nil, err
		}
	}
	return sync.OnceFunc(leave), nil
}

// hostOf returns the name of the server that a request for l connects to, or "".
func (r *Resolver) hostOf(l locator.Locator) string {
	server, ok := locator.ServerOf(l)
	if news, isNews := l.(*locator.News); isNews && news.Host == "" {
		return r.Env.NewsServer
	}
	if !ok {
		return ""
	}
	return strings.ToLower(strings.TrimSuffix(server.Host, "."))
}

// inAll returns the slots for all servers together, of which there are n.
func (s *slots) inAll(n int) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(chan struct{}, n)
	}
	return s.all
}

// enter returns the slots of a server, which are kept until each caller has called leave.
func (s *slots) enter(host string, n int) *hostSlots {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hosts == nil {
		s.hosts = make(map[string]*hostSlots)
	}
	if s.hosts[host] == nil {
		s.hosts[host] = &hostSlots{taken: make(chan struct{}, n)}
	}
	s.hosts[host].users++
	return s.hosts[host]
}

// leave drops the slots of a server when nobody uses them.
func (s *slots) leave(host string, h *hostSlots) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.users--; h.users == 0 {
		delete(s.hosts, host)
	}
}
