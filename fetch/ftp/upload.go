package ftp

import (
	"cmp"
	"fmt"
	"io"

	"github.com/fetch1738/fetch1738/fetch"
)

// An upload is an access that stores what is read from src.
type upload struct {
	*access
	src *source
}

// upload performs an upload. The source is rewound for each attempt.
func (r runner) upload(u upload) (*fetch.Attributes, error) {
	a, closed := u.access, false
	list := func(s commands) []command { return s.upload(u) }
	s, err := r.do(a, list, func(s *session) error {
		err := u.conclude(s)
		closed = err != nil && isClosed(s.ctl.Err)
		return err
	})
	switch {
	case err == nil:
		r.release(s)
	case !closed || len(a.opt.PostQuote) > 0:
		return nil, err
	default:
		if err := r.concludeAnew(u); err != nil {
			return nil, err
		}
	}
	return &fetch.Attributes{Size: u.size()}, nil
}

// upload returns the commands of an upload.
func (s commands) upload(u upload) []command {
	rewind := command{do: func() error {
		if err := u.src.rewind(); err != nil {
			return u.fail(fetch.OpRead, &fetch.Error{Kind: fetch.ErrLocalIO, Err: err})
		}
		return nil
	}}
	return append(s.askPort(s.prepare(append([]command{rewind}, s.enter()...))), command{
		line: u.transferLine(u.name), alone: true, do: func() error { return u.sendData(s.session) },
	})
}

// sendData sends the data, with the command of the access.
func (u upload) sendData(s *session) error {
	a, src := u.access, u.src
	net := io.Reader(src)
	switch {
	case a.opt.CRLF:
		net = addCR(src)
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
	return s.run(commands{s}.quoted(nil, a.opt.PostQuote))
}

// concludeAnew is conclude in another session, because the server has closed the connection after
// the final reply, which stands. If there is no other session, or it ends in the same way, what is
// stored is not checked, as on a server that refuses SIZE.
func (r runner) concludeAnew(u upload) error {
	a := u.access
	if !a.opt.quotes() {
		s, err := r.do(a.after(), commands.enterOnly, nil)
		if err == nil {
			s.access = a
			err = u.conclude(s)
			closed := isClosed(s.ctl.Err)
			r.release(s)
			if err == nil || !closed {
				return err
			}
		}
		if r.ctx.Err() != nil {
			return err
		}
	}
	a.trace.Note("the server has closed the connection after the upload; what it has stored is not checked")
	return nil
}
