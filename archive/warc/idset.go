package warc

// An idSet is a set of 64-bit hashes. A million of them take 16 MiB, half of what a map takes. It is
// divided, because growing all of it at once would need more memory.
type idSet struct {
	parts [256]struct {
		slots []uint64 // a power of two; 0 is an empty slot
		n     int
	}
	n int
}

func (s *idSet) has(key uint64) bool {
	slots := s.parts[key>>56].slots
	return len(slots) > 0 && *slot(slots, key) == key
}

func (s *idSet) add(key uint64) {
	part := &s.parts[key>>56]
	if 4*part.n >= 3*len(part.slots) {
		old := part.slots
		part.slots = make([]uint64, max(16, 2*len(old)))
		for _, key := range old {
			*slot(part.slots, key) = key
		}
	}
	if at := slot(part.slots, key); *at != key {
		*at = key
		part.n++
		s.n++
	}
}

// slot returns the slot that has a key, or the one for it.
func slot(slots []uint64, key uint64) *uint64 {
	for i := key; ; i++ {
		if at := &slots[i&uint64(len(slots)-1)]; *at == key || *at == 0 {
			return at
		}
	}
}
