package ftp

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// Some servers reply to REST with 350 and send the file from its beginning. What shows where a
// transfer started is the number of bytes up to the end of the file, the size in the reply to RETR,
// and the bytes before those that the caller asked for, which it compares (Request.Lead). Without
// these, the transfer is compared with one from the beginning (see proveStart).

// startsAt returns where the current transfer starts in the file.
func (b *body) startsAt() int64 { return max(b.begun.offset, b.a.req.Offset) }

// readLead reads the bytes of Request.Lead.
func (b *body) readLead() ([]byte, error) {
	if b.a.lead == 0 {
		return nil, nil
	}
	lead := make([]byte, b.a.lead)
	b.silent = true
	n, err := io.ReadFull(b, lead)
	b.silent, b.a.lead = false, 0
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = b.a.fail(fetch.OpSeek, &fetch.Error{Kind: fetch.ErrBadRange, Err: fmt.Errorf("offset %d is beyond the end of the file (%d bytes)", b.begun.offset+int64(len(lead)), b.begun.offset+int64(n))})
	}
	return lead, err
}

// checkStart checks, at the end of a transfer from an offset, that what came is the rest of the
// file. If more came, the file must have grown: SIZE is sent again.
func (b *body) checkStart() error {
	if b.startsAt() == 0 || !b.tally.known() {
		return nil
	}
	if !b.tally.whole() {
		if err := b.checkGrowth(); err != nil {
			return err
		}
	}
	b.s.restarts = true
	return nil
}

// ErrReplaced is in the error of a transfer from an offset, if the file has no longer the
// modification time from before the transfer.
var ErrReplaced = errors.New("the file has changed: its modification time is no longer that from before the transfer")

// checkTime checks, at the end of a transfer that continues an earlier one, that the file still has
// the modification time from before it: another one of the same size may have taken its place
// before RETR.
func (a *access) checkTime(s *session, then time.Time) error {
	now, err := s.modTime(a.name)
	switch {
	case err != nil && !refusal(err):
		return err
	case err == nil && now.Equal(then):
		return nil
	}
	return a.fail(a.verb, &fetch.Error{Kind: fetch.ErrTruncated, Err: ErrReplaced})
}

// checkGrowth sends SIZE and checks whether the file has grown by the bytes that came beyond its
// size. If fewer bytes came than the file has, it was not sent from its beginning. It may then have
// grown further.
func (b *body) checkGrowth() error {
	now := int64(-1)
	err := afterwards(b, func() (err error) { now, err = b.s.size(b.a.name); return err })
	if err != nil && !refusal(err) {
		return err
	}
	if end := b.begun.offset + b.tally.received; err == nil && (now == end || now > end && b.tally.received < b.begun.size) {
		return nil
	}
	return b.wrongStart()
}

// wrongStart returns the error of a download that did not begin at its offset.
func (b *body) wrongStart() error {
	err := fmt.Errorf("received %d bytes from byte %d of a file of %d bytes: the server ignores REST, or the file has changed", b.tally.received, b.begun.offset, b.begun.size)
	return b.a.fail(b.a.verb, &fetch.Error{Kind: fetch.ErrBadRange, Err: err})
}

// startKnown reports whether it is known, or checked by the caller, where the transfer started.
// Near the beginning of the file, a rounded size of the rest may be that of the whole.
func (b *body) startKnown() bool {
	rest, stated := b.begun.size-b.startsAt(), b.s.ctl.rest
	return b.led || b.begun.size >= 0 && (b.s.ctl.announced == rest ||
		stated >= 0 && b.startsAt() > 2*kbytesPrecision && max(rest-stated, stated-rest) <= kbytesPrecision)
}

// drainMax is how many bytes beyond a range are read to find out where the transfer started.
// To read a file to its end may cost more than the range.
const drainMax = 16 << 10

// endOfPart handles the end of a range whose transfer started at an offset. If the end of the file
// is near, it reads up to it and checks the number of bytes.
func (b *body) endOfPart() error {
	after := b.tally.missing()
	if !b.tally.known() || after > drainMax || after > 0 && b.startKnown() {
		return io.EOF
	}
	err := b.skipRest(max(0, after) + drainMax)
	if err == nil { // more came than the rest of the file
		if !b.s.transfers().abandon() {
			return b.wrongStart()
		}
		err = b.checkGrowth()
	}
	if err == nil {
		return io.EOF
	}
	return err
}

// skipRest reads up to the end of the transfer, and returns the error of its end. It returns nil if
// more than limit bytes come.
func (b *body) skipRest(limit int64) error {
	buf := make([]byte, 4<<10)
	for end := b.tally.received + limit; b.tally.received <= end; {
		if _, err := b.receive(buf); err != nil {
			return err
		}
	}
	return nil
}
