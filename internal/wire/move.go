package wire

import (
	"io"
	"os"
)

// MoveMin is the minimum size of a document for a move in the kernel, from a connection to a file
// or another connection. For a smaller one, a move saves no system calls, and checking whether it is
// possible costs more than it saves.
const MoveMin = 16 << 10

// RegularFile returns w if it is a regular file, or nil. Its ReadFrom moves the bytes of a connection
// for which CanMove is true. Another kind of file may fail a write after the bytes have left the
// connection.
func RegularFile(w io.Writer) *os.File {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return f
}

// A Move copies size bytes from a connection without passing them through the program, or fewer if
// the connection ends.
type Move func(size int64) (int64, error)
