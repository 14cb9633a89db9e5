package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
)

// clobber is what is done about a file that is there where a document is to go.
type clobber uint8

const (
	clobberTyped  clobber = iota // it is replaced if its name was typed, and kept if a server made it
	clobberAlways                // --clobber
	clobberNever                 // --no-clobber
)

// setClobber carries out --clobber, --no-clobber does the opposite.
func setClobber(c *commandLine, value string) error {
	c.op.clobber = clobberNever
	if value == strconv.FormatBool(true) {
		c.op.clobber = clobberAlways
	}
	return nil
}

// maxNumbered is how many other names --no-clobber tries, as in curl.
const maxNumbered = 99

// openFile makes the file, or opens the one that is there where that may be
// written to. The file's name may turn out to be another then.
func (s *sink) openFile(flags int) (*os.File, error) {
	numbered := s.clobber == clobberNever
	if s.append || !numbered && !s.keeps() {
		return s.openPath(flags)
	}
	flags |= os.O_EXCL
	f, err := s.openPath(flags)
	if !numbered && errors.Is(err, fs.ErrExist) {
		return nil, s.kept()
	}
	name, served := s.path, s.served
	for n := 1; numbered && errors.Is(err, fs.ErrExist) && n <= maxNumbered; n++ {
		s.path = fmt.Sprintf("%s.%d", name, n)
		if served != "" {
			s.served = fmt.Sprintf("%s.%d", served, n)
		}
		f, err = s.openPath(flags)
	}
	if numbered && errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s exists, and so do %s.1 to %s.%d", name, name, name, maxNumbered)
	}
	return f, err
}

// keeps reports whether a file that is there stays: its name is a server's
// choice, and nobody has said that it may be replaced.
func (s *sink) keeps() bool {
	return s.served != "" && !s.append && s.clobber == clobberTyped
}

// kept is the error of a file that stays.
func (s *sink) kept() error {
	return &codedError{exitWrite, fmt.Errorf("%s exists, and its name is the server's choice: --clobber replaces it, --skip-existing passes it over", s.path)}
}

// skips reports whether --skip-existing does without the transfer; it fails for
// one whose file must not be written.
func (t *transfer) skips() (bool, error) {
	s := t.sink
	if t.upload || s.path == "" || !t.op.skipExisting && s.served == "" {
		return false, nil
	}
	info, err := s.stat()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case t.op.skipExisting:
		if t.op.trace.form != traceNot {
			fmt.Fprintf(t.std.err, "Note: skips transfer, \"%s\" exists locally\n", term.SafeLine(s.path, maxMessage)) // in curl's words
		}
		return true, nil
	case s.keeps():
		return false, s.kept()
	case s.clobber != clobberNever && !info.Mode().IsRegular():
		return false, s.irregular()
	}
	return false, nil
}

// finishFile does what is to be done about the transfer's file once it is closed:
// it gets the document's time, or is removed.
func (t *transfer) finishFile() error {
	s := t.sink
	if s.file == nil {
		return nil
	}
	switch {
	case t.err != nil && t.op.removeOnError:
		return s.remove()
	case t.err == nil && t.op.remoteTime && !t.result.modified.IsZero() && s.regular():
		return s.setTime(t.result.modified)
	}
	return nil
}

// regular reports whether what the sink has written to is still there and is a
// regular file.
func (s *sink) regular() bool {
	info, err := s.stat()
	return err == nil && info.Mode().IsRegular() && os.SameFile(info, s.opened)
}

// remove removes the sink's file, unless another has taken its place.
func (s *sink) remove() error {
	if !s.regular() {
		return nil
	}
	if s.served == "" {
		return os.Remove(s.path)
	}
	return s.inFolder(false, func(dir *os.Root, name string) error { return dir.Remove(name) })
}

// setTime gives the file a time of modification.
func (s *sink) setTime(modified time.Time) error {
	if s.served == "" {
		return os.Chtimes(s.path, time.Time{}, modified)
	}
	return s.inFolder(false, func(dir *os.Root, name string) error { return dir.Chtimes(name, time.Time{}, modified) })
}

// setFileMode reads the permissions of --create-file-mode, in octal.
func setFileMode(c *commandLine, value string) error {
	mode, err := strconv.ParseUint(value, 8, 32)
	switch {
	case err != nil || strings.HasPrefix(value, "+"):
		return errors.New("expected permissions in octal, such as 0640")
	case mode > 0o777:
		return errors.New("too large number")
	}
	c.op.fileMode = fs.FileMode(mode)
	return nil
}
