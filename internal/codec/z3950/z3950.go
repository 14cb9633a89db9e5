// Package z3950 encodes and decodes WAIS messages. They are PDUs of Z39.50-1988 after a header of 25
// octets. Only [ReadMessage] does I/O.
//
// A PDU is decoded into a struct ([Init], [InitResponse], [Search], [SearchResponse], [Other]) and
// encoded from it. Decoded values refer to the memory of the message. Lengths and counts that a peer
// announces never determine the size of an allocation. Elements with unknown tags are skipped.
//
// The names and numbers of tags are those of the WAIS Interface Protocol Prototype Functional
// Specification 1.5 (1990), with the additions of freeWAIS.
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

// Header is the header of a message.
type Header struct {
	Length      int64  // length of the PDU in octets; 0 means an empty reply
	Type        byte   // 'z' means a PDU, 'a' an acknowledgement, 'n' a refusal; 'a' and 'n' are not in use
	Version     byte   // '2'
	Server      string // at most ten octets; usually "wais"; servers echo it
	Compression byte   // ' ' means no compression, 'u' the program compress
	Encoding    byte   // ' ' means no encoding; 'h', 'i', 'u' are for serial lines
	Checksum    byte   // '0'; it is never checked
}

// NewHeader returns the header that clients send.
func NewHeader() Header {
	return Header{Type: 'z', Version: '2', Server: "wais", Compression: ' ', Encoding: ' ', Checksum: '0'}
}

const serverSize = 10

// append appends the encoded header to b.
func (h Header) append(b []byte) []byte {
	b = fmt.Appendf(b, "%010d", h.Length)
	b = append(b, h.Type, h.Version)
	b = append(b, (h.Server + "          ")[:serverSize]...)
	return append(b, h.Compression, h.Encoding, h.Checksum)
}

// Errors about messages. Errors about the content of a message are [*SyntaxError]s.
var (
	// ErrNotWAIS means that the data does not begin like a WAIS message.
	ErrNotWAIS = errors.New("not a WAIS message")
	// ErrTooLong means that a message or a part of one is longer than allowed.
	ErrTooLong = errors.New("message too long")
	// ErrUnsupported means a compression, encoding or version that is not supported.
	ErrUnsupported = errors.New("unsupported kind of WAIS message")
)

// checkStart checks the first octets of a header, as far as they are in b.
func checkStart(b []byte) error {
	for i, c := range b[:min(len(b), 11)] {
		if i < 10 && (c < '0' || c > '9') {
			return fmt.Errorf("%w: byte %d of the length is %q", ErrNotWAIS, i+1, c)
		}
		if i == 10 && !strings.ContainsRune("zanZAN", rune(c)) {
			return fmt.Errorf("%w: unknown type %q", ErrNotWAIS, c)
		}
	}
	return nil
}

// ParseHeader parses a header. Like servers, it accepts letters in either case.
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

// IsMessage reports whether octets is exactly one complete message.
func IsMessage(octets []byte) bool {
	h, err := ParseHeader(octets)
	return err == nil && int64(len(octets)) == HeaderSize+h.Length
}

// ReadMessage reads one message and returns its header and the whole message, header included. The
// PDU may have at most limit octets. ReadMessage uses buf and grows it to at most twice the size of
// the received data. It returns io.EOF at the end of r, and io.ErrUnexpectedEOF inside a message. It
// fails at the first octet that is not valid in a header.
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
		return h, buf, fmt.Errorf("%w: the length is %d bytes; the limit is %d", ErrTooLong, h.Length, limit)
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

// fill reads until buf has size bytes.
func fill(r io.Reader, buf []byte, size int) ([]byte, error) {
	var err error
	for len(buf) < size && err == nil {
		buf, err = readMore(r, buf, size)
	}
	return buf, err
}

// initialBuffer is the initial size of the buffer for a message.
const initialBuffer = 16 << 10

// readMore reads once. buf grows to at most size bytes.
func readMore(r io.Reader, buf []byte, size int) ([]byte, error) {
	if len(buf) == cap(buf) {
		grown := min(size, max(2*cap(buf), initialBuffer))
		buf = append(make([]byte, 0, max(grown, HeaderSize)), buf...)
	}
	n, err := r.Read(buf[len(buf):min(size, cap(buf))])
	buf = buf[:len(buf)+n]
	switch {
	case n > 0:
		err = nil // the next read returns it again
	case err == io.EOF && len(buf) > 0:
		err = io.ErrUnexpectedEOF
	}
	return buf, err
}

// AppendMessage appends a message with the header h and the PDU p to b. It sets the header's Length.
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
