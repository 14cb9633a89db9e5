package stdio

import (
	"errors"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
)

// OutputError returns the error of a write to standard output as a fault of kind Output.
func OutputError(err error) error {
	if err == nil || localerr.KindOf(err) != 0 {
		return err
	}
	if cause, ok := errors.AsType[syscall.Errno](err); ok {
		err = cause
	} else if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return localerr.Errorf(localerr.Output, "write standard output: %w", err)
}

// Unread reports whether err is that standard output is a pipe which nobody reads any more, as after
// "| head -1". The program then ends without a message, as others do.
func Unread(err error) bool {
	cause, ok := errors.AsType[syscall.Errno](err)
	return ok && localerr.KindOf(err) == localerr.Output && slices.Contains(ClosedPipe(), cause)
}

// ClosedPipe returns the errors of a write to a pipe which nobody reads any more.
func ClosedPipe() []syscall.Errno { return closedPipe(runtime.GOOS) }

// closedPipe is ClosedPipe of a system. On Windows, syscall.EPIPE is an error of Go only.
func closedPipe(goos string) []syscall.Errno {
	if goos == "windows" {
		return []syscall.Errno{109, 232} // ERROR_BROKEN_PIPE, ERROR_NO_DATA
	}
	return []syscall.Errno{syscall.EPIPE}
}

// A Checked is a writer that keeps its first error and then writes nothing.
type Checked struct {
	w     io.Writer
	blame func(error) error

	mu  sync.Mutex
	err error
}

// CheckOutput returns a Checked on standard output or a part of it.
func CheckOutput(w io.Writer) *Checked { return &Checked{w: w, blame: OutputError} }

// CheckFile returns a Checked on a file of the whole run, the loss of which also ends the run.
func CheckFile(f io.Writer) *Checked {
	return &Checked{w: f, blame: func(err error) error { return localerr.New(localerr.Output, err) }}
}

// Write implements io.Writer.
func (c *Checked) Write(p []byte) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	if n, err = c.w.Write(p); err != nil {
		c.err = c.blame(err)
	}
	return n, c.err
}

// Err returns the first error.
func (c *Checked) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Fd returns that of the writer, for package term.
func (c *Checked) Fd() uintptr {
	if f, ok := c.w.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}
