package ftp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// An upload is an access that stores what is read from src.
type upload struct {
	*access
	src *source
}

// upload returns the commands of an upload.
func (s commands) upload(u upload) []command {
	return append(s.askPort(s.prepare(s.enter())), command{
		line: u.transferLine(u.name), alone: true, do: func() error { return u.send(s.session) },
	})
}

// send sends the data, with the command of the access.
func (u upload) send(s *session) error {
	a, src := u.access, u.src
	net := io.Reader(src)
	switch {
	case a.opt.CRLF:
		net = withCR(src)
	case a.ascii():
		net = newNetText(src)
	}
	err := s.transfers().store(net, a.req.Offset)
	switch {
	case s.ctx.Err() != nil:
		return a.fail(a.verb, s.ctx.Err())
	case src.err != nil:
		s.tainted = true // the state of the server is not known
		return a.fail(fetch.OpRead, &fetch.Error{Kind: fetch.ErrLocalIO, Err: src.err})
	}
	return err
}

// size returns the size that the file has after the upload; -1 if it is not known.
func (u upload) size() int64 {
	if u.verb == "STOR" && !u.ascii() && !u.opt.CRLF {
		return u.req.Offset + u.src.n
	}
	return -1
}

// conclude sends what is to be sent after an upload. It checks what the server has stored.
func (u upload) conclude(s *session) error {
	a := u.access
	if size := u.size(); size >= 0 {
		if err := u.checkStored(s, size); err != nil {
			return err
		}
	}
	if listed, err := s.transfers().lists(a.name); err != nil || !listed {
		return cmp.Or[error](err, a.fail(a.verb, notListed(a.name)))
	}
	if err := u.setModTime(s); err != nil {
		return err
	}
	return s.run(commands{s}.raw(nil, a.opt.PostQuote))
}

// concludeAnew is conclude in another session, because the server has closed the connection after
// the final reply, which stands. If there is no other session, or it ends in the same way, what is
// stored is not checked, as on a server that refuses SIZE.
func (u upload) concludeAnew(ctx context.Context) error {
	a := u.access
	if !a.opt.quotes() {
		s, _, err := restarter(ctx)(a.after())
		if err == nil {
			s.access = a
			err = u.conclude(s)
			closed := isClosed(s.ctl.Err)
			a.pool.release(s)
			if err == nil || !closed {
				return err
			}
		}
		if ctx.Err() != nil {
			return err
		}
	}
	a.trace.Note("the server has closed the connection after the upload; what it has stored is not checked")
	return nil
}

// checkStored compares the size that the server now states with that of the upload. A server may
// end a transfer with 226 although it has stored a part only, and what it did not read is no error
// of the connection. A server that does not know SIZE, or takes the file away at once, is believed.
func (u upload) checkStored(s *session, want int64) error {
	a := u.access
	if a.exact || a.opt.Unchecked {
		return nil
	}
	switch n, err := s.size(a.name); {
	case refusal(err), err == nil && (n < 0 || n == want || n > want && a.req.Offset > 0): // a longer file keeps its end
		return nil
	case err != nil:
		return err
	default:
		return a.fail(a.verb, &fetch.Error{Kind: fetch.ErrTruncated, Err: fmt.Errorf("the server says that it has %d of %d bytes", n, want)})
	}
}

// setModTime sets the modification time of the file, if the server supports it.
func (u upload) setModTime(s *session) error {
	if u.opt.SetModTime.IsZero() {
		return nil
	}
	stamp, name := u.opt.SetModTime.UTC().Format("20060102150405"), s.spelled(u.name)
	for _, command := range []string{
		"MFMT " + stamp + " " + name,
		fmt.Sprintf("SITE UTIME %s %[2]s %[2]s %[2]s UTC", name, stamp),
	} {
		if r, err := s.ctl.exchange(command); err != nil || r.Class() == 2 {
			return s.failure(err)
		}
	}
	s.ctl.Trace.Note("modification time not set: the server supports neither MFMT nor SITE UTIME")
	return nil
}

// A source reads the data to upload. It records its own error.
type source struct {
	r     io.Reader
	file  *os.File // r, if it is a regular file, which the kernel can send
	start int64    // the offset in r, or -1 if it cannot be read again
	n     int64
	err   error
	trace *fetch.Trace
}

// newSource returns a source of r. One that can seek starts at its current position.
func newSource(r io.Reader, trace *fetch.Trace) *source {
	s := &source{r: r, start: -1, trace: trace}
	if f, ok := r.(*os.File); ok {
		s.file = wire.RegularFile(f)
	}
	if seeker, ok := r.(io.Seeker); ok {
		if at, err := seeker.Seek(0, io.SeekCurrent); err == nil {
			s.start = at
		}
	}
	return s
}

// rewind returns to the start, for another attempt.
func (s *source) rewind() error {
	if s.n == 0 {
		return nil
	}
	if s.start < 0 {
		return errors.New("the data to upload cannot be read again")
	}
	s.n = 0
	_, err := s.r.(io.Seeker).Seek(s.start, io.SeekStart)
	return err
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.count(int64(n))
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// count records n bytes that were read.
func (s *source) count(n int64) {
	s.n += n
	if n > 0 {
		s.trace.Body(n)
	}
}

// sendFile sends the rest of a file in the kernel.
func (d *dataConn) sendFile(src *source) (sent int64, err error) {
	for n := int64(sendSize); n == sendSize; {
		n, err = d.SendFile(src.file, sendSize)
		src.count(n)
		sent += n
		if _, ofFile := err.(*fs.PathError); ofFile {
			src.err = err
			d.abort()
		}
		if err != nil {
			return sent, err
		}
	}
	d.sent = true
	return sent, nil
}

// sendSize is how many bytes of a file are sent before progress is reported.
const sendSize = 1 << 20
