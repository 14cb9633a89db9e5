package prosperotest

import (
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/internal/codec/ardp"
)

// The timers and limits of the server.
const (
	resendPause = time.Second     // between two times that packets are sent again
	abandoned   = 3 * time.Minute // a client that has been silent for this long has given up
	maxCalls    = 256             // exchanges kept at once
	maxQuestion = 1 << 20
	maxWindow   = 256
)

// calls are the exchanges that are under way, and those kept for clients that may have lost packets.
// Server.mu guards them.
type calls struct {
	all    map[string]*call // by key
	seen   int              // number of requests
	moment int              // counts datagrams sent and received
}

// key returns what identifies an exchange: the client's address and connection id.
func key(from net.Addr, id uint16) string { return fmt.Sprintf("%v %d", from, id) }

// open adds a call. It returns nil while there is no room for another one. A client repeats a request
// that is not answered.
func (c *calls) open(from net.Addr, id uint16) *call {
	if len(c.all) >= maxCalls && !c.evict() {
		return nil
	}
	c.seen++
	call := &call{key: key(from, id), to: from, id: id, number: c.seen, window: ardp.Window}
	c.all[call.key] = call
	return call
}

// evict deletes a call: one whose whole answer the client has, else one whose answer has been
// sent completely, else one that the client seems to have given up. Among several it deletes the
// one that has been idle for longest. It never deletes a call under way: its client has received an
// acknowledgment of the request and would not repeat it.
func (c *calls) evict() bool {
	oldest, best := "", 3
	for key, call := range c.all {
		rank := call.rank()
		if rank < best || rank == best && best < 3 && call.active < c.all[oldest].active {
			oldest, best = key, rank
		}
	}
	if best == 3 {
		return false
	}
	delete(c.all, oldest)
	return true
}

// close deletes a call.
func (c *calls) close(call *call) { delete(c.all, call.key) }

// isOpen reports whether a call has not been deleted.
func (c *calls) isOpen(call *call) bool { return c.all[call.key] == call }

// received records that a datagram of a call has come.
func (c *calls) received(call *call) {
	c.sends(call)
	call.last = time.Now()
}

// sends records that datagrams of a call are sent.
func (c *calls) sends(call *call) {
	c.moment++
	call.active = c.moment
}

// call is one exchange with a client.
type call struct {
	key      string
	to       net.Addr
	id       uint16
	number   int // number of the request, for the transcript
	question ardp.Assembly
	size     int
	asked    bool // the question is complete
	plain    bool // the question is of protocol 1
	waited   bool // Wait has been sent

	answer []*ardp.Packet // nil until it is ready
	sent   int            // packets sent so far
	acked  int            // the client has received all packets up to this one
	heard  bool           // the client has acknowledged something
	window int
	resent time.Time
	active int       // calls.moment of the last datagram sent or received
	last   time.Time // time of the last datagram received
}

// rank returns the order in which calls may be deleted, lowest value first; 3 means a call under
// way.
func (c *call) rank() int {
	switch n := len(c.answer); {
	case n > 0 && c.acked == n:
		return 0
	case n > 0 && c.sent == n:
		return 1
	case time.Since(c.last) > abandoned:
		return 2
	}
	return 3
}

// add adds a packet of the question. It returns false for one that cannot be of it.
func (c *call) add(p *ardp.Packet) bool {
	if c.size += len(p.Data); c.size > maxQuestion {
		return false
	}
	_, err := c.question.Add(p)
	return err == nil
}

// text returns the question, which is complete.
func (c *call) text() string {
	var text strings.Builder
	for data, ok := c.question.Next(); ok; data, ok = c.question.Next() {
		text.Write(data)
	}
	return text.String()
}

// acknowledge records that the client has received all packets up to one. It reports whether packets
// are to be sent: the next ones, or again those that the client lacks.
func (c *call) acknowledge(received int) bool {
	through := min(received, c.sent)
	progress := through > c.acked
	c.acked, c.heard = max(c.acked, through), true
	if c.answer == nil || c.acked == len(c.answer) || !progress && time.Since(c.resent) < resendPause {
		return false
	}
	c.resent = time.Now()
	c.sent = c.acked
	return true
}

// next returns the packets of the answer that fit into the window and have not been sent.
func (c *call) next() (packets []*ardp.Packet) {
	for last := min(c.acked+c.window, len(c.answer)); c.sent < last; {
		p := *c.answer[c.sent]
		c.sent++
		c.header(&p, c.sent == last)
		packets = append(packets, &p)
	}
	return packets
}

// header sets the header of a packet as dirsrv does.
func (c *call) header(p *ardp.Packet, lastOfWindow bool) {
	total := len(c.answer)
	end := int(p.Seq) == total
	if p.ID = c.id; c.plain && !c.heard {
		p.ID = 0
	}
	p.Received = c.question.Through()
	if end {
		p.Total = uint16(total)
	}
	switch {
	case total == 1:
		p.Header = 3
	case c.heard:
		p.Header, p.Total = 9, uint16(total)
	default:
		p.Header = 7
	}
	if c.waited && c.plain {
		p.Wait = 5
	}
	if c.waited && !c.heard {
		p.Header = 12
	}
	if !end && lastOfWindow || end && c.waited && (!c.heard || total == 1) {
		p.Header, p.Flags = 12, ardp.FlagAck
	}
}

// cutAnswer splits an answer into packets. Answers of protocol 1 are split between lines.
func cutAnswer(text string, plain bool) []*ardp.Packet {
	var packets []*ardp.Packet
	for first := true; first || text != ""; first = false {
		n := min(ardp.MaxData, len(text))
		if end := strings.LastIndexByte(text[:n], '\n') + 1; plain && n < len(text) && end > 0 {
			n = end
		}
		packets = append(packets, &ardp.Packet{Seq: uint16(len(packets) + 1), Data: []byte(text[:n])})
		text = text[n:]
	}
	if len(packets) > ardp.MaxPackets {
		return cutAnswer("FAILURE SERVER-FAILED the answer is too long\n", plain)
	}
	return packets
}
