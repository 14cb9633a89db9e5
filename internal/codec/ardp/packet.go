// Package ardp implements the Asynchronous Reliable Delivery Protocol, version 0, which Prospero uses.
// It transfers one request and one answer over UDP, each of 1 to 65535 numbered packets. A
// connection id distinguishes exchanges.
//
// [Packet] is a header and its data. [Assembly] puts the packets of a message in order. [Exchange] is
// the client's side of the protocol. Integers are big-endian. The protocol is described in the
// appendix of "The Prospero Protocol" (B. C. Neuman, S. Augart, draft of June 1993).
package ardp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

const (
	// MaxData is the number of octets of a message that a sender puts into a packet.
	MaxData = 1250
	// MaxPackets is the maximum number of packets in a message.
	MaxPackets = 65535
	// Window is the maximum number of packets that have been sent and not acknowledged.
	Window = 16

	maxHeader = 31
)

// Flags is octet 11 of a header.
type Flags byte

// The flags. The first four add fields to the header.
const (
	FlagAddress          Flags = 0x01 // type octet, length octet, data
	FlagPriority         Flags = 0x02 // 2 octets, signed
	FlagProtocol         Flags = 0x04 // 2 octets
	FlagWindow           Flags = 0x08 // 2 octets: the window that the sender requests
	FlagSequencedControl Flags = 0x40 // numbered in the sequence, but has no data
	FlagAck              Flags = 0x80 // requests an acknowledgement
)

// Option is octet 12 of a header.
type Option byte

// The options.
const (
	OptNone        Option = 0
	OptCancel      Option = 1 // from a client: cancel; from a server: refused
	OptReset       Option = 2 // Received is exact, even if it goes backwards
	OptBitmap      Option = 3 // packets received beyond Received
	OptRedirect    Option = 4 // use another server: 4 octets of address, 2 of port
	OptRedirectAll Option = 5 // the same, also for later requests
	OptForwarded   Option = 6 // between servers
	OptForwardedN  Option = 7 // the same; notify the client
	OptVersions    Option = 8 // version not supported; lists the supported ones
	OptAskQueue    Option = 253
	OptQueue       Option = 254 // queue status
)

// Packet is one datagram.
type Packet struct {
	// Header is the length of the header in octets. The header may end after any field; the fields
	// after it have their defaults. Zero means as long as the fields require.
	Header int
	// ID is the connection id, chosen by the client.
	ID uint16
	// Seq is the packet's number, from 1. Zero means a control packet outside the sequence, which
	// has no data and is never acknowledged. The default is 1.
	Seq uint16
	// Total is the number of packets in the message. Zero means that it is not known yet. If the
	// header has neither Total nor Seq, it is 1.
	Total uint16
	// Received is the number up to which all packets of the other side's message have arrived.
	Received uint16
	// Wait is the number of seconds for which the client need not repeat its request.
	Wait   uint16
	Flags  Flags
	Option Option
	// Extra is the part of the header after octet 12: the fields of the flags, lowest bit first,
	// and then the fields of the option.
	Extra []byte
	Data  []byte
}

// The errors for a datagram that is not a packet of version 0.
var (
	ErrEmpty   = errors.New("empty datagram")
	ErrText    = errors.New("text without a header, as before 1991")
	ErrVersion = errors.New("another version of ARDP")
	ErrHeader  = errors.New("bad ARDP header")
)

// Decode decodes a datagram. Extra and Data of the result refer to datagram. The error is ErrEmpty,
// ErrText or ErrVersion, or wraps ErrHeader.
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
		return nil, fmt.Errorf("%w: length %d in a datagram of %d bytes", ErrHeader, n, len(datagram))
	case n < 12 && n%2 == 0:
		return nil, fmt.Errorf("%w: length %d, which is inside a field", ErrHeader, n)
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

// check checks that the header has the fields that its flags and option require.
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

// flagFields returns the number of octets of Extra that belong to the flags.
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

// option returns the part of Extra that belongs to the option.
func (p *Packet) option() []byte {
	n, ok := p.flagFields()
	if !ok {
		return nil
	}
	return p.Extra[n:]
}

// HasTotal reports whether the header has the field Total.
func (p *Packet) HasTotal() bool { return p.Header >= 7 }

// HasWait reports whether the header has the field Wait.
func (p *Packet) HasWait() bool { return p.Header >= 11 }

// Redirect returns the address of the server that the client is redirected to.
func (p *Packet) Redirect() (to netip.AddrPort, ok bool) {
	o := p.option()
	if p.Option != OptRedirect && p.Option != OptRedirectAll || len(o) < 6 {
		return netip.AddrPort{}, false
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(o)), binary.BigEndian.Uint16(o[4:])), true
}

// Queue is the status of a server's queue.
type Queue struct {
	Position int           // the position of the request; -1 if absent
	Time     time.Duration // the server's estimate of the time until the answer; -1 if absent
}

const (
	queuePosition = 1
	queueTime     = 2
)

// Queue returns the queue status in the packet. It reports false if the packet has no queue status.
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

// WindowWanted returns the window that the sender requests, or 0.
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

// Append appends the datagram to b. Fields that do not fit into Header are omitted.
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

// needed returns the length of the shortest header with all fields that differ from their defaults.
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

// QueueExtra returns the Extra of a packet with OptQueue and without flags that have fields.
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

// RedirectExtra returns the Extra of a packet with OptRedirect. It reports false for an address that
// is not IPv4, which the protocol cannot express.
func RedirectExtra(to netip.AddrPort) ([]byte, bool) {
	addr := to.Addr().Unmap()
	if !addr.Is4() {
		return nil, false
	}
	return binary.BigEndian.AppendUint16(addr.AsSlice(), to.Port()), true
}

// Split splits a message into packets. An empty message is one packet. Split reports false if there
// are too many packets.
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
