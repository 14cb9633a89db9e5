package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/glob"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
)

// A sink is where the octets of one transfer go. It is opened when the first of
// them are there, so that a failure leaves an older file as it was.
type sink struct {
	path     string // of the file; "" is standard output
	remote   bool   // the path is a name that the URL gave
	mkdirs   bool
	append   bool // behind what is there
	raw      bool
	named    bool   // the user named it, be it "-"
	served   string // the end of the path that a server chose; "" is none
	nameless error  // why there is no name for the file yet
	clobber
	out     io.Writer
	portion *portion // of out, with -Z

	file   *os.File // nil before it is opened, and for standard output
	opened os.FileInfo
	base   int64 // where in the file the transfer's octets begin
	count  int64 // octets written
	w      io.Writer
	safe   *term.Writer // nil unless w is a terminal

	charset term.Charset
	decoder *term.Decoder
}

// onTerminal reports whether the octets are to be seen on the terminal.
func (s *sink) onTerminal() bool { return s.path == "" && term.IsTerminal(s.out) }

// open readies the sink. It may be called again.
func (s *sink) open() error {
	if s.w != nil {
		return nil
	}
	var stream any = s.out
	switch {
	case s.path != "":
		if err := s.create(); err != nil {
			return err
		}
		s.w, stream = s.file, s.file
	case s.portion != nil:
		s.w = s.portion
	default:
		s.w = s.out
	}
	if term.IsTerminal(stream) && !s.raw {
		s.safe = term.NewWriter(s.w)
		s.decoder = term.NewDecoder(s.safe, s.charset)
		s.w = &gate{w: s.decoder, open: s.named}
	}
	return nil
}

func (s *sink) create() (err error) {
	if typed := strings.TrimSuffix(s.path, s.served); s.mkdirs && typed != "" {
		if err := os.MkdirAll(filepath.Dir(typed), 0o750); err != nil {
			return err
		}
	}
	if info, err := s.stat(); s.remote && s.clobber != clobberNever && err == nil && !info.Mode().IsRegular() {
		return s.irregular()
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if s.append {
		flags &^= os.O_TRUNC
	}
	if s.file, err = s.openFile(flags); err != nil {
		return err
	}
	if s.opened, err = s.file.Stat(); err != nil {
		return err
	}
	if s.append {
		// Not O_APPEND: the kernel splices nothing into such a file.
		s.base, err = s.file.Seek(0, io.SeekEnd)
	}
	return err
}

// take copies all of body. An error of the output is no *fetch.Error.
func (s *sink) take(body io.Reader) error {
	if err := s.open(); err != nil {
		return err
	}
	n, err := copyTo(s.w, body)
	s.count += n
	if s.safe != nil && err == nil {
		err = errors.Join(s.decoder.Flush(), s.safe.Flush())
	}
	return s.blame(err)
}

// copySize is the buffer for octets that do pass through the program. A larger one
// makes the calls fewer.
const copySize = 128 << 10

// copyTo lets body write itself where it can, which may be without passing the
// octets through the program.
func copyTo(w io.Writer, body io.Reader) (int64, error) {
	if to, ok := body.(io.WriterTo); ok {
		return to.WriteTo(w)
	}
	return io.CopyBuffer(struct{ io.Writer }{w}, body, make([]byte, copySize))
}

// blame makes err the output's where it can be no other's: what the kernel
// copies from one file to another fails without saying which of them it was.
func (s *sink) blame(err error) error {
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EPIPE} {
		if errors.Is(err, errno) {
			return &codedError{exitWrite, fmt.Errorf("write %s: %w", cmp.Or(s.path, "standard output"), errno)}
		}
	}
	return err
}

// exists reports whether there is something in the place of the file.
func (s *sink) exists() bool {
	_, err := os.Lstat(s.path)
	return s.path != "" && err == nil
}

// size is the length of the file that -C - goes on with; 0 without one.
func (s *sink) size() int64 {
	if s.path == "" {
		return 0
	}
	if info, err := s.stat(); err == nil && info.Mode().IsRegular() {
		return info.Size()
	}
	return 0
}

// rewind takes back what was written. It reports whether that was possible.
func (s *sink) rewind() bool {
	if s.count == 0 {
		return true
	}
	if s.path == "" && s.portion != nil && s.portion.rewind() {
		s.w, s.safe, s.count = nil, nil, 0
		return true
	}
	if s.file == nil || s.file.Truncate(s.base) != nil {
		return false
	}
	_, err := s.file.Seek(s.base, io.SeekStart)
	s.count = 0
	return err == nil
}

func (s *sink) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// sniffed is how many octets are searched for a NUL before they go to a
// terminal.
const sniffed = 4 << 10

var errBinary = errors.New("binary output is no good on a terminal; write it to a file with -o FILE, or use -o - to have it here")

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

// sink is where the transfer's document goes.
func (t *transfer) newSink() (*sink, error) {
	s := &sink{charset: t.op.charset, out: t.std.out, portion: t.portion, raw: t.op.raw, mkdirs: t.op.createDirs, clobber: t.op.clobber, append: t.op.resume != resumeNot}
	name := t.dest.path
	if t.listed != nil {
		if typed, served := t.listedName(*t.listed); served != "" {
			name, s.served = typed+served, served
		}
	}
	switch {
	case s.served != "":
		s.remote = true
	case t.dest.remote:
		var err error
		if name, err = safeName(lastSegment(t.locator, t.url)); err != nil {
			if !t.op.remoteHeaderName || !isHTTP(t.locator) {
				return nil, err
			}
			s.nameless = err // the server may have a name
		}
		s.remote = true
	case t.dest.null:
		s.out, s.portion, s.named = io.Discard, nil, true
		return s, nil
	case name == "-":
		s.named = true
		return s, nil
	case name == "":
		return s, nil
	case !t.op.globOff:
		name = glob.FillIn(name, t.values)
	}
	if s.named = true; s.nameless == nil {
		s.path = t.inOutputDir(name)
	}
	return s, nil
}

// inOutputDir is a file's path where --output-dir wants it.
func (t *transfer) inOutputDir(name string) string {
	if t.op.outputDir == "" {
		return name
	}
	return strings.TrimSuffix(t.op.outputDir, "/") + "/" + name
}

func setOutput(c *commandLine, value string) error {
	if value == "" {
		return errors.New("expected the name of a file, or - for standard output")
	}
	c.op.outputs = append(c.op.outputs, destination{path: value})
	return nil
}

func setRemoteName(c *commandLine, value string) error {
	on, err := strconv.ParseBool(value)
	c.op.outputs = append(c.op.outputs, destination{remote: on})
	return err
}

// setNull is for a URL whose document nobody wants; as the others, it counts for
// one URL.
func setNull(c *commandLine, value string) error {
	on, err := strconv.ParseBool(value)
	c.op.outputs = append(c.op.outputs, destination{null: on})
	return err
}

func setCharset(c *commandLine, value string) (err error) {
	c.op.charset, err = term.CharsetNamed(value)
	return err
}
