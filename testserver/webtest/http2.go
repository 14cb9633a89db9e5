package webtest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	// x/net/http2 reads and writes the frames, and its package hpack the header blocks. It is that of the
	// authors of Go; its Server is not used, because faults need each frame in the server's hands.
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

const (
	window    = 1<<16 - 1 // bytes that a side may send on a stream or a connection at first (RFC 9113 §6.9.2)
	frameSize = 1 << 14   // bytes of the largest frame that every peer accepts (§6.5.2)
	tableSize = 4 << 10   // bytes of the table of fields (RFC 7541 §4.2)
)

// connection is a connection of HTTP/2 (RFC 9113). The goroutine that serves it reads its frames; each
// request has a goroutine of its own. A goroutine never waits for the network or a window while it
// holds mu.
type connection struct {
	srv    *Server
	client *core.Client
	ctx    context.Context // ends with the connection
	all    sync.WaitGroup  // of the goroutines of requests

	in      *http2.Framer // only of the goroutine that reads
	settled bool          // the client has sent its settings; also of that goroutine
	newest  uint32        // the last stream of the client; also of that goroutine

	out   *output
	heads sync.Mutex // keeps the lines of a head together in the transcript

	mu      sync.Mutex
	changed sync.Cond // anything below, or a stream
	streams map[uint32]*stream
	room    int64  // bytes that may be sent on all streams
	initial int64  // bytes that may be sent on a new stream
	open    int64  // bytes that the client may send on a new stream
	last    uint32 // the last stream that is served
	leaving bool   // GOAWAY has been sent
	busy    int    // goroutines of requests that do not wait for the client
	running int    // goroutines of requests
	ended   bool   // the server ends the connection
}

// serveHTTP2 serves a connection whose client begins with the preface, which is in r or comes next.
func (s *Server) serveHTTP2(c *core.Client, r *bufio.Reader) {
	c.Mute(true)
	ctx, cancel := context.WithCancel(s.m.Ctx())
	buffered, _ := r.Peek(r.Buffered())
	h := &connection{
		srv: s, client: c, ctx: ctx, out: newOutput(c),
		streams: make(map[uint32]*stream), room: window, initial: window, open: window, last: 1<<31 - 1,
	}
	h.changed.L = &h.mu
	from := bufio.NewReader(io.MultiReader(bytes.NewReader(buffered), h))
	h.in = http2.NewFramer(nil, from)
	h.in.SetMaxReadFrameSize(frameSize)
	h.in.ReadMetaHeaders = hpack.NewDecoder(tableSize, nil)
	h.in.MaxHeaderListSize = maxHead
	err := h.begin(from)
	for err == nil {
		err = h.next()
	}
	h.farewell(err)
	cancel()
	h.mu.Lock()
	h.ended = true
	h.drop(0)
	h.mu.Unlock()
	h.all.Wait()
}

// begin sends the settings and reads the preface.
func (h *connection) begin(r io.Reader) error {
	settings := []http2.Setting{
		{ID: http2.SettingMaxConcurrentStreams, Val: uint32(h.srv.MaxStreams)},
		{ID: http2.SettingMaxHeaderListSize, Val: maxHead},
	}
	for _, a := range h.client.Armed().TakeAll(setting) {
		id, _ := number[http2.SettingID]("", a.Field, 1<<16-1)
		settings = append(settings, http2.Setting{ID: id, Val: uint32(a.N)})
		if id == http2.SettingInitialWindowSize {
			h.open = max(window, a.N) // the client may have begun without it
		}
	}
	if err := h.send(func(f *http2.Framer) error { return f.WriteSettings(settings...) }); err != nil {
		return err
	}
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(r, preface); err != nil {
		return err
	}
	if string(preface) != http2.ClientPreface {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	return nil
}

// Read reads from the connection. It waits no longer than IdleTimeout for a client for which nothing
// is done. It is called by in only.
func (h *connection) Read(p []byte) (int, error) {
	for {
		h.mu.Lock()
		if !h.ended {
			_ = h.client.Conn.SetReadDeadline(time.Now().Add(h.srv.IdleTimeout))
		}
		h.mu.Unlock()
		n, err := h.client.Conn.Read(p)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !h.isBusy() {
			return n, err
		}
	}
}

func (h *connection) isBusy() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.busy > 0 && !h.ended
}

// stop ends the connection from the side of the server.
func (h *connection) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	_ = h.client.Conn.SetReadDeadline(time.Unix(1, 0))
}

// farewell tells the client why its connection ends, unless it or a fault has ended it.
func (h *connection) farewell(err error) {
	h.mu.Lock()
	ended := h.ended
	h.mu.Unlock()
	code := http2.ErrCodeNo
	broken, isBroken := errors.AsType[http2.ConnectionError](err)
	switch {
	case ended:
		return
	case isBroken:
		code = http2.ErrCode(broken)
	case errors.Is(err, http2.ErrFrameTooLarge):
		code = http2.ErrCodeFrameSize
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return
	}
	_ = h.send(func(f *http2.Framer) error { return f.WriteGoAway(h.newest, code, nil) })
}

// send writes frames one after the other.
func (h *connection) send(frames func(*http2.Framer) error) error {
	err := h.out.send(frames)
	if errors.Is(err, core.ErrCut) {
		h.stop()
	}
	return err
}

