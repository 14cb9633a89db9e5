package http

import (
	"bytes"
	"fmt"
	"math"
	"net/http"

	"github.com/fetch1738/fetch1738/fetch"
)

// maxInterim is how many 1xx answers may come before the final one.
const maxInterim = 5

// framing tells where the parts of an answer end in what a connection gives.
// net/http does that too, but it reads on behind the end, and would take what it
// finds there for the answer to another request.
type framing struct {
	line    int  // octets in this line of the head
	total   int  // octets in all heads
	text    bool // there is text in this line
	interim int
	body    taker // nil while the head is read
}

// head tells how many octets belong to a head, and whether it ends with them.
func (f *framing) head(octets []byte, limits *fetch.Limits) (n int, ended bool, err error) {
	for _, octet := range octets {
		n++
		f.line++
		f.total++
		switch {
		case limits.Line > 0 && f.line > limits.Line:
			return n, false, &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("a header line of more than %d octets", limits.Line)}
		case limits.Header > 0 && f.total > limits.Header:
			return n, false, &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("a header of more than %d octets", limits.Header)}
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

// maxTrailer is how many octets of a trailer are shown; net/http takes fewer.
const maxTrailer = 64 << 10

// A taker tells how many octets belong to a body.
type taker interface{ take(octets []byte) int }

// bodyOf is the framing of a body (RFC 9112 §6.3) as net/http understands it.
func bodyOf(resp *http.Response) taker {
	code := resp.StatusCode
	switch {
	case resp.Request.Method == http.MethodHead, code/100 == 1, code == http.StatusNoContent, code == http.StatusNotModified:
		return new(nothing)
	case len(resp.TransferEncoding) > 0:
		return new(chunks)
	case resp.ContentLength >= 0:
		return &counted{resp.ContentLength}
	}
	return &counted{math.MaxInt64}
}

type nothing struct{}

func (nothing) take([]byte) int { return 0 }

// counted is a body of known length.
type counted struct{ left int64 }

func (c *counted) take(octets []byte) int {
	n := min(c.left, int64(len(octets)))
	c.left -= n
	return int(n)
}

// chunks is a body in the chunked coding (RFC 9112 §7.1): lines that start with
// a number in base 16, each followed by as many octets and a line end; after the
// number 0, a trailer of lines and an empty one. Errors are left to net/http,
// which reads the same octets, but wants each line to end in CR LF.
type chunks struct {
	state   chunkState
	size    uint64 // of the chunk, as far as its line was read
	left    uint64 // of the chunk's octets
	text    bool   // there is text in this line of the trailer
	cr      bool   // the last octet was a CR
	bare    []int  // where in the octets taken last lines end in LF alone
	trailer []byte // its lines, in CR LF when done
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

// hexValue is the value of a hexadecimal digit, or -1.
func hexValue(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
