package frames

import (
	"encoding/binary"
	"fmt"
)

// The types and flags of frames that matter here (RFC 9113 §6).
const (
	kindData         = 0x0
	kindHeaders      = 0x1
	kindPriority     = 0x2
	kindReset        = 0x3
	kindSettings     = 0x4
	kindPing         = 0x6
	kindAway         = 0x7
	kindWindow       = 0x8
	kindContinuation = 0x9

	flagEnd        = 0x1 // of DATA and HEADERS
	flagAck        = 0x1 // of SETTINGS and PING
	flagHeadersEnd = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20

	refusedStream = 0x7
)

var kinds = []string{"DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE", "CONTINUATION"}

// codes are the names of error codes (RFC 9113 §7).
var codes = []string{"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR",
	"REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED"}

func codeName(code uint32) string {
	if int(code) < len(codes) {
		return codes[code]
	}
	return fmt.Sprintf("%#x", code)
}

// maxPayload is how much of a frame is kept. net/http accepts no larger ones.
const maxPayload = 1 << 14

// A frame has come, or is about to be sent. That of DATA has no payload.
type frame struct {
	kind, flags byte
	stream      uint32
	size        int
	payload     []byte // valid during the call
	ignored     bool
}

// parser finds the frames in the bytes of one direction.
type parser struct {
	skip   int // bytes before the next header
	header [9]byte
	have   int // bytes of the header
	left   int // bytes of the payload that have not come
	frame  frame
}

// A watcher is told of frames. begins is called with the header of a frame, comes with some of its
// bytes, and complete at its end. If begins returns false, the parser stops.
type watcher interface {
	begins(*frame) bool
	comes(f *frame, octets []byte)
	complete(*frame)
}

// take tells w of the frames in octets.
func (p *parser) take(octets []byte, w watcher) {
	for len(octets) > 0 {
		if p.skip > 0 {
			n := min(p.skip, len(octets))
			p.skip, octets = p.skip-n, octets[n:]
			continue
		}
		if p.have < len(p.header) {
			n := copy(p.header[p.have:], octets)
			p.have, octets = p.have+n, octets[n:]
			if p.have < len(p.header) {
				return
			}
			if p.begin(); !w.begins(&p.frame) {
				return
			}
			w.comes(&p.frame, p.header[:])
		}
		n := min(p.left, len(octets))
		if p.frame.kind != kindData && len(p.frame.payload) < maxPayload {
			p.frame.payload = append(p.frame.payload, octets[:n]...)
		}
		w.comes(&p.frame, octets[:n])
		p.left, octets = p.left-n, octets[n:]
		if p.left == 0 {
			w.complete(&p.frame)
			p.have = 0
		}
	}
}

// begin reads the header of a frame.
func (p *parser) begin() {
	h := p.header[:]
	size := int(h[0])<<16 | int(h[1])<<8 | int(h[2])
	p.frame = frame{kind: h[3], flags: h[4], stream: binary.BigEndian.Uint32(h[5:]) & (1<<31 - 1), size: size, payload: p.frame.payload[:0]}
	p.left = size
}

// fragment returns the part of a head in a frame of HEADERS or CONTINUATION.
func (f *frame) fragment() []byte {
	octets := f.payload
	if f.kind == kindContinuation {
		return octets
	}
	padding := 0
	if f.flags&flagPadded != 0 && len(octets) > 0 {
		padding, octets = int(octets[0]), octets[1:]
	}
	if f.flags&flagPriority != 0 {
		octets = octets[min(5, len(octets)):]
	}
	return octets[:max(0, len(octets)-padding)]
}

// String returns the frame as a line of text, without its payload.
func (f *frame) String() string {
	text := fmt.Sprintf("frame of type %d", f.kind)
	if int(f.kind) < len(kinds) {
		text = kinds[f.kind]
	}
	if f.stream != 0 {
		text += fmt.Sprintf(", stream %d", f.stream)
	}
	text += fmt.Sprintf(", %d bytes", f.size)
	number := func(at int) uint32 {
		if len(f.payload) < at+4 {
			return 0
		}
		return binary.BigEndian.Uint32(f.payload[at:])
	}
	switch f.kind {
	case kindReset:
		text += ", " + codeName(number(0))
	case kindAway:
		text += fmt.Sprintf(", %s, last stream %d", codeName(number(4)), number(0)&(1<<31-1))
	case kindWindow:
		text += fmt.Sprintf(", %d more", number(0)&(1<<31-1))
	case kindSettings, kindPing:
		if f.flags&flagAck != 0 {
			text += ", ACK"
		}
	case kindData, kindHeaders:
		if f.flags&flagEnd != 0 {
			text += ", END_STREAM"
		}
	}
	return text
}
