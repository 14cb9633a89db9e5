// Package output writes documents to files, whose names a server may choose, and to
// standard output, also for several transfers in parallel.
package output

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A Sink is the output of one transfer. It is opened when the first bytes arrive, so that
// a failure before that leaves an existing file unchanged. The zero Sink accepts nothing.
type Sink struct {
	Path    string          // of the file; "" means standard output
	Served  string          // the end of Path that a server chose, or ""
	Charset charset.Charset // of text shown on a terminal
	Raw     bool            // do not filter output to terminals
	Count   int64           // bytes written
	Base    int64           // offset in the file of the first byte written

	disk     disk.Disk // if nil, the system's
	existing existing
	remote   bool  // Path is a name from the URL
	named    bool  // the user named it; "-" counts
	nameless error // why the file has no name yet
	out      io.Writer
	portion  *Portion // of out, with parallel transfers
	tail     *tail    // of what goes to no file; nil without --retry

	sized  bool         // Base is the size that the file had when the transfer began
	file   *disk.Locked // nil until it is opened, and for standard output
	part   *Sink        // the file of --segments, or nil
	opened fs.FileInfo
	w      io.Writer
	screen screen
}

// A screen is the filter of a terminal. The zero screen is that of a Sink that goes to none.
type screen struct {
	safe *term.Writer
	text io.WriteCloser // decodes what goes there; nil before a text and after it
}

// decode returns the writer of a text in a charset, or of the rest of one.
func (s *screen) decode(w io.Writer, c charset.Charset) io.Writer {
	if s.text == nil {
		s.text = c.Writer(w)
	}
	return s.text
}

// end writes what is held of a text.
func (s *screen) end() error {
	if s.text == nil {
		return nil
	}
	err := errors.Join(s.text.Close(), s.safe.Flush())
	s.text = nil
	return err
}

// At returns a Sink for the file at path.
func At(path string) *Sink { return &Sink{Path: path} }

// File reports whether a file has been opened.
func (s *Sink) File() bool { return s.file != nil }

// Filtered reports whether the output is filtered for a terminal. It opens the Sink.
func (s *Sink) Filtered() (bool, error) {
	err := s.Open()
	return s.screen.safe != nil, err
}

// Columns returns the width of the terminal of standard output.
func (s *Sink) Columns() int { return term.Columns(s.out) }

// OnTerminal reports whether the output goes to the terminal.
func (s *Sink) OnTerminal() bool {
	return s.Path == "" && s.nameless == nil && term.IsTerminal(s.out)
}

// Open opens the Sink. Further calls do nothing.
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
		s.w, stream = s.file.File, s.file.File // an *os.File can be a terminal
	case s.portion != nil:
		s.w = s.portion
	default:
		s.w = s.out
	}
	if s.terminal(stream) {
		s.screen.safe = term.NewWriter(s.w)
		s.w = &gate{w: s.screen.safe, open: s.named}
	}
	return nil
}

// terminal reports whether output to a stream must be filtered for a terminal.
func (s *Sink) terminal(stream io.Writer) bool {
	if s.Raw || s.opened != nil && s.opened.Mode()&fs.ModeCharDevice == 0 {
		return false
	}
	return term.IsTerminal(stream)
}

// makeDirs creates the directories of the part of the path that the user typed, for
// --create-dirs.
func makeDirs(s *Sink) error {
	if typed := strings.TrimSuffix(s.Path, s.Served); s.existing.mkdirs && typed != "" {
		return disk.Or(s.disk).MkdirAll(filepath.Dir(typed), 0o750)
	}
	return nil
}

// create opens or creates the file, and its directories if that is permitted.
func (s *Sink) create() error {
	if s.remote && s.existing.clobber != plan.ClobberNever {
		if info, err := s.stat(); err == nil && !info.Mode().IsRegular() {
			return irregular(s)
		}
	}
	file, err := openFile(s)
	if errors.Is(err, fs.ErrNotExist) && s.existing.mkdirs {
		if err := makeDirs(s); err != nil {
			return err
		}
		file, err = openFile(s)
	}
	if err != nil {
		return err
	}
	if err := begin(s, file); err != nil {
		_ = file.Close()
		return err
	}
	s.file = file
	return nil
}

// begin empties the file, or seeks to its end.
func begin(s *Sink, file *disk.Locked) (err error) {
	s.opened = file.Info
	if !s.existing.append {
		if s.opened.Mode().IsRegular() && s.opened.Size() > 0 {
			return file.Truncate(0)
		}
		return nil
	}
	// Not O_APPEND: the kernel cannot splice into such a file.
	end, err := file.Seek(0, io.SeekEnd)
	if err == nil && s.sized && end != s.Base {
		err = localerr.Errorf(localerr.Resume, "cannot resume: another process has changed the size of %s from %d to %d bytes", s.Path, s.Base, end)
	}
	s.Base = end
	return err
}

