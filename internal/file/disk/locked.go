package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrBusy means that another process is writing to the file.
var ErrBusy = errors.New("another process is writing to it")

// A Locked is an open file that this process has locked, until it is closed. It is locked before
// anything in it is changed, and it is renamed or removed before the lock ends. So of two processes
// that open it, the second one either fails or finds that the name leads to another file by then.
//
// On systems without flock and LockFileEx, such as Solaris, nothing is locked: two processes that
// write to one file at once can destroy what the other one has written.
type Locked struct {
	File
	Info fs.FileInfo // when it was locked
	stat func() (fs.FileInfo, error)
}

// maxOpens limits how often Lock opens a file that others rename or remove meanwhile.
const maxOpens = 100

// Lock locks the file that open opens. If another process holds the lock, or another Locked of this
// one, the error wraps [ErrBusy]. open must not change the content: it must not have os.O_TRUNC.
// It may be called several times. stat returns the FileInfo of the name that open opens. Only
// regular files are locked.
func Lock(open func() (File, error), stat func() (fs.FileInfo, error)) (*Locked, error) {
	for n := 1; ; n++ {
		file, err := open()
		if err != nil {
			return nil, err
		}
		f := &Locked{File: file, stat: stat}
		if err = f.lock(); err == nil {
			return f, nil
		}
		_ = file.Close()
		switch moved := errors.Is(err, errMoved); {
		case !moved:
			return nil, err
		case n == maxOpens:
			return nil, fmt.Errorf("%w: %w", ErrBusy, err)
		}
	}
}

// lock locks a regular file, and then fails if its name leads to another file.
func (f *Locked) lock() (err error) {
	if f.Info, err = f.Stat(); err != nil || !f.Info.Mode().IsRegular() {
		return err
	}
	if !lockFile(f.File) {
		return fmt.Errorf("%s: %w", f.Name(), ErrBusy)
	}
	f.Info, err = same(f.File, f.Info, f.stat)
	return err
}

var errMoved = errors.New("the file was renamed or removed while it was open")

// Verify fails if the name of the file no longer leads to it. A process that does not use this
// package can cause that at any time.
func (f *Locked) Verify() error {
	_, err := same(f.File, f.Info, f.stat)
	return err
}

// Flush prepares the file to be renamed or removed. It returns the errors of writing that Close
// returns, and keeps the lock. Where there is no flock it closes the file, because Windows cannot
// rename an open one. It may be called again.
func (f *Locked) Flush() error {
	if file, ok := f.File.(simulated); ok {
		return unlessClosed(file.Flush())
	}
	return unlessClosed(flush(f.File.(*os.File)))
}

// Yield prepares the file to be replaced by another one. On systems that cannot replace an open
// file it closes the file, elsewhere it does nothing.
func (f *Locked) Yield() error {
	if file, ok := f.File.(simulated); ok {
		return file.Flush()
	}
	return yield(f.File.(*os.File))
}

// A simulated file is the one of a test. It does itself what is done to an *os.File here.
type simulated interface {
	Lock() bool
	Flush() error
}

// lockFile returns false if the file is locked already.
func lockFile(f File) bool {
	if file, ok := f.(simulated); ok {
		return file.Lock()
	}
	return lock(f.(*os.File))
}

// Close closes the file and ends the lock. It may be called again.
func (f *Locked) Close() error {
	if file, ok := f.File.(*os.File); ok && f.Info.Mode().IsRegular() {
		unlock(file)
	}
	return unlessClosed(f.File.Close())
}

// unlessClosed returns nil for the error of a closed file.
func unlessClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
