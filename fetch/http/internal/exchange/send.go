package exchange

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// RequestHead returns the head of a request as net/http writes it. The body is not read.
func (ex *Exchange) RequestHead(r *http.Request) ([]byte, error) {
	bare := *r
	if r.Body != nil && r.Body != http.NoBody {
		bare.Body = unreadBody{}
		if r.ContentLength < 0 {
			bare.TransferEncoding = []string{"chunked"} // or net/http would look whether the body is empty
		}
	}
	write := bare.Write
	if ex.Forwarded() {
		write = bare.WriteProxy
	}
	var head bytes.Buffer
	if err := write(&head); !bytes.HasSuffix(head.Bytes(), []byte("\r\n\r\n")) { // else the error is that of the body
		return nil, err
	}
	if ex.HTTP10 { // net/http writes requests of HTTP/1.1 only
		return bytes.Replace(head.Bytes(), []byte(" HTTP/1.1\r\n"), []byte(" HTTP/1.0\r\n"), 1), nil
	}
	return head.Bytes(), nil
}

// unreadBody is a body that is not read.
type unreadBody struct{}

func (unreadBody) Read([]byte) (int, error) { return 0, io.ErrNoProgress }
func (unreadBody) Close() error             { return nil }

// sending is the request of an exchange on its way. A body has a goroutine of its own, because a
// server may respond before it has read all of it, and close the connection. Such a response counts.
// So an error of sending does not end the exchange: the reader finds out whether there is a response.
type sending struct {
	c    *wire.Conn
	ex   *Exchange
	r    *http.Request
	ctx  context.Context         // ends with the exchange
	stop context.CancelCauseFunc // ends the exchange

	asked chan struct{} // closed when the server has asked for the body, by 100
	final chan struct{} // closed when the head of the response has arrived

	mu    sync.Mutex
	over  bool        // no response is awaited any more
	reply *time.Timer // of Limits.Reply; runs when the request is sent

	done   chan struct{} // closed when nothing more is sent
	err    error         // why the request is not sent completely; valid after done
	source source        // the body
}

// source is a body that remembers its error, which may look like one of the connection. It is that of
// one sending: the request has another one when it is sent again.
type source struct {
	io.Reader
	err error
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (n int, err error) {
	n, err = s.Reader.Read(p)
	if err != io.EOF {
		s.err = err
	}
	return n, err
}

// send sends the head of a request over c, and begins to send its body. Also after an error the caller
// must stop it.
func (ex *Exchange) send(c *wire.Conn, r *http.Request) (*sending, error) {
	s := &sending{c: c, ex: ex, r: r, asked: make(chan struct{}), final: make(chan struct{}), done: make(chan struct{})}
	s.ctx, s.stop = context.WithCancelCause(r.Context())
	c.SetContext(s.ctx)
	s.source.Reader = r.Body
	size, waits := r.ContentLength, r.Header.Get("Expect") != "" // they may change when r is sent again
	small := r.Body != nil && size > 0 && size <= smallBody && !waits
	head, err := ex.RequestHead(r)
	if err == nil {
		ex.Request = Masked(head)
		ex.Hooks.Call(func(t *fetch.Trace) { t.Sent(ex.Request) })
		if small {
			head, err = s.withBody(head, size)
		}
	}
	if err == nil {
		_, err = c.Write(head)
	}
	if err != nil {
		s.stop(err)
		return s, err
	}
	switch {
	case r.Body == nil, r.Body == http.NoBody, small:
		s.end(nil)
	default:
		go func() { s.end(s.sendBody(size, waits)) }()
	}
	return s, nil
}

// smallBody is the maximum size of a body that is sent together with its head, in one packet: there are
// servers that read only once, or respond as soon as they have the head.
const smallBody = 4 << 10

// withBody returns head and the body behind it.
func (s *sending) withBody(head []byte, size int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(&s.source, size+1))
	if err == nil && int64(len(body)) != size {
		err = errOtherSize
	}
	return append(head, body...), err
}

// end is called when nothing more is sent. Limits.Reply applies from now on.
func (s *sending) end(err error) {
	s.err = err
	close(s.done)
	if s.source.err != nil || err != nil && err != errUnasked && fetch.KindOf(err) != fetch.ErrConnectionFailed {
		s.stop(err) // the server waits for the rest of the body
	}
	limit := s.ex.Env.Limits.Reply
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit > 0 && !s.over {
		s.reply = time.AfterFunc(limit, func() {
			s.stop(&wire.TimeoutError{Limit: limit, Awaited: "no response", Err: context.DeadlineExceeded})
		})
	}
}

// sendBody sends the body, when the server wants it if waits is set. size is -1 if it is unknown.
func (s *sending) sendBody(size int64, waits bool) error {
	if waits {
		if err := s.wait(); err != nil {
			return err
		}
	}
	if size >= 0 {
		n, err := io.Copy(s.c, io.LimitReader(&s.source, size))
		if err != nil {
			return err
		}
		if more, _ := s.source.Reader.Read(make([]byte, 1)); n < size || more > 0 {
			return errOtherSize
		}
		return nil
	}
	out := bufio.NewWriterSize(s.c, 36<<10)
	chunks := httputil.NewChunkedWriter(out)
	_, err := io.Copy(atOnce{chunks, out}, &s.source)
	if err == nil {
		err = chunks.Close()
	}
	if err == nil {
		_, err = out.WriteString("\r\n")
	}
	return cmp.Or(err, out.Flush())
}

var errOtherSize = errors.New("the size of the document has changed")

// atOnce writes each chunk at once: the next part of the body may be late.
type atOnce struct {
	chunks io.Writer
	out    *bufio.Writer
}

func (w atOnce) Write(p []byte) (int, error) {
	n, err := w.chunks.Write(p)
	return n, cmp.Or(err, w.out.Flush())
}

var errUnasked = errors.New("the server has answered and not asked for the body")

// wait waits until the server has asked for the body, or for the time after which it is sent anyway.
func (s *sending) wait() error {
	timer := time.NewTimer(s.ex.ContinueTime)
	defer timer.Stop()
	select {
	case <-s.asked:
	case <-timer.C:
	case <-s.final:
		select {
		case <-s.asked: // before
		default:
			return errUnasked
		}
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
	return nil
}

// proceed is called when the server has asked for the body.
func (s *sending) proceed() {
	select {
	case <-s.asked:
	default:
		close(s.asked)
	}
}

// answer is called when the head of the response has arrived; resp is nil if it is faulty. A success by a
// server that does not close the connection means that it reads the body (RFC 9110 §10.1.1).
func (s *sending) answer(resp *http.Response) {
	if resp != nil && resp.StatusCode/100 == 2 && !resp.Close {
		s.proceed()
	}
	s.waitNoMore()
	close(s.final)
}

// cancel ends the exchange.
func (s *sending) cancel() {
	s.waitNoMore()
	s.stop(net.ErrClosed)
}

// waitNoMore ends the wait for the response.
func (s *sending) waitNoMore() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if s.reply != nil {
		s.reply.Stop()
	}
}

// failure returns why the request is not sent completely, as far as it is known.
func (s *sending) failure() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// lastWrite is how long the end of a request may take once the response to it is complete. The server
// has it by then, but the Write of its last bytes may not have returned.
const lastWrite = 50 * time.Millisecond

// complete reports whether the whole request has been sent.
func (s *sending) complete() bool {
	select {
	case <-s.done:
	default:
		select {
		case <-s.done:
		case <-time.After(lastWrite):
			return false
		}
	}
	return s.err == nil
}