// Take copies all of body. On a terminal that is a text of its own in s.Charset, or the rest of one
// that broke off. If body turns out to be another part of the document than requested, it is
// discarded. An error of the output is not a *fetch.Error.
func (s *Sink) Take(body io.Reader) error {
	if err := s.Open(); err != nil {
		return err
	}
	if s.tail != nil && s.Path == "" {
		body = &tailed{body, s.tail}
	}
	w := s.w
	if s.screen.safe != nil {
		w = s.screen.decode(w, s.Charset)
	}
	n, err := copyTo(w, body)
	s.Count += n
	if errors.Is(err, fetch.ErrBadRange) {
		s.Rewind()
	}
	if err == nil {
		err = s.screen.end()
	}
	return s.blame(err)
}

// TakeHead copies the head or the trailer of a response, which is not in the charset of its text.
func TakeHead(s *Sink, head []byte) error {
	text, named := s.screen.text, s.Charset
	defer func() { s.screen.text, s.Charset = text, named }()
	s.screen.text, s.Charset = nil, charset.Charset{}
	return s.Take(bytes.NewReader(head))
}

// copyTo copies body. If body is an io.WriterTo, the bytes may not pass through the
// program.
func copyTo(w io.Writer, body io.Reader) (written int64, err error) {
	if to, ok := body.(io.WriterTo); ok {
		return to.WriteTo(w)
	}
	return wire.Copy(w, body)
}

// blame attributes err to the output if no other cause is possible: when the kernel
// copies from one file to another, its error does not say which one failed.
func (s *Sink) blame(err error) error {
	if errors.Is(err, archive.ErrNotRecorded) {
		return err
	}
	for _, errno := range append(stdio.ClosedPipe(), syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EBADF) {
		if errors.Is(err, errno) {
			if s.Path == "" {
				return stdio.OutputError(errno)
			}
			return localerr.Errorf(localerr.Write, "write %s: %w", s.Path, errno)
		}
	}
	_, wrote := errors.AsType[*fs.PathError](err)
	if _, received := errors.AsType[*fetch.Error](err); wrote && !received && s.Path == "" {
		return stdio.OutputError(err)
	}
	return err
}

// Exists reports whether there is a file, of any type, at the path.
func (s *Sink) Exists() bool {
	_, err := disk.Or(s.disk).Lstat(s.Path)
	return s.Path != "" && err == nil
}

// Resume returns the size of the file that -C resumes, at which it continues. If that size
// changes before the Sink is opened, opening it fails.
func (s *Sink) Resume() int64 {
	if s.file == nil {
		s.Base, s.sized = s.Size(), true
	}
	return s.Base
}

// Size returns the size of the file, or 0.
func (s *Sink) Size() int64 {
	if s.Path == "" {
		return 0
	}
	if info, err := s.stat(); err == nil && info.Mode().IsRegular() {
		return info.Size()
	}
	return 0
}

// Rewind discards what was written. It reports whether that was possible.
func (s *Sink) Rewind() bool {
	if s.Count == 0 {
		return true
	}
	if s.Path == "" && s.portion != nil && s.portion.Rewind() {
		s.w, s.screen, s.Count = nil, screen{}, 0
		return true
	}
	if s.file == nil || s.file.Truncate(s.Base) != nil {
		return false
	}
	_, err := s.file.Seek(s.Base, io.SeekStart)
	s.Count = 0
	return err == nil
}

// Flush returns the errors of writing. It is called before SetTime and Remove, and Close
// after them: no other process writes to the file until then.
func (s *Sink) Flush() error {
	if s.part != nil {
		_ = s.part.Flush() // the transfer has failed
	}
	if s.file == nil {
		return nil
	}
	return s.file.Flush()
}

// Close closes the file, if any. A terminal gets what is held of a text that broke off.
func (s *Sink) Close() error {
	if s.part != nil {
		_ = s.part.Close()
	}
	err := s.screen.end()
	if s.file == nil {
		return err
	}
	return cmp.Or(err, s.file.Close())
}

// sniffed is how many bytes of decoded text are searched for a NUL before they go to a terminal.
const sniffed = 4 << 10

var errBinary = errors.New("binary output not written to the terminal; use -o FILE, or -o - to write it anyway")

// gate keeps binary data from a terminal.
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

// UTF8 sets the charset to UTF-8, for text that has been converted.
func (s *Sink) UTF8() { s.Charset, _ = charset.Named("utf-8") }
