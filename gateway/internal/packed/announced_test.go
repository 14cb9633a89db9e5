package packed

import (
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"testing"
)

// sparse is a file of zeros with data at its end.
type sparse struct {
	size int64
	end  []byte
}

func (s sparse) ReadAt(p []byte, off int64) (n int, err error) {
	clear(p)
	for n < len(p) && off+int64(n) < s.size {
		if at := off + int64(n) - (s.size - int64(len(s.end))); at >= 0 {
			p[n] = s.end[at]
		}
		n++
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// announces is a zip archive of a size, which the server says, whose end announces members. It has none.
func announces(size int64, members uint64) sparse {
	le := binary.LittleEndian
	end := make([]byte, 56+20+22)
	le.PutUint32(end, 0x06064b50) // the end in its large form
	le.PutUint64(end[4:], 44)
	le.PutUint64(end[24:], members)
	le.PutUint64(end[32:], members)
	le.PutUint64(end[48:], uint64(size)-uint64(len(end)))
	le.PutUint32(end[56:], 0x07064b50) // where that is
	le.PutUint64(end[56+8:], uint64(size)-uint64(len(end)))
	le.PutUint32(end[56+16:], 1)
	le.PutUint32(end[76:], 0x06054b50) // the end
	le.PutUint16(end[76+8:], 0xffff)
	le.PutUint16(end[76+10:], 0xffff)
	le.PutUint32(end[76+12:], 0xffffffff)
	le.PutUint32(end[76+16:], 0xffffffff)
	return sparse{size, end}
}

// TestAnnouncedMembers tests that the number of members that an archive announces takes no memory, of
// which there would not be enough for the largest one.
func TestAnnouncedMembers(t *testing.T) {
	for _, members := range []uint64{50_001, 1 << 25, 1 << 63} {
		size := int64(1 << 50)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := OpenZip(announces(size, members), size, Usual())
		runtime.ReadMemStats(&after)
		if _, ok := errors.AsType[*LimitError](err); !ok {
			t.Errorf("%d members: %v", members, err)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 8<<20 {
			t.Errorf("%d members: %d MiB of memory", members, taken>>20)
		}
	}
}
