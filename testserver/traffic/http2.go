package traffic

import (
	"bytes"
	"encoding/binary"
	"math"
	"net"
	"slices"

	"golang.org/x/net/http2"
)

// flow is what a client of HTTP/2 has allowed the server to send (RFC 9113 §5.2). When a client
// acknowledges SETTINGS, answers PING and opens its windows depends on its threads, and is not the same
// a second time. So these frames are not compared with the record, and the server does not wait for
// them, but for windows that are as large as its DATA.
type flow struct {
	part    []byte // of a frame whose end has not come
	begun   bool   // the preface has come
	other   bool   // something else has
	initial int64  // window of a stream that has begun
	conn    int64
	streams map[uint32]int64 // by how much windows differ from initial
}

func newFlow() *flow {
	return &flow{initial: 65535, conn: 65535, streams: make(map[uint32]int64)}
}

// add adds octets of the client, and returns those that are compared. Those of a frame come when all
// of it is there.
func (f *flow) add(octets []byte) (compared []byte) {
	f.part = append(f.part, octets...)
	if !f.begun && !f.other {
		n := min(len(f.part), len(http2.ClientPreface))
		f.other = string(f.part[:n]) != http2.ClientPreface[:n]
		if f.begun = !f.other && n == len(http2.ClientPreface); f.begun {
			compared, f.part = append(compared, f.part[:n]...), f.part[n:]
		}
	}
	if f.other {
		return f.rest()
	}
	for f.begun {
		h, ok := headOf(f.part)
		if !ok || len(f.part)-frameHead < int(h.Length) {
			break
		}
		frame := f.part[:frameHead+int(h.Length)]
		if f.part = f.part[len(frame):]; f.take(h, frame[frameHead:]) {
			compared = append(compared, frame...)
		}
	}
	return compared
}

// rest returns the octets that have come of a frame whose end has not.
func (f *flow) rest() []byte {
	rest := f.part
	f.part = nil
	return rest
}

// take reports whether a frame of the client is compared; if not, it may open a window.
func (f *flow) take(h http2.FrameHeader, payload []byte) bool {
	switch h.Type {
	case http2.FrameSettings:
		if h.Flags.Has(http2.FlagSettingsAck) {
			return false
		}
		for ; len(payload) >= 6; payload = payload[6:] {
			if http2.SettingID(binary.BigEndian.Uint16(payload)) == http2.SettingInitialWindowSize {
				f.initial = int64(binary.BigEndian.Uint32(payload[2:]))
			}
		}
	case http2.FramePing:
		return false
	case http2.FrameWindowUpdate:
		if len(payload) >= 4 {
			n := int64(binary.BigEndian.Uint32(payload) & math.MaxInt32)
			if h.StreamID == 0 {
				f.conn += n
			} else {
				f.streams[h.StreamID] += n
			}
		}
		return false
	case http2.FrameRSTStream: // what was under way is sent, and the client throws it away
		f.streams[h.StreamID] = math.MaxInt32
	}
	return true
}

// allows reports whether a frame of DATA may be sent.
func (f *flow) allows(data http2.FrameHeader) bool {
	n := int64(data.Length)
	return n <= f.conn && n <= f.initial+f.streams[data.StreamID]
}

// sent takes a frame of DATA from the windows.
func (f *flow) sent(data http2.FrameHeader) {
	f.conn -= int64(data.Length)
	f.streams[data.StreamID] -= int64(data.Length)
}

// frameHead is the length of what precedes the payload of a frame (RFC 9113 §4.1).
const frameHead = 9

// headOf returns the head of the frame with which octets begin; ok is false if not all of it is there.
func headOf(octets []byte) (h http2.FrameHeader, ok bool) {
	h, err := http2.ReadFrameHeader(bytes.NewReader(octets))
	return h, err == nil
}

// speaksHTTP2 reports whether the client of the peer begins with the preface of HTTP/2.
func (p *peer) speaksHTTP2() bool {
	return slices.ContainsFunc(p.s.events, func(e step) bool {
		return e.peer == p && e.Event.Event == Client && bytes.HasPrefix(e.Octets, []byte("PRI * HTTP/2.0\r\n"))
	})
}

// asHTTP2 changes the events of a peer that speaks HTTP/2: the octets of the client are those that are
// compared, and each of the server's frames of DATA begins an event of its own.
func (p *peer) asHTTP2() {
	p.flow = newFlow()
	var server []byte
	for _, e := range p.s.events {
		if e.peer == p && e.Event.Event == Server {
			server = append(server, e.Octets...)
		}
	}
	data := make(map[int]*http2.FrameHeader) // of the frames of DATA, by their offset
	for at := 0; at < len(server); {
		h, ok := headOf(server[at:])
		if !ok {
			break
		}
		if h.Type == http2.FrameData {
			data[at] = &h
		}
		at += frameHead + int(h.Length)
	}
	client, sent := newFlow(), 0
	var events []step
	for _, e := range p.s.events {
		if e.peer != p || e.Event.Event != Client && e.Event.Event != Server {
			events = append(events, e)
			continue
		}
		if e.Event.Event == Client {
			e.Octets = client.add(e.Octets)
			events = append(events, e)
			continue
		}
		octets := e.Octets
		for from, to := 0, 1; from < len(octets); from, to = to, to+1 {
			for to < len(octets) && data[sent+to] == nil {
				to++
			}
			e.Octets, e.data = octets[from:to], data[sent+from]
			if e.data != nil && !client.allows(*e.data) { // nor did the server of the record wait
				e.data = nil
			} else if e.data != nil {
				client.sent(*e.data)
			}
			events = append(events, e)
		}
		sent += len(octets)
	}
	p.s.events = events
}

// send sends octets. If data is not nil, it is the head of the frame of DATA that begins with them, and
// send waits for its window.
func (p *peer) send(data *http2.FrameHeader, octets []byte) error {
	if data != nil {
		if !p.s.wait(p, func() bool { return p.flow.other || p.flow.allows(*data) || p.in.err != nil }) {
			return net.ErrClosed
		}
		p.s.r.mu.Lock()
		p.flow.sent(*data)
		p.s.r.mu.Unlock()
	}
	_, err := p.nc.Write(octets)
	return err
}
