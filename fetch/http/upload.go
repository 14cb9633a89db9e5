package http

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// upload is the body of a request. The transport reads it on a goroutine of its
// own, perhaps after the answer has come; upload lets only the latest attempt
// read, and nobody once the fetch has ended.
type upload struct {
	ctx   context.Context
	r     io.Reader
	seek  io.Seeker // nil when r cannot be rewound
	start int64
	size  int64 // -1 when not known

	lock    chan struct{} // held while r is read
	current *attempt
	touched bool
	err     error // what r failed with
}

// newUpload returns nil for a nil r.
func newUpload(ctx context.Context, r io.Reader) *upload {
	if r == nil {
		return nil
	}
	u := &upload{ctx: ctx, r: r, size: -1, lock: make(chan struct{}, 1)}
	if s, ok := r.(io.Seeker); ok {
		if start, err := s.Seek(0, io.SeekCurrent); err == nil {
			end, err := s.Seek(0, io.SeekEnd)
			if _, back := s.Seek(start, io.SeekStart); err == nil && back == nil && end >= start {
				u.seek, u.start, u.size = s, start, end-start
			}
		}
	} else if l, ok := r.(interface{ Len() int }); ok {
		u.size = int64(l.Len())
	}
	return u
}

// acquire waits for a read in progress to end. It fails when the context is
// done, as the read may hang.
func (u *upload) acquire() error {
	select {
	case u.lock <- struct{}{}:
		return nil
	case <-u.ctx.Done():
		return context.Cause(u.ctx)
	}
}

func (u *upload) release() { <-u.lock }

// again reports whether the whole of u can be sent once more.
func (u *upload) again() bool {
	if u == nil {
		return true
	}
	if u.acquire() != nil {
		return false
	}
	defer u.release()
	return u.seek != nil || !u.touched
}

// attempt takes u from whoever reads it and starts from its beginning.
func (u *upload) attempt() (io.ReadCloser, error) {
	if err := u.acquire(); err != nil {
		return nil, err
	}
	defer u.release()
	if u.touched && u.seek == nil {
		return nil, errors.New("the body cannot be sent again")
	}
	if u.touched {
		if _, err := u.seek.Seek(u.start, io.SeekStart); err != nil {
			u.err = err
			return nil, err
		}
		u.touched = false
	}
	u.current = &attempt{u}
	return u.current, nil
}

// stop takes u from whoever reads it.
func (u *upload) stop() {
	if u == nil || u.acquire() != nil {
		return
	}
	u.current = nil
	u.release()
}

// failure is what reading u failed with.
func (u *upload) failure() error {
	if u == nil || u.acquire() != nil {
		return nil
	}
	defer u.release()
	return u.err
}

// An attempt is one sending of an upload.
type attempt struct{ u *upload }

func (a *attempt) Read(p []byte) (int, error) {
	if err := a.u.acquire(); err != nil {
		return 0, err
	}
	defer a.u.release()
	if a.u.current != a {
		return 0, errors.New("the request was given up")
	}
	a.u.touched = true
	n, err := a.u.r.Read(p)
	if err != nil && err != io.EOF {
		a.u.err = err
	}
	return n, err
}

func (a *attempt) Close() error { return nil }

// put makes u the body of a request.
func (u *upload) put(r *http.Request, l locator.Locator) error {
	if u == nil {
		return nil
	}
	body, err := u.attempt()
	if err != nil {
		return fetch.Fail(r.Method, l, fetch.LocalIO, err)
	}
	r.Body, r.ContentLength = body, u.size
	if u.size == 0 {
		r.Body = http.NoBody
	}
	if u.seek != nil {
		r.GetBody = u.attempt
	}
	// With a large body, or one that cannot be sent twice, it is worth asking
	// first: the answer may be a redirect or the wish for a password.
	if u.seek == nil && u.size != 0 || u.size > 1<<20 {
		r.Header.Set("Expect", "100-continue")
	}
	return nil
}
