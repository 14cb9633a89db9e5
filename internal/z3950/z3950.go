// Package z3950 is the codec of WAIS: the messages of its client and server,
// which are PDUs of Z39.50-1988 behind a header of 25 octets. It does no more
// I/O than [ReadMessage].
//
// A PDU is decoded into a struct ([Init], [InitResponse], [Search],
// [SearchResponse], [Other]) and appended from it. What one of them takes from
// a message are parts of that message; nothing is allocated by a length or a
// count that a peer has announced. Elements of unknown tags are skipped.
//
// The names and numbers of tags are those of the WAIS Interface Protocol
// Prototype Functional Specification 1.5 (1990), with the additions of freeWAIS.
package z3950

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// HeaderSize is the length of a message's header in octets.
const HeaderSize = 25

// Header is in front of every message.
type Header struct {
	Length      int64  // of what follows, in octets; 0 is an answer without one
	Type        byte   // 'z' is a PDU; 'a' acknowledges and 'n' refuses (neither is in use)
	Version     byte   // '2'
	Server      string // of ten octets at most; "wais" by custom, echoed by servers
	Compression byte   // ' ' is none, 'u' that of the program compress
	Encoding    byte   // ' ' is none; 'h', 'i', 'u' are for serial lines
	Checksum    byte   // '0', which nobody looks at
}

// NewHeader is the header that clients send.
func NewHeader() Header {
	return Header{Type: 'z', Version: '2', Server: "wais", Compression: ' ', Encoding: ' ', Checksum: '0'}
}

const serverSize = 10

// append appends the header's octets to b.
func (h Header) append(b []byte) []byte {
	b = fmt.Appendf(b, "%010d", h.Length)
	b = append(b, h.Type, h.Version)
	b = append(b, (h.Server + "          ")[:serverSize]...)
	return append(b, h.Compression, h.Encoding, h.Checksum)
}

// Errors about messages. Those about what is in one are [*SyntaxError]s.
var (
	// ErrNotWAIS is for octets that no message begins with.
	ErrNotWAIS = errors.New("not a WAIS message")
	// ErrTooLong is for a message or a part of one that is longer than allowed.
	ErrTooLong = errors.New("message too long")
	// ErrUnsupported is for compression, encodings and versions nobody uses.
	ErrUnsupported = errors.New("unsupported kind of WAIS message")
)

// checkStart looks at the first octets of a header, as many as there are.
func checkStart(b []byte) error {
	for i, c := range b[:min(len(b), 11)] {
		if i < 10 && (c < '0' || c > '9') {
			return fmt.Errorf("%w: octet %d of the length is %q", ErrNotWAIS, i+1, c)
		}
		if i == 10 && !strings.ContainsRune("zanZAN", rune(c)) {
			return fmt.Errorf("%w: of type %q", ErrNotWAIS, c)
		}
	}
	return nil
}

// ParseHeader reads a header. It takes letters in either case, as servers do.
func ParseHeader(b []byte) (Header, error) {
	if err := checkStart(b); err != nil {
		return Header{}, err
	}
	if len(b) < HeaderSize {
		return Header{}, io.ErrUnexpectedEOF
	}
	h := Header{
		Type: b[10] | 0x20, Version: b[11], Server: strings.TrimRight(string(b[12:22]), " "),
		Compression: b[22], Encoding: b[23], Checksum: b[24],
	}
	for _, c := range b[:10] {
		h.Length = h.Length*10 + int64(c-'0')
	}
	switch {
	case h.Version > '2':
		return h, fmt.Errorf("%w: version %q", ErrUnsupported, h.Version)
	case h.Compression != ' ':
		return h, fmt.Errorf("%w: compression %q", ErrUnsupported, h.Compression)
	case h.Encoding != ' ':
		return h, fmt.Errorf("%w: encoding %q", ErrUnsupported, h.Encoding)
	}
	return h, nil
}

// IsMessage reports whether octets are one whole message.
func IsMessage(octets []byte) bool {
	h, err := ParseHeader(octets)
	return err == nil && int64(len(octets)) == HeaderSize+h.Length
}

// ReadMessage reads one message, whose body may have limit octets, and returns
// it whole with its header. It uses buf as far as that has room and makes it no
// longer than twice what has come. It returns io.EOF at the end of r,
// io.ErrUnexpectedEOF inside a message, and fails at the first octet that no
// message can have there.
func ReadMessage(r io.Reader, buf []byte, limit int) (Header, []byte, error) {
	buf, err := readStart(r, buf[:0])
	if err != nil {
		return Header{}, buf, err
	}
	h, err := ParseHeader(buf)
	if err != nil {
		return h, buf, err
	}
	if h.Length > min(int64(limit), math.MaxInt-HeaderSize) {
		return h, buf, fmt.Errorf("%w: %d octets are announced, the limit is %d", ErrTooLong, h.Length, limit)
	}
	buf, err = fill(r, buf, HeaderSize+int(h.Length))
	return h, buf, err
}

// readStart reads a header.
func readStart(r io.Reader, buf []byte) ([]byte, error) {
	for len(buf) < HeaderSize {
		var err error
		if buf, err = readMore(r, buf, HeaderSize); err != nil {
			return buf, err
		}
		if err := checkStart(buf); err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// fill reads until buf has size octets.
func fill(r io.Reader, buf []byte, size int) ([]byte, error) {
	var err error
	for len(buf) < size && err == nil {
		buf, err = readMore(r, buf, size)
	}
	return buf, err
}

// firstRoom is how much room there is made for a message at first.
const firstRoom = 16 << 10

// readMore reads once, up to size octets in all.
func readMore(r io.Reader, buf []byte, size int) ([]byte, error) {
	if len(buf) == cap(buf) {
		room := min(size, max(2*cap(buf), firstRoom))
		buf = append(make([]byte, 0, max(room, HeaderSize)), buf...)
	}
	n, err := r.Read(buf[len(buf):min(size, cap(buf))])
	buf = buf[:len(buf)+n]
	switch {
	case n > 0:
		err = nil // comes again, if it is still of interest
	case err == io.EOF && len(buf) > 0:
		err = io.ErrUnexpectedEOF
	}
	return buf, err
}

// AppendMessage appends a message with p behind its header to b; the header's
// Length is set here.
func AppendMessage(b []byte, h Header, p PDU) ([]byte, error) {
	h.Length = 0
	start := len(b)
	b, err := AppendPDU(h.append(b), p)
	if err != nil {
		return b[:start], err
	}
	h.Length = int64(len(b) - start - HeaderSize)
	h.append(b[start:start])
	return b, nil
}
