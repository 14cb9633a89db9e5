// Package frames watches the frames of an HTTP/2 connection (RFC 9113). net/http speaks the protocol,
// and keeps for itself what users want to see: the fields of a head in the order in which they came,
// and which requests the server has not processed.
package frames

import (
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"sync"
	"time"
)

// Limits are those of the heads that a server sends, in bytes; 0 means no limit.
type Limits struct{ Line, Header int }

// ErrHead means that a head exceeds the Limits.
var ErrHead = errors.New("a head exceeds the limits")

var (
	errUnasked = errors.New("the server sent a document that was not requested")
	errNoHead  = errors.New("the server sent a document without a head")
	errSize    = errors.New("the server sent a frame that is too large")
	errBody    = errors.New("the server sent a document with a response that has none")
)

// ErrFlood means that the server sends frames without end that carry nothing.
var ErrFlood = errors.New("the server sends frames that carry nothing")

// ErrVersion means that the server does not begin as HTTP/2 requires.
var ErrVersion = errors.New("the server does not speak HTTP/2")

// maxEmpty is how many such frames may come one after another.
const maxEmpty = 10_000

// Conn is a connection that net/http uses for HTTP/2. A Read fails when the server breaks a limit or
// certain rules. Frames that a client must ignore are left out, because net/http would write a line
// about each to the standard logger, as about the breaches of these rules. Conn may be used
// concurrently like any net.Conn.
type Conn struct {
	net.Conn
	limits Limits
	seen   func(sent bool, frame string) // for frames of no stream

	in  input
	out parser

	mu      sync.Mutex
	next    *Stream // whose head is being sent
	streams map[uint32]*Stream
	greeted bool    // a frame has come
	newest  uint32  // stream that was begun
	first   int64   // window of a new stream
	away    *goAway // no more streams are processed; nil before the server says so
	heads   *headReader
	empty   int       // frames that carry nothing, one after another
	header  time.Time // when a part of the header of a frame came last
	err     error
	about   uint32 // the stream that err is about
	lost    error  // why nothing more can be read or written
	closed  bool   // by this side
}

// An input is what comes: the parser of its frames, and what Read returns of them.
type input struct {
	parser
	raw  []byte // what has come
	kept []byte // of that, what Read returns next
	err  error  // what Read returns then
}

// A goAway is the frame GOAWAY.
type goAway struct {
	last uint32 // of the streams that the server may process
	code uint32 // why; 0 is no error
}

// Watch returns a Conn on c. seen, if not nil, is called with a line of text for each frame that belongs
// to no stream, until a Stream with a Seen begins. It must not call the Conn.
func Watch(c net.Conn, limits Limits, seen func(sent bool, frame string)) *Conn {
	w := &Conn{Conn: c, limits: limits, seen: seen, first: firstWindow, heads: newHeadReader(limits), streams: make(map[uint32]*Stream)}
	w.in.raw, w.out.skip = make([]byte, readSize), len(preface)
	return w
}

const (
	readSize = 32 << 10
	preface  = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
)

// A Stream is what has been seen of a request and its response. The zero value is a request that has
// not been sent.
type Stream struct {
	// NoBody means that the response has no body, because the request is a HEAD. It is set for the
	// responses 204 and 304.
	NoBody bool
	// Begun, if not nil, is called when the head of the request is about to be sent.
	Begun func()
	// Seen, if not nil, is called with a line of text for each frame of the stream, and for those of no
	// stream until another one begins. Neither function may call the Conn.
	Seen func(sent bool, frame string)

	id    uint32
	heads []string
	count int   // of heads
	size  int   // bytes of all heads
	room  int64 // bytes that may be sent
	ended bool
	heard time.Time // when the last bytes have come
	reset *uint32   // the code with which the server has ended it
}

// Sending says that the next head to be sent is that of s. The caller must serialize it with the
// writing of that head.
func (c *Conn) Sending(s *Stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next = s
	if s.Seen != nil {
		c.seen = s.Seen
	}
}

// Forget says that nothing more is asked about s.
func (c *Conn) Forget(s *Stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.streams, s.id)
}

// Heads returns the heads that have come for s since the last call: those of 1xx responses, that of
// the response, and the trailer. They have the form of HTTP/1.1; a trailer has no status line.
func (c *Conn) Heads(s *Stream) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	heads := s.heads
	s.heads = nil
	return heads
}

// Sent reports whether the request of s has been sent, at least in part.
func (c *Conn) Sent(s *Stream) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return s.id != 0
}

// Unprocessed reports whether it is certain that the server has not processed the request of s, which
// it received: it has refused it, or said so when it closed the connection (RFC 9113 §8.7).
func (c *Conn) Unprocessed(s *Stream) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return s.reset != nil && *s.reset == refusedStream || c.away != nil && s.id > c.away.last
}

// Ended returns the error with which the server has ended s, or the connection.
func (c *Conn) Ended(s *Stream) (code string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case s.reset != nil:
		return codeName(*s.reset), true
	case c.away != nil:
		return codeName(c.away.code), true
	}
	return "", false
}

// Closing reports whether the server takes no more requests.
func (c *Conn) Closing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.away != nil || c.err != nil
}

// Heard returns when bytes have last come that are, or may be, for s.
func (c *Conn) Heard(s *Stream) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.heard.Before(c.header) {
		return c.header
	}
	return s.heard
}

