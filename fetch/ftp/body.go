package ftp

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A body reads the data of a transfer. It returns io.EOF only if three conditions hold: the
// data connection has ended, the server has reported that the transfer is complete, and at
// least the announced number of bytes was received. More may come, because a file may grow
// during the transfer; see checkStart. Close may be called concurrently with the other methods.
type body struct {
	runner runner
	mu     sync.Mutex
	s      *session
	a      *access
	owns   bool // the session, until release
	data   *dataConn
	swap   sync.Mutex // held, together with mu, to change data: Close needs data while a Read holds mu
	src    io.Reader  // data, or its text with local newlines
	begun  download   // its modTime is set if the transfer continues an earlier one
	tally  tally
	ahead  lookahead
	repeat repetition
	asks   bool  // the port of the next transfer may be requested at the end
	led    bool  // the caller compares the bytes before those that it asked for
	silent bool  // the Trace does not count what is received
	err    error // what every further Read returns
}

// A tally compares the bytes that the server has sent with those that it will send.
type tally struct {
	received int64
	expected int64 // -1 if not known
	maxExtra int64 // how many more than expected may come
	askLater bool  // expected is not known: SIZE is sent after the transfer
	left     int64 // bytes until Request.Length is reached; -1 means no limit
}

// known reports whether it is known how many bytes will come.
func (t *tally) known() bool { return t.expected >= 0 }

// whole reports whether as many have come as are expected.
func (t *tally) whole() bool { return t.known() && t.received == t.expected }

// missing returns how many have not come; it is less than 0 if more have come.
func (t *tally) missing() int64 { return t.expected - t.received }

// A lookahead is what has been received before Read asked for it, and the end that follows it, if that
// is known.
type lookahead struct {
	held    []byte
	end     error
	proving bool // more is to be sent when the transfer is complete
}

// A repetition is what it takes to perform a transfer again.
type repetition struct {
	tried bool          // or it must not be
	seen  *maphash.Hash // of the received bytes; nil if they are not compared
}

// newBody returns the Body of a download that has been started. It releases the session at the end.
func newBody(r runner, s *session, a *access, b download) *body {
	body := &body{
		runner: r, s: s, a: a, owns: true, data: s.data, begun: b, led: a.lead > 0,
		tally: tally{expected: -1, maxExtra: maxGrowth, left: -1},
	}
	body.src = wire.ReaderFunc(body.receive)
	body.data.whole = func() bool { // also by what the reply to RETR says: the file may be another one since SIZE
		stated := s.ctl.announced
		return body.tally.whole() && (stated < 0 || stated == body.tally.expected || stated == body.begun.size)
	}
	if b.offset <= 0 {
		body.begun.modTime = time.Time{}
	}
	if s.pipelines() {
		body.repeat.seen, body.asks = new(maphash.Hash), s.transfers().mayRequestNextPort()
	}
	if a.ascii() {
		body.src = newLocalText(body.src)
	} else if b.size >= 0 {
		body.tally.expected = b.size - b.offset
	} else {
		body.tally.askLater = !b.asked && a.wantsSize(s)
	}
	if a.req.Length > 0 {
		body.tally.left = a.req.Length
	}
	// An offset from the end means bytes of the file as it was when the server sent the size.
	if (a.req.Offset < 0 || a.opt.EndAtSize) && body.tally.known() {
		body.tally.left = body.tally.expected
		if a.req.Length > 0 {
			body.tally.left = min(body.tally.left, a.req.Length)
		}
	}
	return body
}

// maxGrowth is how many bytes a file may have beyond its announced size. A server that sends
// more is assumed never to stop.
const maxGrowth = 64 << 20

