package prosperotest

import (
	"math/rand/v2"
	"net"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// socket sends datagrams with the faults at PACKET.
type socket struct {
	net.PacketConn
	random map[uint64]*rand.Rand // of Loss, by its seed
	held   [][]byte              // datagrams held back by Reorder
	heldTo net.Addr
}

// send sends a datagram.
func (s *socket) send(p *core.Faults, datagram []byte, to net.Addr) {
	if copies, lost := s.copies(p); !lost {
		datagram = p.Datagram(datagram)
		if p.Acts(reorder) {
			s.held, s.heldTo = append(s.held, datagram), to
			return
		}
		for range copies {
			_, _ = s.WriteTo(datagram, to)
		}
	}
	for _, late := range s.held {
		_, _ = s.WriteTo(late, s.heldTo)
	}
	s.held = nil
}

// copies returns the number of copies of a datagram that are sent, and whether it is lost.
func (s *socket) copies(p *core.Faults) (n int, lost bool) {
	for _, f := range p.TakeAll(loss) {
		r := s.random[f.Seed]
		if r == nil {
			r = rand.New(rand.NewPCG(f.Seed, 1525))
			s.random[f.Seed] = r
		}
		if r.Int64N(100) < f.N {
			return 0, true
		}
	}
	switch {
	case p.Acts(lose):
		return 0, true
	case p.Acts(duplicate):
		return 2, false
	}
	return 1, false
}
