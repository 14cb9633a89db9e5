package ftp

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/fetch1738/fetch1738/fetch"
)

// If nothing shows where a transfer from an offset has started, and the session has not shown that
// its server obeys REST, what comes is compared with the beginning of the file. If they differ, the
// server obeys, also for further parts: that is a property of its program. If they are equal, that
// proves nothing, and the part is taken from a transfer without REST. The part is requested first,
// because the reply to RETR may show where it starts. Nothing is returned before, because a reader
// may stop before the end, and a Transport can still answer with the whole document.
const (
	heldMax      = 1 << 20  // a part of up to this many bytes is received once, and held meanwhile
	sampleSize   = 64 << 10 // of a larger part, which is requested again
	compareSize  = 4 << 10  // of what is compared at a time
	beginningMax = 4 << 20  // how many bytes before the part are received to reach it: users wait for them
)

// proveStart returns b, or the body of another transfer that takes its place. The caller closes it,
// also after an error.
func proveStart(b *body) (*body, error) {
	if b.begun.offset == 0 || b.s.restarts || b.startKnown() {
		return b, nil
	}
	all, size := b.tally.left > 0 && b.tally.left <= heldMax && !b.a.ascii(), int64(sampleSize)
	if all {
		size = b.tally.left
	}
	b.ahead.proving = true
	held, err := peek(b, size)
	if err == nil && all && b.tally.known() && b.tally.missing() <= drainMax {
		err = b.endOfPart() // the number of bytes up to the end of the file shows it
	}
	b.ahead.proving = false
	ended := err == io.EOF
	switch {
	case err != nil && !ended:
		b.ahead.end = err // of the first Read
		return b, nil
	case ended && b.tally.known(): // the number of bytes is right
		b.ahead = lookahead{held: held, end: b.conclude()}
		return b, nil
	}
	b.a.trace.Note("the replies do not show whether the server obeys REST: comparing what comes with the beginning of the file")
	beginning, err := another(b, 0)
	if err != nil {
		return b, err
	}
	equal, err := repeats(beginning, held[:min(int64(len(held)), b.begun.offset)])
	if err == nil && equal {
		err = skipTo(beginning, b.begun.offset)
		beginning.a.opt.PostQuote = b.a.opt.PostQuote
	}
	if err != nil || equal {
		return beginning, err
	}
	if beginning.s == b.s { // another session has shown nothing
		b.s.restarts = true
	}
	if !all && !ended {
		again, err := proveAgain(beginning, b.begun.offset, held)
		again.a.opt.PostQuote = b.a.opt.PostQuote
		return again, err
	}
	_ = beginning.data.Close()
	b.s, b.data, b.owns = beginning.s, beginning.data, beginning.owns
	b.ahead = lookahead{held: held, end: io.EOF}
	if ended {
		_ = b.s.transfers().abandon()
		b.ahead.end = b.conclude()
	}
	return b, nil
}

// proveAgain ends the transfer of b and returns the body of one from an offset, which must begin as
// the one before did.
func proveAgain(b *body, offset int64, begins []byte) (*body, error) {
	again, err := another(b, offset)
	if err != nil {
		return b, err
	}
	held, err := peek(again, int64(len(begins)))
	switch {
	case err != nil && err != io.EOF:
		return again, err
	case !bytes.Equal(held, begins):
		return again, changed(again)
	case err == nil:
		again.s.restarts = true
	}
	again.ahead = lookahead{held: held, end: err}
	return again, nil
}

// another ends the transfer of b and returns the body of another one of the same file. It takes
// another session if this one cannot be used any more.
func another(b *body, offset int64) (*body, error) {
	a, req := *b.a, *b.a.req
	if req.Offset = offset; req.Length == 0 {
		req.Length = 1 // it is not the whole file that the caller wants
	}
	quoted := a.opt.quotes()
	a.req, a.opt.Quote, a.opt.PreTransfer, a.opt.PostQuote, a.opt.Wanted, a.opt.ModTime = &req, nil, nil, nil, nil, false
	s, begun, err := b.s, download{}, errEnded
	if s.transfers().abandon() && (offset > 0 || clearOffset(s)) {
		s.access = &a
		if err = s.transfers().retrieve(offset); err != nil && s.ctl.Err == nil {
			return nil, err
		}
	}
	switch {
	case err == nil:
		b.owns = false
	case quoted: // these commands must not be sent again
		return nil, unproven(&a, err)
	default:
		b.release()
		if s, begun, err = b.runner.startDownload(&a); err != nil {
			return nil, err
		}
	}
	if begun.nothing {
		b.runner.release(s)
		return nil, changed(b)
	}
	next := newBody(b.runner, s, &a, download{size: b.begun.size, byReply: b.begun.byReply, asked: true, offset: offset})
	next.tally.left, next.begun.modTime, next.repeat, next.asks = b.tally.left, b.begun.modTime, repetition{tried: true}, false
	return next, nil
}

// clearOffset makes servers that keep the offset of a transfer that was ended early forget it. It
// reports whether the server has agreed.
func clearOffset(s *session) bool {
	r, err := s.ctl.exchange("REST 0")
	return err == nil && r.Code == 350
}

// peek receives n bytes, or fewer if the transfer ends; the error is that of its end.
func peek(b *body, n int64) (got []byte, err error) {
	got = make([]byte, n)
	at := 0
	for m := 0; at < len(got) && err == nil; at += m {
		m, err = b.receive(got[at:])
	}
	return got[:at], err
}

// repeats receives as many bytes as part has and reports whether they are equal. It stops at a
// difference.
func repeats(b *body, part []byte) (bool, error) {
	for len(part) > 0 {
		got, err := peek(b, min(int64(len(part)), compareSize))
		switch {
		case !bytes.Equal(got, part[:len(got)]):
			return false, nil
		case err != nil:
			return false, early(b, err)
		}
		part = part[len(got):]
	}
	return true, nil
}

// skipTo receives what is before an offset of the file.
func skipTo(b *body, offset int64) error {
	if offset > beginningMax {
		return unproven(b.a, fmt.Errorf("what it sends from byte %d on is the same as the beginning of the file", offset))
	}
	b.a.trace.Note("they are equal: reading the file from its beginning")
	for b.tally.received < offset {
		if _, err := peek(b, min(offset-b.tally.received, copySize)); err != nil {
			return early(b, err)
		}
	}
	return nil
}

// early returns the error of a transfer that ended, with err, before the requested part.
func early(b *body, err error) error {
	if err == io.EOF {
		return changed(b)
	}
	return err
}

// changed returns the error of a file of which two transfers do not fit together.
func changed(b *body) error {
	return b.a.fail(b.a.verb, &fetch.Error{Kind: fetch.ErrTruncated, Err: errors.New("the file has changed between two transfers")})
}

// unproven returns the error of a part of which it is not known where it starts.
func unproven(a *access, why error) error {
	return a.fail(fetch.OpSeek, &fetch.Error{Kind: fetch.ErrBadRange, Err: fmt.Errorf("cannot find out whether the server obeys REST: %w", why)})
}

var errEnded = errors.New("the session ended with the first transfer, and raw commands cannot be sent again")