// Err returns the limit that the server has broken, or nil. about reports whether it is about s, or
// about no stream; otherwise the connection has ended for the sake of another one.
func (c *Conn) Err(s *Stream) (err error, about bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err, c.about == 0 || c.about == s.id
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	in := &c.in
	for len(in.kept) == 0 {
		if in.err != nil {
			return 0, in.err
		}
		var n int
		n, in.err = c.Conn.Read(in.raw)
		in.kept = in.kept[:0]
		c.mu.Lock()
		if in.take(in.raw[:n], received{c}); n > 0 && in.have < len(in.header) {
			c.header = time.Now()
		}
		c.lose(in.err)
		if c.err != nil {
			in.kept, in.err = nil, c.err
		}
		c.mu.Unlock()
	}
	n := copy(p, in.kept)
	in.kept = in.kept[n:]
	return n, nil
}

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.out.take(p, sent{c})
	c.mu.Unlock()
	n, err := c.Conn.Write(p)
	c.mu.Lock()
	c.lose(err)
	c.mu.Unlock()
	return n, err
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	return c.Conn.Close()
}

// lose records the error of an operation on the connection. The caller holds mu.
func (c *Conn) lose(err error) {
	if c.lost == nil && !c.closed {
		c.lost = err
	}
}

// Lost returns the error with which the connection has ended, unless this side has closed it.
func (c *Conn) Lost() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

// sent watches what is sent.
type sent struct{ *Conn }

func (c sent) begins(*frame) bool { return true }

func (c sent) comes(*frame, []byte) {}

func (c sent) complete(f *frame) {
	next := c.next
	if f.kind != kindHeaders || next == nil {
		c.show(true, f)
		if f.kind == kindData && f.size > 0 {
			c.empty = 0 // the windows that the server opens are not for nothing
			if s := c.streams[f.stream]; s != nil {
				s.room -= int64(f.size)
			}
		}
		return
	}
	next.id, next.room, c.newest, c.next = f.stream, c.first, f.stream, nil
	c.streams[f.stream] = next
	c.show(true, f)
	if next.Begun != nil {
		next.Begun()
	}
}

// received watches what comes.
type received struct{ *Conn }

func (c received) begins(f *frame) bool {
	switch {
	case !c.greeted && (f.kind != kindSettings || f.size > maxPayload):
		c.fail(ErrVersion, 0)
		return false
	case f.size > maxPayload:
		c.fail(errSize, 0)
		return false
	}
	c.greeted = true
	// A client must ignore a frame of an unknown type (RFC 9113 §5.5), a priority, data behind the end
	// of a stream that it has not read to its end, and the window of a stream that has ended.
	s := c.streams[f.stream]
	f.ignored = int(f.kind) >= len(kinds) || f.kind == kindPriority || f.kind == kindData && s != nil && s.ended ||
		f.kind == kindWindow && f.stream != 0 && s == nil
	if f.kind == kindData && !f.ignored {
		c.data(f, s)
	}
	return c.err == nil
}

func (c received) comes(f *frame, octets []byte) {
	if !f.ignored {
		c.in.kept = append(c.in.kept, octets...)
	}
	if s := c.streams[f.stream]; s != nil {
		s.heard = time.Now()
	}
}

func (c received) complete(f *frame) {
	c.show(false, f)
	if c.empty++; f.kind == kindData && (f.size > 0 || f.flags&flagEnd != 0) {
		c.empty = 0
	}
	if c.empty > maxEmpty {
		c.fail(ErrFlood, 0)
	}
	switch s := c.streams[f.stream]; f.kind {
	case kindData:
		if s != nil && f.flags&flagEnd != 0 {
			s.ended = true
		}
	case kindHeaders, kindContinuation:
		c.head(f)
	case kindSettings:
		c.settings(f.payload)
	case kindWindow:
		c.window(s, f.payload)
	case kindReset:
		if s != nil && len(f.payload) == 4 {
			s.reset = new(binary.BigEndian.Uint32(f.payload))
		}
	case kindAway:
		if len(f.payload) >= 8 {
			c.away = &goAway{last: binary.BigEndian.Uint32(f.payload) & (1<<31 - 1), code: binary.BigEndian.Uint32(f.payload[4:])}
		}
	}
}

// data checks a frame that has a part of the body of s, which is nil if it is not known.
func (c *Conn) data(f *frame, s *Stream) {
	switch {
	case s == nil && f.stream > c.newest:
		c.fail(errUnasked, 0)
	case s == nil: // it was canceled
	case s.count == 0:
		c.fail(errNoHead, f.stream)
	case s.NoBody && f.size > 0:
		c.fail(errBody, f.stream)
	}
}

// fail makes Read fail. If stream is not 0, err is about that one only.
func (c *Conn) fail(err error, stream uint32) {
	if c.err == nil {
		c.err, c.about = err, stream
	}
}

// head is called with a frame that has a part of a head.
func (c *Conn) head(f *frame) {
	text, err := c.heads.add(f)
	if err != nil {
		c.fail(err, c.heads.stream)
	}
	s := c.streams[c.heads.stream]
	if text == "" || s == nil || c.err != nil {
		return
	}
	c.empty = 0
	s.heads = append(s.heads, text)
	s.NoBody = s.NoBody || strings.HasPrefix(text, "HTTP/2 204 ") || strings.HasPrefix(text, "HTTP/2 304 ")
	s.count++
	s.ended = c.heads.ends
	if s.size += len(text); c.limits.Header > 0 && s.size > c.limits.Header {
		c.fail(ErrHead, c.heads.stream)
	}
}

// show reports a frame to the stream that it belongs to.
func (c *Conn) show(sent bool, f *frame) {
	seen := c.seen
	if f.stream != 0 {
		seen = nil
		if s := c.streams[f.stream]; s != nil {
			seen = s.Seen
		}
	}
	if seen != nil {
		seen(sent, f.String())
	}
}
