package webtest

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"golang.org/x/net/http2"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// stream is a request of HTTP/2 with its response, for which it is the exchange. It is the body of the
// request, too.
type stream struct {
	h      *connection
	id     uint32
	client *core.Client
	faults *core.Faults
	ctx    context.Context // ends with the stream
	cancel context.CancelFunc

	// Of the goroutine of the response.
	ended bool  // END_STREAM has been sent with the head
	never bool  // END_STREAM is not sent
	sent  int64 // bytes of the body
	limit int64 // bytes of the body after which final is called, or -1
	final func() error

	// Under mu of the connection.
	received []byte // not read yet
	room     int64  // bytes that may be sent
	open     int64  // bytes that the client may send
	lacking  int64  // bytes of the request's Content-Length that have not come, or -1 without one
	whole    bool   // the request is complete
	over     bool   // nothing more is received or sent
}

// errOver is the error of writing on a stream that has ended.
var errOver = errors.New("testserver: the stream has ended")

// request begins a stream, or ends a request by its trailers.
func (h *connection) request(f *http2.MetaHeadersFrame) error {
	id := f.StreamID
	if id <= h.newest {
		return h.trailers(f)
	}
	if id%2 == 0 {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	h.newest = id
	h.mu.Lock()
	ignored, full := id > h.last, len(h.streams) >= h.srv.MaxStreams
	h.mu.Unlock()
	line, fields, ok := requestHead(f)
	head := line + " HTTP/2\r\n" + fields
	h.log(core.FromClient, head)
	switch {
	case ignored:
		return nil
	case !ok:
		return h.reset(id, http2.ErrCodeProtocol)
	case full:
		return h.reset(id, http2.ErrCodeRefusedStream)
	}
	req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(line + " HTTP/1.1\r\n" + fields)))
	s := &stream{h: h, id: id, limit: -1, open: h.open, lacking: -1, whole: f.StreamEnded()}
	s.ctx, s.cancel = context.WithCancel(h.ctx)
	s.client = h.client.Stream(raw{h})
	h.mu.Lock()
	s.room = h.initial
	h.streams[id] = s
	h.mu.Unlock()
	if err != nil || f.Truncated {
		status := http.StatusBadRequest
		if f.Truncated {
			status = http.StatusRequestHeaderFieldsTooLarge
		}
		s.faults = new(core.Faults)
		h.run(func() { s.refuse(status) })
		return nil
	}
	if req.ContentLength > 0 || req.Header.Get("Content-Length") == "0" {
		s.lacking = req.ContentLength
	}
	if s.whole && s.lacking > 0 {
		return h.reset(id, http2.ErrCodeProtocol)
	}
	return s.begin(req.WithContext(s.ctx), []byte(head))
}

// begin starts the goroutine that answers the request, with the faults for it.
func (s *stream) begin(req *http.Request, head []byte) error {
	req.Proto, req.ProtoMajor, req.ProtoMinor, req.Close = "HTTP/2.0", 2, 0, false
	req.Body = io.NopCloser(s)
	if s.whole {
		req.Body = http.NoBody
	} else if s.lacking < 0 {
		req.ContentLength = -1
	}
	if crumbs := req.Header["Cookie"]; len(crumbs) > 1 { // §8.2.3
		req.Header.Set("Cookie", strings.Join(crumbs, "; "))
	}
	s.faults = s.h.client.At("REQUEST", req.Method, req.Method+" "+req.URL.EscapedPath())
	if away, ok := s.faults.Take(goAway); ok {
		last := uint32(away.N)
		if away.N < 0 {
			last = s.id
		}
		if err := s.h.goAway(last, codeOf(away)); err != nil {
			return err
		}
	}
	s.h.run(func() {
		if err := s.answer(req, head); errors.Is(err, core.ErrCut) {
			s.h.stop()
		}
	})
	return nil
}

// trailers ends a request, if its stream still is open.
func (h *connection) trailers(f *http2.MetaHeadersFrame) error {
	h.mu.Lock()
	s := h.streams[f.StreamID]
	code := http2.ErrCodeNo
	switch {
	case s == nil:
	case s.whole:
		code = http2.ErrCodeStreamClosed
	case !f.StreamEnded():
		code = http2.ErrCodeProtocol
	default:
		code = s.receive(nil, true)
		h.changed.Broadcast()
	}
	h.mu.Unlock()
	if code != http2.ErrCodeNo {
		return h.reset(f.StreamID, code)
	}
	return nil
}

// requestHead returns the first line of a request without the version, and the fields, in the form of
// HTTP/1.1. It returns false if the request is malformed (RFC 9113 §8.2.2, §8.3.1).
func requestHead(f *http2.MetaHeadersFrame) (line, fields string, ok bool) {
	method, target, host := f.PseudoValue("method"), f.PseudoValue("path"), f.PseudoValue("authority")
	ok = method != "" && target != "" && f.PseudoValue("scheme") != ""
	if method == http.MethodConnect {
		target, ok = host, host != ""
	}
	var text strings.Builder
	for _, field := range f.RegularFields() {
		switch field.Name {
		case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
			ok = false
		case "te":
			ok = ok && field.Value == "trailers"
		case "host":
			host = cmp.Or(host, field.Value)
			continue
		}
		text.WriteString(http.CanonicalHeaderKey(field.Name) + ": " + field.Value + "\r\n")
	}
	return method + " " + target, "Host: " + host + "\r\n" + text.String() + "\r\n", ok
}