// receive reads from the data connection and counts the bytes. Its errors are those for the caller.
func (b *body) receive(p []byte) (int, error) {
	if len(b.ahead.held) > 0 {
		n := copy(p, b.ahead.held)
		b.ahead.held = b.ahead.held[n:]
		return n, nil
	}
	for b.ahead.end == nil {
		n, err := b.data.Read(p)
		b.tally.received += int64(n)
		if b.repeat.seen != nil {
			_, _ = b.repeat.seen.Write(p[:n])
		}
		if err = b.readError(err); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, b.ahead.end
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil && b.tally.left == 0 {
		b.err = b.endOfRange()
	}
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	if b.tally.left > 0 && int64(len(p)) > b.tally.left {
		p = p[:b.tally.left]
	}
	n, err := b.src.Read(p)
	b.returned(int64(n))
	if n > 0 && !b.silent {
		b.a.trace.Octets(p[:n])
	}
	b.err = err
	return n, b.err
}

// returned records n bytes that are returned to the caller.
func (b *body) returned(n int64) {
	if n > 0 && !b.silent {
		b.a.trace.Body(n)
	}
	if b.tally.left > 0 {
		b.tally.left -= n
	}
}

// readError returns the error for the caller after a read of the data returned err.
func (b *body) readError(err error) error {
	switch {
	case b.tally.known() && -b.tally.missing() > b.tally.maxExtra:
		if b.startsAt() > 0 {
			return b.wrongStart()
		}
		err := fmt.Errorf("received %d bytes; server announced %d", b.tally.received, b.tally.expected)
		return b.a.fail(b.a.verb, &fetch.Error{Kind: fetch.ErrProtocol, Err: err})
	case err == nil:
		return nil
	case err == io.EOF:
		return b.complete()
	}
	err = b.data.Cause(err)
	if b.s.ctl.pending() {
		_ = b.s.transfers().finish(false) // the control connection may have failed, too
		if err, ok := b.retry(); ok {
			return err
		}
	}
	if kind := fetch.KindOf(err); kind != fetch.ErrTimeout && kind != fetch.ErrCanceled {
		broken := &fetch.Error{Kind: fetch.ErrTruncated, Err: err}
		if !errors.Is(err, net.ErrClosed) && explains(b.s.ctl) {
			if e, ok := errors.AsType[*fetch.Error](b.s.transfers().finish(false)); ok {
				broken.Code, broken.Reply = e.Code, e.Reply
			}
		}
		err = broken
	}
	return b.withCause(b.a.fail(b.a.verb, err))
}

// withCause adds the likely cause to err if no data has been received.
func (b *body) withCause(err error) error {
	if b.tally.received > 0 {
		return err
	}
	return b.data.withCause(err)
}

// complete checks, at the end of the data, the server's final reply and the number of
// bytes. It returns io.EOF if the transfer is complete.
func (b *body) complete() error {
	b.tally.askLater = b.tally.askLater || b.data.over && b.tally.known() && b.s.ctl.announced < 0 // the file may have grown since SIZE, and the rest be on its way
	more := b.tally.askLater || b.tally.known() && !b.tally.whole() || !b.begun.modTime.IsZero()   // commands
	if err := b.s.transfers().finish(b.asks && b.repeat.seen != nil && !more); err != nil {
		if err, ok := b.retry(); ok {
			return err
		}
		if e, ok := errors.AsType[*fetch.Error](err); ok && isTruncation(e, b.tally.received) {
			e.Kind = fetch.ErrTruncated
		}
		return b.withCause(err)
	}
	if b.tally.askLater {
		_ = afterwards(b, func() error {
			n, err := b.s.size(b.a.name)
			if err == nil {
				b.tally.expected = n
			}
			return err
		})
	}
	if b.tally.known() && b.tally.missing() > 0 {
		return b.a.fail(b.a.verb, &fetch.Error{Kind: fetch.ErrTruncated, Err: fmt.Errorf("received %d of %d bytes", b.tally.received, b.tally.expected)})
	}
	if err := b.checkStart(); err != nil {
		return err
	}
	if !b.begun.modTime.IsZero() {
		if err := afterwards(b, func() error { return b.a.checkTime(b.s, b.begun.modTime) }); err != nil {
			return err
		}
	}
	if b.ahead.proving {
		return io.EOF
	}
	return b.conclude()
}

// retry performs a transfer again, one command at a time, after pipelining has failed: then nothing
// that came is certain. The bytes that the caller has are compared with those that come now. ok
// reports whether the transfer was performed again; err is the error to return from Read then.
func (b *body) retry() (err error, ok bool) {
	if b.repeat.tried || !b.s.ctl.pipeliningFailed || b.repeat.seen == nil {
		return nil, false
	}
	a := *b.a
	a.fellBack, b.repeat.tried = false, true
	b.release()
	s, begun, err := b.runner.startDownload(&a)
	if err != nil {
		return err, true
	}
	b.s, b.a, b.owns = s, &a, true
	if begun.nothing && b.tally.received == 0 {
		b.release()
		return io.EOF, true
	}
	b.swap.Lock()
	b.data, s.data.whole = s.data, b.data.whole
	b.swap.Unlock()
	if changed := b.begun.size >= 0 && begun.size >= 0 && begun.size != b.begun.size; changed || begun.nothing || !b.repeatsReceived() {
		return a.fail(a.verb, &fetch.Error{Kind: fetch.ErrTruncated, Err: errDiffers}), true
	}
	b.repeat.seen = nil
	return nil, true
}

// afterwards calls do, which sends commands after the final reply. If the server has closed the
// connection after that reply, it calls do again in another session.
func afterwards(b *body, do func() error) error {
	err := do()
	if err == nil || !isClosed(b.s.ctl.Err) || b.repeat.tried || b.a.opt.quotes() {
		return err
	}
	b.release() // first: the server may have one session at a time
	s, failed := b.runner.do(b.a.after(), commands.enterOnly, nil)
	if failed != nil {
		return err
	}
	s.access, b.s, b.owns = b.a, s, true
	return do()
}

var errDiffers = errors.New("pipelining failed, and the second transfer differs from the first")

// repeatsReceived reads as many bytes as have been received before, and reports whether they are
// the same.
func (b *body) repeatsReceived() bool {
	var again maphash.Hash
	again.SetSeed(b.repeat.seen.Seed())
	_, err := io.CopyN(&again, b.data, b.tally.received)
	return err == nil && again.Sum64() == b.repeat.seen.Sum64()
}

// isTruncation reports whether e, with which a download ended after a number of bytes, means that a
// part is missing. If nothing has come, it is a refusal, unless the connection broke.
func isTruncation(e *fetch.Error, received int64) bool {
	switch e.Kind {
	case fetch.ErrTimeout, fetch.ErrCanceled, fetch.ErrProtocol:
		return false
	}
	return e.Code/100 != 2 && (received > 0 || e.Code == 0 || e.Code == 426)
}

// conclude sends what is to be sent after a complete transfer.
func (b *body) conclude() error {
	if err := b.s.run(commands{b.s}.quoted(nil, b.a.opt.PostQuote)); err != nil {
		return err
	}
	b.release()
	return io.EOF
}

// endOfRange handles the end of the requested range. If it is also the end of the file,
// the transfer is checked for completeness; otherwise Close aborts the transfer.
func (b *body) endOfRange() error {
	if b.ahead.end != nil {
		return b.ahead.end
	}
	if b.startsAt() > 0 {
		return b.endOfPart()
	}
	if !b.tally.whole() {
		return io.EOF
	}
	stated := b.s.ctl.announced // before the end of the data, which releases the session
	n, err := b.src.Read(make([]byte, 1))
	switch {
	case n == 0:
		return err
	case b.begun.offset == 0 && stated >= 0 && stated != b.tally.expected: // by the reply to RETR
		err := fmt.Errorf("the file has changed: it had %d bytes before the transfer, and %d when that began", b.tally.expected, stated)
		return b.a.fail(b.a.verb, &fetch.Error{Kind: fetch.ErrTruncated, Err: err})
	case b.a.opt.EndAtSize && (stated < 0 || b.begun.byReply): // perhaps it grows, or it is another one, or the size is wrong
		err := fmt.Errorf("the file has changed: it had %d bytes before the transfer, and has more now", b.tally.expected)
		return b.a.fail(b.a.verb, &fetch.Error{Kind: fetch.ErrTruncated, Err: err})
	}
	return io.EOF // it grows
}

// release ends the use of the session. Further calls do nothing.
func (b *body) release() {
	if b.owns {
		b.runner.release(b.s)
		b.owns = false
	}
}

// Close implements io.Closer. It aborts a transfer that has not ended, within one second. The
// session of such a transfer is reused only if the requested range was received, or the server is
// known to obey REST, and it replies in that time.
func (b *body) Close() error {
	b.swap.Lock()
	b.data.Close() // unblocks Read
	b.swap.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = os.ErrClosed
	}
	if b.owns && !b.s.tainted && b.s.entry != "" && (b.tally.left == 0 || b.ahead.end != nil || b.s.restarts) {
		b.s.transfers().abandon()
	}
	b.release()
	return nil
}
