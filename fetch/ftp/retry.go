package ftp

import (
	"context"
	"errors"
	"hash/maphash"
	"io"

	"github.com/fetch1738/fetch1738/fetch"
)

// A restart starts the download of an access, or enters its directory if it has none.
type restart func(a *access) (*session, download, error)

// restarter returns a restart for accesses under ctx.
func restarter(ctx context.Context) restart {
	return func(a *access) (s *session, b download, err error) {
		s, err = a.pool.do(ctx, a, func(s *session) error {
			if a.verb == "" {
				return s.run(commands{s}.enterOnly())
			}
			err = s.run(commands{s}.download(&b))
			if err == nil && b.offset == 0 && !b.nothing && !a.ascii() {
				b.compareSize(s)
			}
			return err
		})
		return s, b, err
	}
}

// retry performs a transfer again, one command at a time, after pipelining has failed: then nothing
// that came is certain. The bytes that the caller has are compared with those that come now. ok
// reports whether the transfer was performed again; err is the error to return from Read then.
func (b *body) retry() (err error, ok bool) {
	if b.repeat.restart == nil || !b.s.ctl.pipeliningFailed || b.repeat.seen == nil {
		return nil, false
	}
	a, restart := *b.a, b.repeat.restart
	a.fellBack, b.repeat.restart = false, nil
	b.release()
	s, begun, err := restart(&a)
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
	if err == nil || !isClosed(b.s.ctl.Err) || b.repeat.restart == nil || b.a.opt.quotes() {
		return err
	}
	b.release() // first: the server may have one session at a time
	s, _, failed := b.repeat.restart(b.a.after())
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
