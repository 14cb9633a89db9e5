package ardp

import (
	"bytes"
	"errors"
	"hash/maphash"
)

// Bounds of what is held of packets that have come before their turn.
const (
	maxAhead = 256
	maxHeld  = 1 << 20
)

// ErrConflict means that two packets of a message say different things.
var ErrConflict = errors.New("conflicting fragments")

// Assembly puts the packets of one message in order. What it holds is bounded,
// whatever is announced. The zero value is ready.
type Assembly struct {
	total   int // 0: not known
	through int // all up to here have come
	early   map[int][]byte
	ready   [][]byte
	held    int // octets in early

	seed maphash.Seed
	sums []uint64 // of the packets up to through, to know a copy by
}

// Verdict is what became of a packet.
type Verdict int

// The verdicts.
const (
	Fresh     Verdict = iota // it was new
	Duplicate                // it has come before
	Beyond                   // it is too far ahead to be kept
)

// Add takes a sequenced packet (Seq is not 0). Of several copies the first one
// counts; one that differs is an error, as is a message whose length is told in
// two ways. The error is ErrConflict.
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

// setTotal learns how many packets there are. A header without the field means
// that a first packet is all.
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

// advance moves what is next in order to ready.
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

// Next gives out the data of the next packet in order.
func (a *Assembly) Next() (data []byte, ok bool) {
	if len(a.ready) == 0 {
		return nil, false
	}
	data, a.ready = a.ready[0], a.ready[1:]
	return data, true
}

// Through is the number up to which all packets have come.
func (a *Assembly) Through() uint16 { return uint16(a.through) }

// Early is how many packets have come before their turn.
func (a *Assembly) Early() int { return len(a.early) }

// Begun reports whether anything of the message has come.
func (a *Assembly) Begun() bool { return a.through > 0 || len(a.early) > 0 }

// Complete tells whether all have come.
func (a *Assembly) Complete() bool { return a.total != 0 && a.through == a.total }
