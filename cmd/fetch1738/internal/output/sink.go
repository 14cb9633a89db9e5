// Package output is where documents go: to files, whose names may be a server's
// choice, and to standard output, several at once.
package output

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A Sink is where the octets of one transfer go. It is opened when the first of
// them are there, so that a failure leaves an older file as it was. The zero Sink
// takes nothing.
type Sink struct {
	Path    string       // of the file; "" is standard output
	Served  string       // the end of Path that a server chose; "" is none
	Charset term.Charset // of text for a terminal
	Raw     bool         // no filter for terminals
	Count   int64        // octets written
	Base    int64        // where in the file the transfer's octets begin

	remote   bool // Path is a name that the URL gave
	mkdirs   bool
	append   bool  // after what is there
	named    bool  // the user named it, be it "-"
	nameless error // why there is no name for the file yet
	clobber  plan.Clobber
	out      io.Writer
	portion  *Portion // of out, with others

	file    *os.File // nil before it is opened, and for standard output
	part    *Sink    // in which the document is put together; nil for none
	opened  os.FileInfo
	w       io.Writer
	safe    *term.Writer // nil unless w is a terminal
	decoder *term.Decoder
}

// At is a Sink for the file at path.
func At(path string) *Sink { return &Sink{Path: path} }

// ToFolder is a Sink for a file of a server's choosing in the folder dir, which
// replaces what is there. mkdirs has missing folders made.
func ToFolder(dir, name string, mkdirs bool) *Sink {
	return &Sink{Path: inFolder(dir, name), Served: name, clobber: plan.ClobberAlways, remote: true, named: true, mkdirs: mkdirs}
}

// File reports whether there is a file that has been opened.
func (s *Sink) File() bool { return s.file != nil }

// Filtered reports whether the octets go through a filter to a terminal. It opens
// the Sink.
func (s *Sink) Filtered() (bool, error) {
	err := s.Open()
	return s.safe != nil, err
}

// Columns is the width of the terminal that standard output is.
func (s *Sink) Columns() int { return term.Columns(s.out) }

// OnTerminal reports whether the octets are to be seen on the terminal.
func (s *Sink) OnTerminal() bool { return s.Path == "" && term.IsTerminal(s.out) }

// Open readies the Sink. It may be called again.
func (s *Sink) Open() error {
	if s.w != nil {
		return nil
	}
	stream := s.out
	switch {
	case s.Path != "":
		if err := s.create(); err != nil {
			return err
		}
		s.w, stream = s.file, s.file
	case s.portion != nil:
		s.w = s.portion
	default:
		s.w = s.out
	}
	if s.terminal(stream) {
		s.safe = term.NewWriter(s.w)
		s.decoder = term.NewDecoder(s.safe, s.Charset)
		s.w = &gate{w: s.decoder, open: s.named}
	}
	return nil
}

// terminal reports whether what goes to a stream is to be made safe for a terminal.
func (s *Sink) terminal(stream io.Writer) bool {
	if s.Raw || s.opened != nil && s.opened.Mode()&fs.ModeCharDevice == 0 {
		return false
	}
	return term.IsTerminal(stream)
}

// makeDirs makes the folders of what the user typed of the path, if that is wanted.
func makeDirs(s *Sink) error {
	if typed := strings.TrimSuffix(s.Path, s.Served); s.mkdirs && typed != "" {
		return os.MkdirAll(filepath.Dir(typed), 0o750)
	}
	return nil
}

func (s *Sink) create() (err error) {
	if s.remote && s.clobber != plan.ClobberNever {
		if info, err := s.stat(); err == nil && !info.Mode().IsRegular() {
			return irregular(s)
		}
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if s.append {
		flags &^= os.O_TRUNC
	}
	s.file, err = s.openFile(flags)
	if errors.Is(err, fs.ErrNotExist) && s.mkdirs {
		if err := makeDirs(s); err != nil {
			return err
		}
		s.file, err = s.openFile(flags)
	}
	if err != nil {
		return err
	}
	if s.opened, err = s.file.Stat(); err != nil {
		return err
	}
	if s.append {
		// Not O_APPEND: the kernel splices nothing into such a file.
		s.Base, err = s.file.Seek(0, io.SeekEnd)
	}
	return err
}

// Take copies all of body. An error of the output is no *fetch.Error.
func (s *Sink) Take(body io.Reader) error {
	if err := s.Open(); err != nil {
		return err
	}
	n, err := copyTo(s.w, body)
	s.Count += n
	if s.safe != nil && err == nil {
		err = errors.Join(s.decoder.Flush(), s.safe.Flush())
	}
	return s.blame(err)
}

// copyTo lets body write itself where it can, which may be without passing the
// octets through the program.
func copyTo(w io.Writer, body io.Reader) (written int64, err error) {
	if to, ok := body.(io.WriterTo); ok {
		return to.WriteTo(w)
	}
	return wire.Copy(w, body)
}

// blame makes err the output's where it can be no other's: what the kernel
// copies from one file to another fails without saying which of them it was.
func (s *Sink) blame(err error) error {
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EPIPE} {
		if errors.Is(err, errno) {
			return fault.Errorf(fault.Write, "write %s: %w", cmp.Or(s.Path, "standard output"), errno)
		}
	}
	return err
}

// Exists reports whether there is something in the place of the file.
func (s *Sink) Exists() bool {
	_, err := os.Lstat(s.Path)
	return s.Path != "" && err == nil
}

// Size is the length of the file that -C - goes on with; 0 without one.
func (s *Sink) Size() int64 {
	if s.Path == "" {
		return 0
	}
	if info, err := s.stat(); err == nil && info.Mode().IsRegular() {
		return info.Size()
	}
	return 0
}

// Rewind takes back what was written. It reports whether that was possible.
func (s *Sink) Rewind() bool {
	if s.Count == 0 {
		return true
	}
	if s.Path == "" && s.portion != nil && s.portion.Rewind() {
		s.w, s.safe, s.Count = nil, nil, 0
		return true
	}
	if s.file == nil || s.file.Truncate(s.Base) != nil {
		return false
	}
	_, err := s.file.Seek(s.Base, io.SeekStart)
	s.Count = 0
	return err == nil
}

// Close closes the file, if there is one.
func (s *Sink) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// sniffed is how many octets are searched for a NUL before they go to a
// terminal.
const sniffed = 4 << 10

var errBinary = errors.New("binary output not written to the terminal; use -o FILE, or -o - to write it anyway")

// gate keeps what is binary from a terminal.
type gate struct {
	w    io.Writer
	seen int
	open bool
}

func (g *gate) Write(p []byte) (int, error) {
	if n := min(len(p), sniffed-g.seen); !g.open && n > 0 {
		if bytes.IndexByte(p[:n], 0) >= 0 {
			return 0, errBinary
		}
		g.seen += n
	}
	return g.w.Write(p)
}

// UTF8 says that what comes is in UTF-8, whatever the document was in.
func (s *Sink) UTF8() { s.Charset, _ = term.CharsetNamed("utf-8") }
