package ftp

import (
	"context"
	"io"
)

// redo begins an access to us that is like another one.
type redo func(a *access) (*session, begun, error)

// beginner is the redo of accesses under ctx.
func (f *Fetcher) beginner(ctx context.Context) redo {
	return func(a *access) (s *session, b begun, err error) {
		s, err = f.do(ctx, a, func(s *session) error {
			b, err = a.begin(s)
			return err
		})
		return s, b, err
	}
}

// again goes on with a transfer that broke because the server does not cope with what
// was sent behind its command. ok tells whether that has been done; err is what the
// reader is told then, io.EOF where nothing was missing. A file of another size than
// before is another file.
func (b *body) again() (err error, ok bool) {
	if b.redo == nil || !b.s.ctl.outrun || b.s.ctl.Err == nil {
		return nil, false
	}
	req, a, redo := *b.a.req, *b.a, b.redo
	a.req, a.outran, b.redo = &req, false, nil
	if b.got > 0 {
		if a.listing() || a.ascii() || b.size < 0 {
			return nil, false
		}
		req.Offset = b.from + b.got
	}
	s, begun, err := redo(&a)
	switch {
	case err != nil:
		return nil, false
	case b.got > 0 && begun.size != b.size:
		s.End()
		return nil, false
	}
	b.free(b.s)
	b.s, b.a = s, &a
	if begun.nothing {
		b.release()
		return io.EOF, true
	}
	b.swap.Lock()
	defer b.swap.Unlock()
	b.data = s.data
	return nil, true
}
