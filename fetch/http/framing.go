package http

import (
	"bytes"
	"fmt"
	"math"
	"net/http"

	"github.com/fetch1738/fetch1738/fetch"
)

// maxInterim is the maximum number of 1xx responses before the final one.
const maxInterim = 5

// framing finds the ends of the parts of a response in the data of a connection. net/http does that
// too, but it reads beyond the end, and would take what follows for the response to another
// request.
type framing struct {
	line    int  // bytes in this line of the head
	total   int  // bytes in all heads
	text    bool // this line is not empty
	interim int
	body    bodyFraming // nil while the head is read
}

// head returns how many bytes belong to a head, and whether the head ends with them.
func (f *framing) head(octets []byte, limits *fetch.Limits) (n int, ended bool, err error) {
	for _, octet := range octets {
		n++
		f.line++
		f.total++
		switch {
		case limits.Line > 0 && f.line > limits.Line:
			return n, false, &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("%w: a line is longer than %d bytes", ErrHeader, limits.Line)}
		case limits.Header > 0 && f.total > limits.Header:
			return n, false, &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("%w: longer than %d bytes", ErrHeader, limits.Header)}
		case octet != '\n':
			f.text = f.text || octet != '\r'
		case !f.text:
			f.line = 0
			return n, true, nil
		default:
			f.line, f.text = 0, false
		}
	}
	return n, false, nil
}

// maxTrailer is how many bytes of a trailer are shown. net/http accepts fewer.
const maxTrailer = 64 << 10

// A bodyFraming counts how many of the given bytes belong to a body.
type bodyFraming interface{ take(octets []byte) int }

// bodyOf returns the framing of a body (RFC 9112 §6.3), as net/http interprets it.
func bodyOf(resp *http.Response) bodyFraming {
	code := resp.StatusCode
	switch {
	case resp.Request.Method == http.MethodHead, code/100 == 1, code == http.StatusNoContent, code == http.StatusNotModified:
		return new(emptyBody)
	case len(resp.TransferEncoding) > 0:
		return new(chunks)
	case resp.ContentLength >= 0:
		return &counted{resp.ContentLength}
	}
	return &counted{math.MaxInt64}
}

type emptyBody struct{}

func (emptyBody) take([]byte) int { return 0 }

// counted is a body of known length.
type counted struct{ left int64 }

func (c *counted) take(octets []byte) int {
	n := min(c.left, int64(len(octets)))
	c.left -= n
	return int(n)
}

// chunks is a body in the chunked coding (RFC 9112 §7.1). Each chunk is a line that starts with its
// size in hexadecimal, that many bytes, and a line end. The chunk of size 0 is followed by a
// trailer of lines and an empty line. Errors are left to net/http, which reads the same bytes, but
// requires each line to end in CR LF.
type chunks struct {
	state   chunkState
	size    uint64 // of the chunk, as far as its line has been read
	left    uint64 // unread bytes of the chunk
	text    bool   // this line of the trailer is not empty
	cr      bool   // the last byte was a CR
	bare    []int  // positions of LF without CR in the bytes taken last
	trailer []byte // its lines; their ends are CR LF once it is complete
}

type chunkState uint8

const (
	chunkSize chunkState = iota
	chunkExtension
	chunkData
	chunkEnd
	chunkTrailer
	chunkDone
)

func (c *chunks) take(octets []byte) int {
	n := 0
	c.bare = c.bare[:0]
	for n < len(octets) && c.state != chunkDone {
		if c.state == chunkData {
			skip := min(c.left, uint64(len(octets)-n))
			n += int(skip)
			c.cr = false
			if c.left -= skip; c.left == 0 {
				c.state = chunkEnd
			}
			continue
		}
		if octets[n] == '\n' && !c.cr {
			c.bare = append(c.bare, n)
		}
		c.cr = octets[n] == '\r'
		c.octet(octets[n])
		n++
	}
	return n
}

// octet reads one byte that is not part of the data of a chunk.
func (c *chunks) octet(octet byte) {
	switch c.state {
	case chunkSize, chunkExtension:
		digit := hexValue(octet)
		switch {
		case octet == '\n' && c.size == 0:
			c.state = chunkTrailer
		case octet == '\n':
			c.state, c.left, c.size = chunkData, c.size, 0
		case c.state == chunkSize && digit >= 0:
			c.size = c.size<<4 | uint64(digit)
		default:
			c.state = chunkExtension
		}
	case chunkEnd:
		if octet == '\n' {
			c.state = chunkSize
		}
	case chunkTrailer:
		if octet != '\r' && len(c.trailer) < maxTrailer {
			c.trailer = append(c.trailer, octet)
		}
		switch {
		case octet == '\n' && !c.text:
			c.state = chunkDone
			c.trailer = bytes.ReplaceAll(bytes.TrimSuffix(c.trailer, []byte("\n")), []byte("\n"), []byte("\r\n"))
		case octet == '\n':
			c.text = false
		case octet != '\r':
			c.text = true
		}
	}
}

// hexValue returns the value of a hexadecimal digit, or -1.
func hexValue(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
