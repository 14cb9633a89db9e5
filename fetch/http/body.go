package http

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/http/internal/exchange"
)

// body is the requested part of a resource. When its connection breaks, it requests the rest,
// provided a validator ensures that the rest belongs to the same state of the resource.
type body struct {
	call      *call
	raw       io.Reader // the body of the current response
	window              // at is the offset of the next byte in the resource
	validator string
	silent    bool     // the Trace does not count what is received
	tail      []byte   // the last bytes, of a body that can be resumed
	file      *os.File // has the bytes before tail; nil unless the body is copied to it
	stored    int64    // bytes in file
	tries     int
	err       error // what every further Read returns
	closed    atomic.Bool
	resp      *http.Response // the first one, for upload.checkSent
}

// newBody returns the body of a response, after skipping to its first requested byte.
func newBody(c *call, a *answer) (*body, error) {
	b := &body{call: c, raw: a.resp.Body, window: a.window, validator: validator(a.resp), resp: a.resp}
	if c.method != http.MethodGet || len(c.opt.Header["Range"]) > 0 {
		b.validator = ""
	}
	buf := make([]byte, max(0, min(b.from-b.at, 32<<10)))
	for b.at < b.from {
		if _, err := b.Read(buf[:min(b.from-b.at, int64(len(buf)))]); err == io.EOF {
			return nil, c.badRange(fmt.Sprintf("the document has only %d bytes", b.at))
		} else if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// readLead reads the bytes of Request.Lead.
func (b *body) readLead() ([]byte, error) {
	if b.call.lead == 0 {
		return nil, nil
	}
	lead := make([]byte, b.call.lead)
	b.silent = true
	_, err := io.ReadFull(b, lead)
	b.silent = false
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = b.call.badRange(fmt.Sprintf("the document has only %d bytes", b.at))
	}
	return lead, err
}

// Read implements io.Reader. Errors other than io.EOF are *fetch.Errors.
func (b *body) Read(p []byte) (int, error) {
	return b.next(int64(len(p)), func(most int64) (int, error) { return b.readRaw(p[:most]) })
}

// next has take read the next bytes, at most most. Its error is that of Read.
func (b *body) next(most int64, take func(most int64) (int, error)) (int, error) {
	switch {
	case b.closed.Load():
		return 0, driver.Fail(b.call.method, b.call.locator, fetch.ErrLocalIO, os.ErrClosed)
	case b.err != nil:
		return 0, b.err
	case b.call.outer.Err() != nil:
		b.err = b.call.fail(nil)
		return 0, b.err
	}
	for {
		n, err := b.nextRaw(most, take)
		if err == io.EOF {
			if unsent := b.call.upload.checkSent(b.resp); unsent != nil {
				err = driver.Fail(b.call.method, b.call.locator, fetch.ErrTruncated, unsent)
			}
		}
		if err == nil && n == 0 && most > 0 {
			continue
		}
		if err != nil {
			b.err = err
		}
		if n > 0 {
			err = nil
		}
		return n, err
	}
}

// nextRaw reads the next bytes. If the connection breaks, it resumes over another one.
func (b *body) nextRaw(most int64, take func(most int64) (int, error)) (int, error) {
	if b.to >= 0 {
		most = min(most, b.to-b.at)
	}
	n, err := take(most)
	switch {
	case errors.As(err, new(*exchange.FileError)):
		return n, err
	case b.at == b.to && err != nil && err != io.EOF: // more came, or the end by HTTP/2 did not
		return n, b.call.fail(err)
	case b.at == b.to && b.exact:
		return n, b.atEnd()
	case b.at == b.to:
		return n, io.EOF
	case err == nil, err == io.EOF && (b.at > b.to || b.open): // to is -1 if the end is not known
		return n, err
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return n, b.resume(err)
}

// atEnd returns the error of the end of a part whose length only Content-Range states. More bytes
// mean that this is another part.
func (b *body) atEnd() error {
	for one := make([]byte, 1); ; {
		n, err := b.readRaw(one)
		switch {
		case n > 0:
			return b.call.badRange("the server sent more than the part that it announced")
		case err != nil:
			return io.EOF // the part is complete
		}
	}
}

// readRaw reads from the connection.
func (b *body) readRaw(p []byte) (int, error) {
	n, err := b.raw.Read(p)
	b.at += int64(n)
	b.remember(p[:n])
	if n > 0 && !b.silent {
		b.call.hooks.Call(func(t *fetch.Trace) { t.Took(p[:n]) })
	}
	return n, err
}

// resume requests the rest of a body whose connection broke with the error cut. If that fails, it
// returns the error that the body ends with.
func (b *body) resume(cut error) error {
	c := b.call
	if b.closed.Load() { // by another goroutine
		return driver.Fail(c.method, c.locator, fetch.ErrLocalIO, os.ErrClosed)
	}
	if fail := c.fail(cut); fail.Kind == fetch.ErrCanceled || fail.Kind == fetch.ErrTimeout {
		return fail
	}
	if kind := fetch.KindOf(cut); kind != fetch.ErrTruncated && kind != fetch.ErrConnectionFailed {
		if b.resp.ProtoMajor < 2 { // HTTP/2 has no chunks
			cut = fmt.Errorf("%w: %w", ErrFraming, cut)
		}
		return driver.Fail(c.method, c.locator, fetch.ErrProtocol, cut)
	}
	for b.validator != "" && b.tries < c.f.retries() {
		wait := backoff(b.tries, nil)
		b.tries++
		c.hooks.Call(func(t *fetch.Trace) { t.Retry(fetch.Retry{Attempt: b.tries, Err: b.truncated(cut), Wait: wait}) })
		if err := pause(c.ctx, wait); err != nil {
			return c.fail(err)
		}
		err := b.reconnect()
		if err == nil || err == io.EOF {
			return err
		}
		var fail *fetch.Error
		if !errors.As(err, &fail) || fail.Kind != fetch.ErrConnectionFailed && fail.Kind != fetch.ErrUnreachable {
			return b.truncated(fmt.Errorf("%w; %w", cut, err))
		}
	}
	return b.truncated(cut)
}

// truncated returns the error of a body that broke off.
func (b *body) truncated(cause error) error {
	came := fmt.Sprintf("after %d bytes", b.at)
	if b.total >= 0 {
		came = fmt.Sprintf("after %d of %d bytes", b.at, b.total)
	}
	return &fetch.Error{Op: b.call.method, URL: b.call.locator.Redacted(), Kind: fetch.ErrTruncated, Err: fmt.Errorf("%s: %w", came, cause)}
}

// overlap is how many bytes before the rest of a body are requested again and compared.
const overlap = 4 << 10

// remember keeps the last of the bytes that came, unless they are in the file.
func (b *body) remember(p []byte) {
	if b.validator == "" || b.call.f.retries() <= 0 || b.file != nil {
		return
	}
	all := append(b.tail, p[max(0, len(p)-overlap):]...)
	b.tail = append(b.tail[:0], all[max(0, len(all)-overlap):]...)
}

// before returns the last bytes that came.
func (b *body) before() ([]byte, error) {
	if b.file == nil {
		return b.tail, nil
	}
	end, err := b.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	last := make([]byte, min(overlap, b.stored))
	_, err = b.file.ReadAt(last, end-int64(len(last)))
	return last, err
}

// reconnect requests the rest, and the bytes before it. It returns io.EOF if there is no more.
func (b *body) reconnect() error {
	c := b.call
	before, err := b.before()
	if err != nil {
		return err
	}
	want := &rest{offset: b.at - int64(len(before)), validator: b.validator}
	if b.to >= 0 {
		want.length = b.to - want.offset
	}
	resp, _, err := c.exchange(want)
	if err != nil {
		return err
	}
	ok := false
	defer func() {
		if !ok {
			resp.Body.Close()
		}
	}()
	switch resp.StatusCode {
	case http.StatusPartialContent:
	case http.StatusRequestedRangeNotSatisfiable:
		if spec, _ := cutUnit(resp.Header.Get("Content-Range")); b.to < 0 && spec == fmt.Sprintf("*/%d", b.at) {
			return io.EOF
		}
		return errors.New("the resource has become shorter")
	case http.StatusOK:
		return errors.New("the resource has changed")
	default:
		return fmt.Errorf("unexpected response to the request for the rest: %s", fetch.Printable(resp.Status))
	}
	r, err := parseContentRange(resp)
	if err == nil {
		err = r.fits(resp, want.offset)
	}
	switch {
	case err != nil:
		return err
	case b.total >= 0 && r.total >= 0 && r.total != b.total:
		return errors.New("the server sent a different part than requested")
	case validator(resp) != "" && validator(resp) != b.validator:
		return errors.New("the resource has changed")
	}
	again := make([]byte, len(before))
	if _, err := io.ReadFull(resp.Body, again); err != nil || !bytes.Equal(again, before) {
		return cmp.Or(err, errors.New("the server sent other bytes than before"))
	}
	ok = true
	b.raw = resp.Body
	if b.to < 0 {
		b.to, b.total = max(r.last+1, r.total), r.total
	}
	b.exact = resp.ContentLength < 0 && r.last+1 == b.to
	return nil
}

// validator returns what distinguishes this state of a resource from others: a strong entity tag
// (RFC 9110 §8.8.3), or a modification time that is not so recent that the resource may have
// changed twice in the same second (§8.8.2.2).
func validator(resp *http.Response) string {
	if tag := resp.Header.Get("ETag"); tag != "" {
		if strings.HasPrefix(tag, `"`) {
			return tag
		}
		return ""
	}
	modified, err := http.ParseTime(resp.Header.Get("Last-Modified"))
	if err != nil {
		return ""
	}
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil || date.Sub(modified) < time.Second {
		return ""
	}
	return resp.Header.Get("Last-Modified")
}

// pause waits for d, or until ctx is done.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close implements io.Closer. It drops a connection that still has data to come, because reading
// the rest may take forever.
func (b *body) Close() error {
	if !b.closed.Swap(true) {
		b.call.end(os.ErrClosed)
	}
	return nil
}