// log adds a head to the transcript.
func (h *connection) log(from core.Side, head string) {
	h.heads.Lock()
	defer h.heads.Unlock()
	h.client.LogLines(from, head)
}

// receive takes a part of the request's body, and returns what is wrong with it. mu is held.
func (s *stream) receive(part []byte, end bool) http2.ErrCode {
	n := int64(len(part))
	if s.open -= n; s.open < 0 {
		return http2.ErrCodeFlowControl
	}
	if s.lacking >= 0 {
		if s.lacking -= n; s.lacking < 0 || end && s.lacking > 0 { // §8.1.1
			return http2.ErrCodeProtocol
		}
	}
	s.received = append(s.received, part...)
	s.whole = end
	return http2.ErrCodeNo
}

// Read reads from the body of the request.
func (s *stream) Read(p []byte) (n int, err error) {
	s.h.mu.Lock()
	s.h.busy--
	for len(s.received) == 0 && !s.whole && !s.over {
		s.h.changed.Wait()
	}
	s.h.busy++
	n = copy(p, s.received)
	s.received = s.received[n:]
	opens := n > 0 && !s.whole && !s.faults.Acts(noWindow)
	switch {
	case n > 0 && opens:
		s.open += int64(n)
	case n > 0:
	case s.whole:
		err = io.EOF
	default:
		err = io.ErrUnexpectedEOF
	}
	s.h.mu.Unlock()
	if opens {
		err = s.h.openWindow(s.id, uint32(n))
	}
	return n, err
}

// refuse answers a request that cannot be read.
func (s *stream) refuse(status int) {
	w := newResponse(s, s.client, new(http.Request), s.faults)
	w.mayContinue = true
	w.header.Set("Content-Length", "0")
	w.WriteHeader(status)
	w.finish()
}

// answer answers the request.
func (s *stream) answer(req *http.Request, head []byte) error {
	err := s.client.Preempt(s.faults)
	switch {
	case errors.Is(err, core.ErrSilent):
		<-s.ctx.Done()
		return nil
	case err != nil:
		return err
	case s.ctx.Err() != nil: // reset by the client, or given up by GOAWAY
		s.faults.End()
		return nil
	}
	if r, ok := s.faults.Peek(resetStream); ok && r.N < 0 {
		s.faults.End()
		return s.h.reset(s.id, codeOf(r))
	}
	for _, f := range s.faults.TakeAll(frame) {
		if err := s.frame(f.Field, f.Text); err != nil {
			return err
		}
	}
	if f, ok := s.faults.Take(flood); ok {
		return s.flood(f.Text)
	}
	w := newResponse(s, s.client, req, s.faults)
	if text, ok := s.faults.Take(core.Reply); ok {
		return s.reply(w, text.Text)
	}
	s.h.srv.route(w, req, head)
	w.finish()
	return w.err
}

// reply sends a response that is a text of HTTP/1.1, or any other text in place of frames.
func (s *stream) reply(w *response, text string) error {
	octets := core.ReplyOctets(text)
	res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(octets+"\r\n")), w.req)
	if err != nil {
		if err = s.client.Answer(s.faults, text); err == nil {
			err = core.ErrCut
		}
		return err
	}
	_, body, _ := strings.Cut(octets, "\r\n\r\n")
	body = strings.TrimSuffix(body, "\r\n")
	if res.TransferEncoding != nil {
		decoded, _ := io.ReadAll(res.Body)
		body = string(decoded)
	}
	w.header = res.Header
	w.WriteHeader(res.StatusCode)
	_, _ = io.WriteString(w, body)
	w.finish()
	return w.err
}

// Write sends a part of the response's body.
func (s *stream) Write(p []byte) (n int, err error) {
	for n < len(p) {
		part := p[n:]
		if s.limit >= 0 {
			part = part[:min(s.limit-s.sent, int64(len(part)))]
		}
		size, err := s.reserve(len(part))
		if err == nil {
			err = s.h.send(func(out *http2.Framer) error { return out.WriteData(s.id, false, part[:size]) })
		}
		if err != nil {
			return n, err
		}
		n += size
		s.sent += int64(size)
		if s.sent == s.limit {
			return n, s.final()
		}
	}
	return n, nil
}

// reserve waits until something may be sent, and returns how much of n bytes.
func (s *stream) reserve(n int) (int, error) {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	for min(s.room, s.h.room) <= 0 && !s.over {
		s.h.changed.Wait()
	}
	if s.over {
		return 0, errOver
	}
	size := min(int64(n), frameSize, s.room, s.h.room)
	s.room -= size
	s.h.room -= size
	return int(size), nil
}