// raw writes octets that are no frames.
type raw struct{ h *connection }

func (r raw) Write(p []byte) (n int, err error) {
	err = r.h.send(func(*http2.Framer) error {
		n, err = r.h.out.buf.Write(p)
		return err
	})
	return n, err
}

// next reads a frame and does what it says.
func (h *connection) next() error {
	frame, err := h.in.ReadFrame()
	if wrong, ok := errors.AsType[http2.StreamError](err); ok {
		h.newest = max(h.newest, wrong.StreamID)
		return h.reset(wrong.StreamID, wrong.Code)
	}
	if err != nil {
		return err
	}
	settings, ok := frame.(*http2.SettingsFrame)
	if !ok && !h.settled {
		return http2.ConnectionError(http2.ErrCodeProtocol) // §3.4
	}
	h.settled = true
	switch f := frame.(type) {
	case *http2.SettingsFrame:
		return h.settings(settings)
	case *http2.MetaHeadersFrame:
		return h.request(f)
	case *http2.DataFrame:
		return h.data(f)
	case *http2.WindowUpdateFrame:
		return h.opened(f.StreamID, int64(f.Increment))
	case *http2.PingFrame:
		if !f.IsAck() {
			return h.send(func(out *http2.Framer) error { return out.WritePing(true, f.Data) })
		}
	case *http2.RSTStreamFrame:
		if f.StreamID > h.newest {
			return http2.ConnectionError(http2.ErrCodeProtocol)
		}
		h.forget(f.StreamID)
	case *http2.PushPromiseFrame:
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	return nil
}

// settings adopts the settings of the client.
func (h *connection) settings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		return nil
	}
	var table []uint32 // the values of that setting
	err := f.ForeachSetting(func(s http2.Setting) error {
		switch s.ID {
		case http2.SettingHeaderTableSize:
			table = append(table, min(tableSize, s.Val))
		case http2.SettingInitialWindowSize:
			h.mu.Lock()
			defer h.mu.Unlock()
			for _, s := range h.streams {
				s.room -= h.initial
			}
			h.initial = int64(s.Val)
			for _, s := range h.streams {
				s.room += h.initial
			}
			h.changed.Broadcast()
		}
		return s.Valid()
	})
	if err != nil {
		return err
	}
	return h.send(func(out *http2.Framer) error {
		for _, size := range table {
			h.out.pack.SetMaxDynamicTableSizeLimit(size)
			h.out.pack.SetMaxDynamicTableSize(size)
		}
		return out.WriteSettingsAck()
	})
}

// opened adds to what may be sent on a stream, or on all.
func (h *connection) opened(id uint32, n int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changed.Broadcast()
	s := h.streams[id]
	switch {
	case id == 0:
		if h.room += n; h.room > 1<<31-1 {
			return http2.ConnectionError(http2.ErrCodeFlowControl)
		}
	case s != nil:
		s.room += n // more than allowed does no harm here
	}
	return nil
}

// data gives a stream a part of its request's body.
func (h *connection) data(f *http2.DataFrame) error {
	if f.StreamID > h.newest {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	if f.Length > 0 {
		if err := h.openWindow(0, f.Length); err != nil {
			return err
		}
	}
	code := http2.ErrCodeNo
	h.mu.Lock()
	if s := h.streams[f.StreamID]; s != nil && !s.whole { // others have been answered or reset
		code = s.receive(f.Data(), f.StreamEnded())
		h.changed.Broadcast()
	}
	h.mu.Unlock()
	if code != http2.ErrCodeNo {
		return h.reset(f.StreamID, code)
	}
	return nil
}

// openWindow lets the client send n more bytes on a stream, or on all.
func (h *connection) openWindow(id, n uint32) error {
	return h.send(func(out *http2.Framer) error { return out.WriteWindowUpdate(id, n) })
}

// reset ends a stream with an error.
func (h *connection) reset(id uint32, code http2.ErrCode) error {
	h.forget(id)
	return h.send(func(out *http2.Framer) error { return out.WriteRSTStream(id, code) })
}

// forget ends a stream. Its goroutine may send what comes after the end.
func (h *connection) forget(id uint32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.streams[id]; s != nil {
		s.over = true
		s.cancel()
		delete(h.streams, id)
		h.changed.Broadcast()
	}
}

// drop gives up the streams after last. mu is held.
func (h *connection) drop(last uint32) {
	for id, s := range h.streams {
		if id > last {
			s.over = true
			s.cancel()
			delete(h.streams, id)
		}
	}
	h.changed.Broadcast()
}

// goAway tells the client that streams after last are not served, and gives up those.
func (h *connection) goAway(last uint32, code http2.ErrCode) error {
	h.mu.Lock()
	h.last, h.leaving = last, true
	h.drop(last)
	h.mu.Unlock()
	return h.send(func(out *http2.Framer) error { return out.WriteGoAway(last, code, nil) })
}

// run runs the goroutine of a request. After GOAWAY, the last one ends the connection.
func (h *connection) run(answer func()) {
	h.mu.Lock()
	h.busy++
	h.running++
	h.mu.Unlock()
	h.all.Go(func() {
		answer()
		h.mu.Lock()
		h.busy--
		h.running--
		idle := h.leaving && h.running == 0
		h.mu.Unlock()
		if idle {
			h.stop()
		}
	})
}
