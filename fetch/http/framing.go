package http

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
)

// framing finds the ends of the parts of a response in the data of a connection. net/http does that
// too, but it reads beyond the end, and would take what follows for the response to another
// request.
type framing struct {
	line  int         // bytes in this line of the head
	total int         // bytes in all heads, those of 1xx responses too
	text  bool        // this line is not empty
	given int         // bytes of this head that Read has returned
	body  bodyFraming // nil while the head is read
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

// plainFraming returns a head with the framing as net/http accepts it. Servers write the same in
// other ways, which have one meaning only: a length repeated, also in one field (RFC 9110 §8.6); the
// transfer coding "identity" of RFC 2616, which changes nothing; "chunked" repeated for one layer of
// chunks. The connection to such a server is not used again. Any other head is not changed, nor is one
// with a CR inside a line, which net/http refuses.
func plainFraming(head []byte) []byte {
	if bytes.Count(head, []byte("\r")) != bytes.Count(head, []byte("\r\n")) {
		return head
	}
	list := fields(head)
	lengths, codings := members(list, "Content-Length"), members(list, "Transfer-Encoding")
	if len(lengths) < 2 && (len(codings) == 0 || len(codings) == 1 && codings[0] == "chunked") {
		return head
	}
	for i, n := range lengths {
		lengths[i] = cmp.Or(strings.TrimLeft(n, "0"), n[:min(len(n), 1)])
	}
	lengths = slices.Compact(lengths)
	codings = slices.Compact(slices.DeleteFunc(codings, func(c string) bool { return c == "identity" || c == "" }))
	if len(lengths) > 1 || len(codings) > 1 || len(codings) == 1 && codings[0] != "chunked" {
		return head // net/http refuses it
	}
	plain := make([]byte, 0, len(head)+len("Connection: close\r\n"))
	drop := false
	for line := range bytes.Lines(bytes.TrimRight(head, "\r\n")) {
		if line[0] != ' ' && line[0] != '\t' { // else it continues the line before it
			name, _, _ := strings.Cut(string(line), ":")
			drop = strings.EqualFold(name, "Content-Length") || strings.EqualFold(name, "Transfer-Encoding")
		}
		if !drop {
			plain = append(plain, line...)
		}
	}
	plain = append(bytes.TrimRight(plain, "\r\n"), "\r\nConnection: close\r\n"...)
	for _, length := range lengths {
		plain = append(plain, "Content-Length: "+length+"\r\n"...)
	}
	for _, coding := range codings {
		plain = append(plain, "Transfer-Encoding: "+coding+"\r\n"...)
	}
	return append(plain, "\r\n"...)
}

// members returns the members of the lists in all fields of a name, in lower case.
func members(list []fetch.Field, name string) (all []string) {
	for _, f := range list {
		if strings.EqualFold(f.Name, name) {
			for member := range strings.SplitSeq(strings.ToLower(f.Value), ",") {
				all = append(all, strings.Trim(member, " \t"))
			}
		}
	}
	return all
}

// rest returns the bytes of an incomplete head that Read has not returned.
func (f *framing) rest(received []byte) []byte {
	octets := received[f.given:]
	f.given = len(received)
	return octets
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
