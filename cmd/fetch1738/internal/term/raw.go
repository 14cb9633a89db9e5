package term

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// Raw is the process's terminal in raw mode: keys are read one by one, without echo and
// without special meaning. Writing to it shows text.
type Raw struct {
	tty    *os.File
	fd     int // of the stream whose modes were changed
	before *term.State
	keys   chan []byte
	rest   []byte
	stop   chan struct{}
	once   sync.Once
}

// OpenRaw sets the terminal of stream to raw mode. Close restores it.
func OpenRaw(stream any) (*Raw, error) {
	f, ok := stream.(*os.File)
	if !ok {
		return nil, ErrNoTerminal
	}
	// The stream itself cannot be read with a deadline.
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, ErrNoTerminal
	}
	r := &Raw{tty: tty, fd: int(f.Fd()), keys: make(chan []byte), stop: make(chan struct{})}
	if r.before, err = term.MakeRaw(r.fd); err != nil {
		return nil, errors.Join(err, tty.Close())
	}
	go r.watch()
	return r, nil
}

// watch reads keys until the end. A read that cannot be interrupted is abandoned.
func (r *Raw) watch() {
	defer close(r.keys)
	for {
		buf := make([]byte, 1024)
		n, err := r.tty.Read(buf)
		if n > 0 {
			select {
			case r.keys <- buf[:n]:
			case <-r.stop:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// Read waits for keys. After Interrupt it returns io.EOF.
func (r *Raw) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		select {
		case keys, ok := <-r.keys:
			if !ok {
				return 0, io.EOF
			}
			r.rest = keys
		case <-r.stop:
			return 0, io.EOF
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Write shows text; lines end in CR LF.
func (r *Raw) Write(p []byte) (int, error) { return r.tty.Write(p) }

// Size returns the terminal's current size, or zeros if it is unknown.
func (r *Raw) Size() (columns, rows uint16) { return Size(r.tty) }

// Interrupt ends reading permanently.
func (r *Raw) Interrupt() {
	r.once.Do(func() {
		close(r.stop)
		_ = r.tty.SetReadDeadline(time.Unix(1, 0)) // if supported
	})
}

// Close restores the terminal.
func (r *Raw) Close() error {
	r.Interrupt()
	return errors.Join(term.Restore(r.fd, r.before), r.tty.Close())
}

// Size returns the size of the terminal of stream, or zeros if it is not a terminal.
func Size(stream any) (columns, rows uint16) {
	f, ok := stream.(file)
	if !ok {
		return 0, 0
	}
	w, h, err := term.GetSize(int(f.Fd()))
	if err != nil || w < 0 || h < 0 || w > 1<<16-1 || h > 1<<16-1 {
		return 0, 0
	}
	return uint16(w), uint16(h)
}
