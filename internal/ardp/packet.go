// Package ardp is the Asynchronous Reliable Delivery Protocol, version 0: one
// request and one answer over UDP, each of 1 to 65535 numbered packets, kept
// apart from others by a connection id. Prospero speaks by it.
//
// [Packet] is the header and its data, [Assembly] puts the packets of a message
// in order, [Exchange] is the client's side of the procedure. Integers are
// big-endian. The protocol is described in the appendix of "The Prospero
// Protocol" (B. C. Neuman, S. Augart, draft of June 1993).
package ardp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

const (
	// MaxData is how many octets of a message a sender puts into a packet.
	MaxData = 1250
	// MaxPackets is how many packets a message has at most.
	MaxPackets = 65535
	// Window is how many packets may be under way that the other side has not
	// acknowledged.
	Window = 16

	maxHeader = 31
)

// Flags is octet 11 of a header.
type Flags byte

// The flags. The first four bring extra fields with them.
const (
	FlagAddress          Flags = 0x01 // type octet, length octet, data
	FlagPriority         Flags = 0x02 // 2 octets, signed
	FlagProtocol         Flags = 0x04 // 2 octets
	FlagWindow           Flags = 0x08 // 2 octets: the window that the sender wants
	FlagSequencedControl Flags = 0x40 // counts in the sequence but holds no data
	FlagAck              Flags = 0x80 // please acknowledge
)

// Option is octet 12 of a header.
type Option byte

// The options.
const (
	OptNone        Option = 0
	OptCancel      Option = 1 // from a client: never mind; from a server: refused
	OptReset       Option = 2 // take Received literally, even backwards
	OptBitmap      Option = 3 // packets received beyond Received
	OptRedirect    Option = 4 // ask another server: 4 octets of address, 2 of port
	OptRedirectAll Option = 5 // and later requests too
	OptForwarded   Option = 6 // between servers
	OptForwardedN  Option = 7 // the same, please notify the client
	OptVersions    Option = 8 // version not supported: those that are
	OptAskQueue    Option = 253
	OptQueue       Option = 254 // queue status
)

// Packet is one datagram.
type Packet struct {
	// Header is the length of the header in octets. It may end behind any field;
	// those behind it have their defaults. 0 is as long as the fields need.
	Header int
	// ID is the connection id, chosen by the client.
	ID uint16
	// Seq is the packet's number, from 1. 0 is a control packet outside the
	// sequence: without data, never acknowledged. Without the field it is 1.
	Seq uint16
	// Total is how many packets the message has; 0 is not known yet. With neither
	// this field nor Seq it is 1.
	Total uint16
	// Received says that all packets up to this one of the other side's message
	// have come.
	Received uint16
	// Wait is for how many seconds the client need not repeat itself.
	Wait   uint16
	Flags  Flags
	Option Option
	// Extra is what is behind octet 12: the fields of the flags, lowest bit first,
	// then those of the option.
	Extra []byte
	Data  []byte
}

// The ways in which a datagram is no packet of version 0.
var (
	ErrEmpty   = errors.New("empty datagram")
	ErrText    = errors.New("text without a header, as before 1991")
	ErrVersion = errors.New("another version of ARDP")
	ErrHeader  = errors.New("bad ARDP header")
)

// Decode takes a datagram apart. Extra and Data are parts of it. The error is
// one of the above, or wraps ErrHeader.
func Decode(datagram []byte) (*Packet, error) {
	if len(datagram) == 0 {
		return nil, ErrEmpty
	}
	n := int(datagram[0])
	switch {
	case n > maxHeader && n <= 128:
		return nil, ErrText
	case n > maxHeader || n == 0:
		return nil, ErrVersion
	case n > len(datagram):
		return nil, fmt.Errorf("%w: %d octets long in a datagram of %d", ErrHeader, n, len(datagram))
	case n < 12 && n%2 == 0:
		return nil, fmt.Errorf("%w: it ends in octet %d, within a field", ErrHeader, n)
	}
	var full [maxHeader]byte
	copy(full[:], datagram[:n])
	p := &Packet{
		Header:   n,
		ID:       binary.BigEndian.Uint16(full[1:]),
		Seq:      binary.BigEndian.Uint16(full[3:]),
		Total:    binary.BigEndian.Uint16(full[5:]),
		Received: binary.BigEndian.Uint16(full[7:]),
		Wait:     binary.BigEndian.Uint16(full[9:]),
		Flags:    Flags(full[11]),
		Option:   Option(full[12]),
		Data:     datagram[n:],
	}
	if n < 5 {
		p.Seq, p.Total = 1, 1
	}
	if n > 13 {
		p.Extra = datagram[13:n]
	}
	return p, p.check()
}

// check looks whether the extra fields are there that flags and option speak of.
func (p *Packet) check() error {
	fields, ok := p.flagFields()
	if !ok {
		return fmt.Errorf("%w: flags %02x without their fields", ErrHeader, byte(p.Flags))
	}
	rest := p.Extra[fields:]
	need := 0
	switch p.Option {
	case OptRedirect, OptRedirectAll, OptForwarded, OptForwardedN:
		need = 6
	case OptQueue:
		if need = 1; len(rest) > 0 {
			need += 2 * int(rest[0]&queuePosition)
			need += 4 * int(rest[0]&queueTime>>1)
		}
	case OptAskQueue:
		need = 1
	}
	if len(rest) < need {
		return fmt.Errorf("%w: option %d without its fields", ErrHeader, p.Option)
	}
	return nil
}

