package ftp

import (
	"context"
	"io"
)

// A restart starts the download of an access.
type restart func(a *access) (*session, begun, error)

// restarter returns a restart for accesses under ctx.
func (f *Fetcher) restarter(ctx context.Context) restart {
	return func(a *access) (s *session, b begun, err error) {
		s, err = f.do(ctx, a, func(s *session) error {
			b, err = a.begin(s)
			if err == nil && b.offset == 0 && !b.nothing && !a.ascii() {
				s.compareSize(&b)
			}
			return err
		})
		return s, b, err
	}
}

// retry resumes a transfer that failed because the server does not support pipelining.
// ok reports whether it has been resumed; err is the error to return from Read then,
// io.EOF if no data was missing. A file whose size has changed is not resumed.
func (b *body) retry() (err error, ok bool) {
	if b.restart == nil || !b.s.ctl.pipeliningFailed || b.s.ctl.Err == nil {
		return nil, false
	}
	req, a, restart := *b.a.req, *b.a, b.restart
	a.req, a.fellBack, b.restart = &req, false, nil
	if b.received > 0 {
		if a.listing() || a.ascii() || b.size < 0 {
			return nil, false
		}
		req.Offset = b.from + b.received
	}
	s, begun, err := restart(&a)
	switch {
	case err != nil:
		return nil, false
	case b.received > 0 && begun.size != b.size:
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
