package ardp

import (
	"bytes"
	"errors"
	"hash/maphash"
)

// Limits for packets that arrive before their turn.
const (
	maxAhead = 256     // packets
	maxHeld  = 1 << 20 // bytes
)

// ErrConflict means that two packets of a message contradict each other.
var ErrConflict = errors.New("conflicting packets of a message")

// Assembly puts the packets of one message in order. Its memory is bounded, no matter how many
// packets the sender announces. The zero value is ready to use.
type Assembly struct {
	total   int            // number of packets; 0 if unknown
	through int            // all packets up to this number have arrived
	early   map[int][]byte // packets after a gap, by number
	ready   [][]byte       // data to be returned by Next
	held    int            // bytes in early

	seed maphash.Seed
	sums []uint64 // hashes of the packets up to through, to recognize copies
}

// Verdict says what Add has done with a packet.
type Verdict int

// The verdicts.
const (
	Fresh     Verdict = iota // the packet is new
	Duplicate                // the packet has arrived before
	Beyond                   // the packet is too far ahead and was dropped
)

// Add adds a packet whose Seq is not 0. An identical copy of a packet is ignored. Add returns
// ErrConflict for a copy that differs, and for packets with contradictory totals.
func (a *Assembly) Add(p *Packet) (Verdict, error) {
	seq := int(p.Seq)
	if err := a.setTotal(p, seq); err != nil {
		return Beyond, err
	}
	data := p.Data
	if p.Flags&FlagSequencedControl != 0 {
		data = nil
	}
	if seq <= a.through {
		if a.sums[seq-1] != maphash.Bytes(a.seed, data) {
			return Duplicate, ErrConflict
		}
		return Duplicate, nil
	}
	if old, ok := a.early[seq]; ok {
		if !bytes.Equal(old, data) {
			return Duplicate, ErrConflict
		}
		return Duplicate, nil
	}
	if seq > a.through+maxAhead || a.held+len(data) > maxHeld && seq != a.through+1 {
		return Beyond, nil
	}
	if a.early == nil {
		a.early, a.seed = make(map[int][]byte), maphash.MakeSeed()
	}
	a.early[seq] = bytes.Clone(data)
	a.held += len(data)
	a.advance()
	return Fresh, nil
}

// setTotal sets the number of packets from a header. If the first packet has no such field, it is the
// only one.
func (a *Assembly) setTotal(p *Packet, seq int) error {
	total := int(p.Total)
	if a.total == 0 && !p.HasTotal() && seq == 1 {
		total = 1
	}
	switch {
	case a.total == 0 && total == 0:
		return nil
	case total == 0:
		total = a.total
	case a.total == 0:
		for n := range a.early {
			if n > total {
				return ErrConflict
			}
		}
		if a.through > total {
			return ErrConflict
		}
		a.total = total
	}
	if total != a.total || seq > total {
		return ErrConflict
	}
	return nil
}

// advance moves the packets that are next in order to ready.
func (a *Assembly) advance() {
	for {
		data, ok := a.early[a.through+1]
		if !ok {
			return
		}
		a.through++
		delete(a.early, a.through)
		a.held -= len(data)
		a.sums = append(a.sums, maphash.Bytes(a.seed, data))
		a.ready = append(a.ready, data)
	}
}

// Next returns the data of the next packet in order. It reports false if that packet has not arrived.
func (a *Assembly) Next() (data []byte, ok bool) {
	if len(a.ready) == 0 {
		return nil, false
	}
	data, a.ready = a.ready[0], a.ready[1:]
	return data, true
}

// Through returns the number up to which all packets have arrived.
func (a *Assembly) Through() uint16 { return uint16(a.through) }

// Early returns the number of packets that have arrived before their turn.
func (a *Assembly) Early() int { return len(a.early) }

// Begun reports whether any packet has arrived.
func (a *Assembly) Begun() bool { return a.through > 0 || len(a.early) > 0 }

// Complete reports whether all packets have arrived.
func (a *Assembly) Complete() bool { return a.total != 0 && a.through == a.total }
