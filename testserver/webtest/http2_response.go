package webtest

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

func (s *stream) interim(status int, header http.Header) error {
	if s.ctx.Err() != nil {
		return errOver
	}
	fields, text := headFields(status, header)
	s.h.log(core.FromServer, text)
	return s.headers(fields, false)
}

// headFields returns a head as it is sent, and as the transcript shows it.
func headFields(status int, header http.Header) (fields []hpack.HeaderField, text string) {
	text = fmt.Sprintf("HTTP/2 %03d\r\n", status)
	if header.Get(":status") == "" {
		fields = append(fields, hpack.HeaderField{Name: ":status", Value: fmt.Sprintf("%03d", status)})
	}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			fields = append(fields, hpack.HeaderField{Name: strings.ToLower(name), Value: value})
			text += name + ": " + core.OneLine.Replace(value) + "\r\n"
		}
	}
	return fields, text + "\r\n"
}

func (s *stream) head(w *response, status int, hasBody bool) error {
	if s.ctx.Err() != nil { // the client has reset it
		s.faults.End()
		return errOver
	}
	for _, name := range []string{"Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Upgrade"} {
		w.header.Del(name) // of a Handler; RFC 9113 §8.2.2
	}
	w.frame()
	if w.faults.Has(chunked) {
		w.header.Del("Transfer-Encoding")
	}
	fields, text := headFields(status, w.header)
	fields = append(fields, bomb(w.faults.N(headerBomb, 0))...)
	s.h.log(core.FromServer, text)
	if w.faults.Acts(endlessHeaders) {
		return s.endlessHeaders(fields)
	}
	if hasBody {
		s.limitBody()
	}
	if s.never = s.faults.N(endStream, 0) < 0; !s.never && (!hasBody || s.limit == 0 && !s.faults.Has(resetStream)) {
		s.ended = true
		s.h.forget(s.id) // before the client can know it
	}
	err := s.headers(fields, s.ended)
	if err == nil && s.limit == 0 {
		err = s.final()
	}
	return err
}

// limitBody lets the faults end the stream in the middle of the body.
func (s *stream) limitBody() {
	if r, ok := s.faults.Take(resetStream); ok {
		s.limit, s.final = r.N, func() error {
			_ = s.h.reset(s.id, codeOf(r))
			return errOver
		}
	} else if n := s.faults.N(endStream, -1); n >= 0 {
		s.limit, s.final = n, func() error {
			_ = s.finish()
			return errOver
		}
	}
}

// bomb returns fields that have n bytes when they are decoded. The table of fields has room for one.
func bomb(n int64) []hpack.HeaderField {
	field := hpack.HeaderField{Name: "x-bomb", Value: strings.Repeat("a", 4000)}
	size := int64(field.Size())
	return slices.Repeat([]hpack.HeaderField{field}, int((n+size-1)/size))
}

func (s *stream) body() io.Writer { return s }

func (s *stream) abort() error {
	_ = s.h.reset(s.id, http2.ErrCodeInternal)
	return errOver
}

func (s *stream) end(w *response) bool {
	if w.err == nil && !s.never {
		w.err = s.finish()
	}
	return true
}

// finish ends the stream in order, and sends what faults send after it.
func (s *stream) finish() error {
	s.h.mu.Lock()
	whole, over := s.whole, s.over
	s.h.mu.Unlock()
	if over && !s.ended {
		return errOver
	}
	s.h.forget(s.id)
	var last []hpack.HeaderField
	for _, a := range s.faults.TakeAll(trailers) {
		last = append(last, hpack.HeaderField{Name: strings.ToLower(a.Field), Value: a.Text})
	}
	return s.h.send(func(out *http2.Framer) (err error) {
		switch {
		case s.ended:
		case last != nil:
			err = s.h.out.writeHeaders(s.id, last, true, true)
		default:
			err = out.WriteData(s.id, true, nil)
		}
		if late, ok := s.faults.Take(lateData); ok && err == nil {
			err = out.WriteData(s.id, false, []byte(late.Text))
		}
		if !whole && err == nil {
			err = out.WriteRSTStream(s.id, http2.ErrCodeNo) // the rest of the request is not wanted: §8.1
		}
		return err
	})
}

// headers sends a head.
func (s *stream) headers(fields []hpack.HeaderField, end bool) error {
	return s.h.send(func(out *http2.Framer) error { return s.h.out.writeHeaders(s.id, fields, end, true) })
}

// endlessHeaders sends a head without end.
func (s *stream) endlessHeaders(fields []hpack.HeaderField) error {
	return s.h.send(func(out *http2.Framer) error {
		err := s.h.out.writeHeaders(s.id, fields, false, false)
		for i := 0; err == nil; i++ {
			more := hpack.HeaderField{Name: fmt.Sprintf("x-endless-%d", i), Value: "and there is more to come"}
			err = out.WriteContinuation(s.id, false, s.h.out.encode(more))
		}
		return err
	})
}

// frame sends a frame of any content.
func (s *stream) frame(name, octets string) error {
	kind, _ := number[http2.FrameType]("", name, 1<<8-1)
	id, flags := s.id, http2.Flags(0)
	switch kind {
	case http2.FrameSettings, http2.FramePing, http2.FrameGoAway:
		id = 0
	case http2.FrameHeaders, http2.FramePushPromise, http2.FrameContinuation:
		flags = http2.FlagHeadersEndHeaders
	}
	return s.h.send(func(out *http2.Framer) error { return out.WriteRawFrame(kind, flags, id, []byte(octets)) })
}

// flood sends frames of a type until the client closes.
func (s *stream) flood(kind string) error {
	ok, _ := headFields(http.StatusOK, nil)
	early, _ := headFields(http.StatusEarlyHints, nil)
	one := map[string]func(*http2.Framer) error{
		"CONTINUATION":  func(out *http2.Framer) error { return out.WriteContinuation(s.id, false, nil) },
		"DATA":          func(out *http2.Framer) error { return out.WriteData(s.id, false, nil) },
		"HEADERS":       func(out *http2.Framer) error { return s.h.out.writeHeaders(s.id, early, false, true) },
		"PING":          func(out *http2.Framer) error { return out.WritePing(false, [8]byte{}) },
		"RST_STREAM":    func(out *http2.Framer) error { return out.WriteRSTStream(s.id, http2.ErrCodeCancel) },
		"SETTINGS":      func(out *http2.Framer) error { return out.WriteSettings() },
		"WINDOW_UPDATE": func(out *http2.Framer) error { return out.WriteWindowUpdate(s.id, 1) },
	}[kind]
	return s.h.send(func(out *http2.Framer) (err error) {
		if kind == "DATA" || kind == "CONTINUATION" {
			err = s.h.out.writeHeaders(s.id, ok, false, kind == "DATA")
		}
		for err == nil {
			err = one(out)
		}
		return err
	})
}