// flagFields is how many octets of Extra belong to the flags.
func (p *Packet) flagFields() (n int, ok bool) {
	if p.Flags&FlagAddress != 0 {
		if len(p.Extra) < 2 {
			return 0, false
		}
		n = 2 + int(p.Extra[1])
	}
	for _, f := range []Flags{FlagPriority, FlagProtocol, FlagWindow} {
		if p.Flags&f != 0 {
			n += 2
		}
	}
	return n, n <= len(p.Extra)
}

// option is the part of Extra that belongs to the option.
func (p *Packet) option() []byte {
	n, ok := p.flagFields()
	if !ok {
		return nil
	}
	return p.Extra[n:]
}

// HasTotal tells whether the header has the field Total.
func (p *Packet) HasTotal() bool { return p.Header >= 7 }

// HasWait tells whether the header has the field Wait.
func (p *Packet) HasWait() bool { return p.Header >= 11 }

// Redirect is where a server sends the client.
func (p *Packet) Redirect() (to netip.AddrPort, ok bool) {
	o := p.option()
	if p.Option != OptRedirect && p.Option != OptRedirectAll || len(o) < 6 {
		return netip.AddrPort{}, false
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(o)), binary.BigEndian.Uint16(o[4:])), true
}

// Queue is what a server says of its queue.
type Queue struct {
	Position int           // -1: not told
	Time     time.Duration // until the answer, by the server's estimate; -1: not told
}

const (
	queuePosition = 1
	queueTime     = 2
)

// Queue is the queue status in the packet.
func (p *Packet) Queue() (q Queue, ok bool) {
	o := p.option()
	if p.Option != OptQueue || len(o) == 0 {
		return q, false
	}
	q = Queue{Position: -1, Time: -1}
	flags, o := o[0], o[1:]
	if flags&queuePosition != 0 && len(o) >= 2 {
		q.Position, o = int(binary.BigEndian.Uint16(o)), o[2:]
	}
	if flags&queueTime != 0 && len(o) >= 4 {
		q.Time = time.Duration(binary.BigEndian.Uint32(o)) * time.Second
	}
	return q, true
}

// WindowWanted is the window that the sender asks for, or 0.
func (p *Packet) WindowWanted() int {
	if p.Flags&FlagWindow == 0 {
		return 0
	}
	n, ok := p.flagFields() // the window is the last of the flags' fields
	if !ok {
		return 0
	}
	return int(binary.BigEndian.Uint16(p.Extra[n-2:]))
}

// Append appends the datagram. A Header that is too short for what follows it
// cuts it off, as on the wire.
func (p *Packet) Append(b []byte) []byte {
	n := p.Header
	if n == 0 {
		n = p.needed()
	}
	var full [13]byte
	full[0] = byte(n)
	binary.BigEndian.PutUint16(full[1:], p.ID)
	binary.BigEndian.PutUint16(full[3:], p.Seq)
	binary.BigEndian.PutUint16(full[5:], p.Total)
	binary.BigEndian.PutUint16(full[7:], p.Received)
	binary.BigEndian.PutUint16(full[9:], p.Wait)
	full[11], full[12] = byte(p.Flags), byte(p.Option)
	b = append(b, full[:min(n, 13)]...)
	if n > 13 {
		b = append(b, p.Extra...)
	}
	return append(b, p.Data...)
}

// needed is the length of the shortest header that says all.
func (p *Packet) needed() int {
	switch {
	case len(p.Extra) > 0 || p.Option != 0:
		return 13 + len(p.Extra)
	case p.Flags != 0:
		return 12
	case p.Wait != 0:
		return 11
	case p.Received != 0 || p.Seq == 0:
		return 9
	case p.Seq != 1 || p.Total != 1:
		return 7
	case p.ID != 0:
		return 3
	}
	return 1
}

// QueueExtra is the Extra of a packet with OptQueue and no flags that have
// fields.
func QueueExtra(q Queue) []byte {
	b := []byte{0}
	if q.Position >= 0 {
		b[0] |= queuePosition
		b = binary.BigEndian.AppendUint16(b, uint16(q.Position))
	}
	if q.Time >= 0 {
		b[0] |= queueTime
		b = binary.BigEndian.AppendUint32(b, uint32(q.Time/time.Second))
	}
	return b
}

// RedirectExtra is the Extra of a packet with OptRedirect. There is room for an
// IPv4 address only.
func RedirectExtra(to netip.AddrPort) ([]byte, bool) {
	addr := to.Addr().Unmap()
	if !addr.Is4() {
		return nil, false
	}
	return binary.BigEndian.AppendUint16(addr.AsSlice(), to.Port()), true
}

// Split cuts a message into packets as a client sends them; an empty one is one
// packet. It is false when there are too many.
func Split(id uint16, message []byte) ([]*Packet, bool) {
	total := max(1, (len(message)+MaxData-1)/MaxData)
	if total > MaxPackets {
		return nil, false
	}
	packets := make([]*Packet, total)
	for i := range packets {
		n := min(MaxData, len(message))
		packets[i] = &Packet{Header: 9, ID: id, Seq: uint16(i + 1), Total: uint16(total), Data: message[:n]}
		message = message[n:]
	}
	return packets, true
}
