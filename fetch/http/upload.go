package http

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/http/internal/exchange"
	"github.com/fetch1738/fetch1738/locator"
)

// largeBody is the size above which the request waits for "100 Continue".
const largeBody = 1 << 20

var errAbandoned = errors.New("the request was canceled")

// upload is the body of a request, which may have to be sent several times, and may be read even after
// the response has arrived. upload lets only the latest attempt read.
type upload struct {
	hooks *exchange.Hooks
	r     io.Reader
	seek  io.Seeker // if nil, r cannot be rewound
	start int64
	size  int64 // -1 if unknown

	reading sync.Mutex // held while r is read

	mu      sync.Mutex
	current *attempt
	started bool  // r has been read from
	whole   bool  // r has been read to its end, by the latest attempt
	traced  int64 // how many bytes have been reported to the Trace
	err     error // the read error of r
}

// newUpload returns nil for a nil r.
func newUpload(h *exchange.Hooks, r io.Reader) *upload {
	if r == nil {
		return nil
	}
	u := &upload{hooks: h, r: r, size: -1}
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

// setBodyOf makes u the body of a request.
func (u *upload) setBodyOf(r *http.Request, l locator.Locator) error {
	if u == nil {
		return nil
	}
	body, err := u.attempt()
	if err != nil {
		return driver.Fail(fetch.Op(r.Method), l, fetch.ErrLocalIO, err)
	}
	r.Body, r.ContentLength = body, u.size
	if u.size == 0 {
		r.Body = http.NoBody
	}
	if u.seek != nil {
		r.GetBody = u.attempt
	}
	// The response may be a redirect, or request a login.
	if u.seek == nil && u.size != 0 || u.size > largeBody {
		r.Header.Set("Expect", "100-continue")
	}
	return nil
}

// CanResend reports whether all of u can be sent once more.
func (u *upload) CanResend() bool {
	if u == nil {
		return true
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.seek != nil || !u.started
}

// attempt ends the current attempt and starts another at the beginning of u.
func (u *upload) attempt() (io.ReadCloser, error) {
	if !u.CanResend() {
		return nil, ErrRewind
	}
	u.stop()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.started {
		if _, err := u.seek.Seek(u.start, io.SeekStart); err != nil {
			u.err = err
			return nil, err
		}
		u.started = false
	}
	u.whole = false
	u.current = &attempt{u: u}
	return u.current, nil
}

// checkSent returns an error if a response of success to PUT came before u was sent: the server
// cannot have what it says it has. What other methods do with a body is the server's affair.
func (u *upload) checkSent(resp *http.Response) error {
	if u == nil || u.size == 0 || resp.StatusCode/100 != 2 || resp.Request.Method != http.MethodPut {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.whole {
		return nil
	}
	return fmt.Errorf("the server replied %s before the document was sent", fetch.Printable(resp.Status))
}

// stop ends the current attempt. It does not wait for a read that may hang.
func (u *upload) stop() {
	if u == nil {
		return
	}
	u.mu.Lock()
	u.current = nil
	u.mu.Unlock()
	if u.size >= 0 {
		u.reading.Lock() // a read in progress ends soon
		defer u.reading.Unlock()
	}
}

// failure returns the error of reading u.
func (u *upload) failure() error {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

// An attempt is one sending of an upload.
type attempt struct {
	u  *upload
	at int64 // bytes read
}

func (a *attempt) Close() error { return nil } // the next attempt reads the same source

// Read reads from the source, unless another attempt has begun. The Trace is told of each byte of
// the source once.
func (a *attempt) Read(p []byte) (int, error) {
	u := a.u
	u.reading.Lock()
	defer u.reading.Unlock()
	u.mu.Lock()
	mine := u.current == a
	u.started = u.started || mine
	u.mu.Unlock()
	if !mine {
		return 0, errAbandoned
	}
	n, err := u.r.Read(p)
	u.mu.Lock()
	a.at += int64(n)
	u.whole = err == io.EOF || a.at == u.size
	more := a.at - u.traced
	u.traced = max(u.traced, a.at)
	if err != nil && err != io.EOF {
		u.err = err
	}
	u.mu.Unlock()
	if more > 0 {
		u.hooks.Call(func(t *fetch.Trace) { t.Body(more) })
	}
	return n, err
}
