package exchange

import (
	"errors"
	"io"
	"os"

	"github.com/fetch1738/fetch1738/internal/wire"
)

// A Mover is a body whose bytes the system can move from the connection to a file, without passing
// them through the program.
type Mover interface {
	// Movable returns how many of the next bytes can be moved.
	Movable() int64
	// Move moves bytes to a file, as many as have arrived, but at most len(p). It waits for them as a
	// Read does. If it returns 0 without an error, a Read must follow. p is not written to.
	Move(file *os.File, p []byte) (int, error)
}

// A FileError is an error of the file that a body is moved to.
type FileError struct{ Err error }

func (e *FileError) Error() string { return e.Err.Error() }

// Movable implements Mover.
func (b *received) Movable() int64 {
	body, ok := b.from.(*counted)
	if !ok || b.ended() != nil || !wire.CanMove(b.conn.Conn.Conn) {
		return 0
	}
	return body.left
}

// Move implements Mover.
func (b *received) Move(file *os.File, p []byte) (int, error) {
	p = p[:min(int64(len(p)), b.Movable())]
	if len(p) < wire.MoveMin || b.conn.in.Buffered() > 0 {
		return 0, nil
	}
	c, body := b.conn.Conn, b.from.(*counted)
	err := c.Arm()
	n := 0
	if err == nil {
		n, err = wire.Arrived(c.Conn, p)
		err = c.Cause(err)
	}
	if n == 0 || err != nil {
		return 0, b.broken(err)
	}
	moved, err := file.ReadFrom(&io.LimitedReader{R: c.Conn, N: int64(n)})
	body.left -= moved
	if errors.Is(err, os.ErrDeadlineExceeded) { // the exchange has ended, or the file takes its time
		err = c.Arm()
		return int(moved), b.broken(err)
	}
	switch {
	case err != nil && !wire.OfConnection(err):
		return int(moved), &FileError{err}
	case err == nil && body.left == 0:
		err = io.EOF
	}
	return int(moved), b.broken(err)
}

// broken ends the body if err is not nil, and returns err.
func (b *received) broken(err error) error {
	if err != nil {
		b.end(err)
	}
	return err
}
