package scaletest

import (
	"net"
	"slices"
	"time"
)

// A line is what is noted about the connections to an address.
type line struct {
	open  []*net.TCPConn
	most  int       // at once
	total int       // connections
	last  time.Time // when the last one was answered; zero if it was not, because the peer had left
	least time.Duration
	gaps  int // that least is of
}

// begin notes a connection.
func (h *Hosts) begin(host int, c *net.TCPConn) *line {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	addr := h.addr(host)
	l := h.lines[addr]
	if l == nil {
		l = new(line)
		h.lines[addr] = l
	}
	// What a peer has closed is not open, even if the handler has had no time yet to see it.
	l.open = slices.DeleteFunc(l.open, isLeft)
	if len(l.open) == 0 && !l.last.IsZero() {
		if gap := now.Sub(l.last); l.gaps == 0 || gap < l.least {
			l.least = gap
		}
		l.gaps++
	}
	l.last = time.Time{}
	l.open = append(l.open, c)
	l.most = max(l.most, len(l.open))
	l.total++
	return l
}

// answers notes that a request is answered now. It is called before: the peer may know by the answer
// that it is complete, and close the connection.
func (h *Hosts) answers(c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.Contains(c.line.open, c.TCPConn) {
		c.line.last = time.Now()
	}
}

// end notes the end of a connection.
func (h *Hosts) end(c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at := slices.Index(c.line.open, c.TCPConn); at >= 0 {
		c.line.open = slices.Delete(c.line.open, at, at+1)
	}
}
