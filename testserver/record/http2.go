package record

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
	for f.begun && len(f.part) >= frameHead && len(f.part) >= frameSize(f.part) {
		frame := f.part[:frameSize(f.part)]
		if f.part = f.part[len(frame):]; f.take(frame) {
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
func (f *flow) take(frame []byte) bool {
	stream, payload := streamOf(frame), frame[frameHead:]
	switch http2.FrameType(frame[3]) {
	case http2.FrameSettings:
		if http2.Flags(frame[4])&http2.FlagSettingsAck != 0 {
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
			if stream == 0 {
				f.conn += n
			} else {
				f.streams[stream] += n
			}
		}
		return false
	case http2.FrameRSTStream: // what was under way is sent, and the client throws it away
		f.streams[stream] = math.MaxInt32
	}
	return true
}

// allows reports whether a frame of the server may be sent.
func (f *flow) allows(frame []byte) bool {
	n := dataSize(frame)
	return n <= f.conn && n <= f.initial+f.streams[streamOf(frame)]
}

// sent takes a frame of the server from the windows.
func (f *flow) sent(frame []byte) {
	n := dataSize(frame)
	f.conn -= n
	f.streams[streamOf(frame)] -= n
}

// frameHead is the length of what precedes the payload of a frame (RFC 9113 §4.1).
const frameHead = 9

// frameSize returns the length of a frame of which at least the head is there.
func frameSize(frame []byte) int {
	return frameHead + int(binary.BigEndian.Uint32(frame)>>8)
}

func streamOf(frame []byte) uint32 { return binary.BigEndian.Uint32(frame[5:]) & math.MaxInt32 }

// dataSize returns how much of the windows a frame takes.
func dataSize(frame []byte) int64 {
	if http2.FrameType(frame[3]) != http2.FrameData {
		return 0
	}
	return int64(frameSize(frame) - frameHead)
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
	data := make(map[int][]byte) // heads of the frames, by their offset
	for at := 0; len(server)-at >= frameHead; at += frameSize(server[at:]) {
		if head := server[at : at+frameHead]; dataSize(head) > 0 {
			data[at] = head
		}
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
			events = append(events, e)
		}
		sent += len(octets)
	}
	p.s.events = events
}

// send sends octets. The first of them are those of a frame of DATA if data, its head, is not nil: then
// send waits for its window.
func (p *peer) send(data, octets []byte) error {
	if data != nil {
		if !p.s.wait(p, func() bool { return p.flow.other || p.flow.allows(data) || p.in.err != nil }) {
			return net.ErrClosed
		}
		p.s.r.mu.Lock()
		p.flow.sent(data)
		p.s.r.mu.Unlock()
	}
	_, err := p.nc.Write(octets)
	return err
}
