package exchange

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// bodyOf returns the body of a response whose head has been read from in (RFC 9112 §6.3). ends reports
// whether it has an end that is not that of the connection. trailer is called with a trailer.
func bodyOf(in *bufio.Reader, resp *http.Response, trailer func(octets []byte)) (body io.Reader, ends bool) {
	code := resp.StatusCode
	switch {
	case resp.Request.Method == http.MethodHead, code/100 == 1, code == http.StatusNoContent, code == http.StatusNotModified:
		return http.NoBody, true
	case len(resp.TransferEncoding) > 0:
		return &chunks{in: in, trailer: trailer}, true
	case resp.ContentLength == 0:
		return http.NoBody, true
	case resp.ContentLength > 0:
		return &counted{in: in, left: resp.ContentLength}, true
	}
	return in, false
}

// counted is a body of known size.
type counted struct {
	in   *bufio.Reader
	left int64
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	if int64(len(p)) > c.left {
		p = p[:c.left]
	}
	n, err := c.in.Read(p)
	c.left -= int64(n)
	if c.left == 0 {
		return n, io.EOF
	}
	return n, unexpected(err)
}

const (
	maxExcess  = 16 << 10 // bytes of lines that the data does not excuse, as in net/http
	maxTrailer = 64 << 10
)

var (
	errChunkSize = errors.New("invalid size of a chunk")
	errChunkEnd  = errors.New("no line end behind a chunk")
	errChunkLine = errors.New("too much between the chunks")
	errTrailer   = fmt.Errorf("the trailer is longer than %d bytes", maxTrailer)
)

// chunks is a body in the chunked coding (RFC 9112 §7.1). Each chunk is a line that starts with its
// size in hexadecimal, that many bytes, and a line end. The chunk of size 0 is followed by a trailer
// of lines and an empty line. Lines may end in LF alone: servers send that, and net/http refuses it.
type chunks struct {
	in      *bufio.Reader
	trailer func(octets []byte) // called with a trailer that is not empty

	begun  bool   // a chunk has begun, and its line end has not been read
	left   uint64 // unread bytes of the chunk
	excess int    // bytes of lines, less what the data excuses
}

// Read implements io.Reader.
func (c *chunks) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if c.left == 0 {
			if n > 0 && !c.ready() {
				break // the next chunk may be late
			}
			if err = c.next(); err != nil {
				return n, err
			}
		}
		if n > 0 && c.in.Buffered() == 0 {
			break
		}
		k, err := c.in.Read(p[n:][:min(c.left, uint64(len(p)-n))])
		n, c.left = n+k, c.left-uint64(k)
		if err != nil {
			return n, unexpected(err)
		}
	}
	return n, nil
}

// ready reports whether next would not wait, unless there is a trailer.
func (c *chunks) ready() bool {
	octets, _ := c.in.Peek(c.in.Buffered())
	_, octets, ended := bytes.Cut(octets, []byte("\n")) // the line end of the chunk
	return ended && bytes.IndexByte(octets, '\n') >= 0
}

// next reads up to the data of the next chunk. It returns io.EOF behind the last one.
func (c *chunks) next() error {
	if c.begun {
		line, err := c.line()
		if err != nil {
			return err
		}
		if len(line) > 0 {
			return errChunkEnd
		}
	}
	line, err := c.line()
	if err != nil {
		return err
	}
	if c.left, err = chunkSize(line); err != nil {
		return err
	}
	c.begun = true
	if c.left == 0 {
		return c.end()
	}
	c.excess = max(0, c.excess+len(line)+2-16-2*int(min(c.left, maxExcess)))
	if c.excess > maxExcess {
		return errChunkLine
	}
	return nil
}

// line reads a line without its end. It is valid until the next read.
func (c *chunks) line() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, errChunkLine
	case err != nil:
		return nil, unexpected(err)
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

// end reads the trailer. It returns io.EOF.
func (c *chunks) end() error {
	var trailer []byte
	for {
		line, err := c.line()
		switch {
		case err != nil:
			return err
		case len(line) == 0:
			if len(trailer) > 0 {
				c.trailer(trailer)
			}
			return io.EOF
		case len(trailer)+len(line) > maxTrailer:
			return errTrailer
		}
		trailer = append(append(trailer, line...), "\r\n"...)
	}
}

// chunkSize returns the size in the line before a chunk. An extension, which begins with ";", is
// ignored.
func chunkSize(line []byte) (uint64, error) {
	digits, _, _ := bytes.Cut(line, []byte(";"))
	digits = bytes.TrimRight(digits, " \t")
	n, err := strconv.ParseUint(string(digits), 16, 63)
	if err != nil || digits[0] == '+' || len(digits) > 16 { // zeros, too, as in curl and net/http
		return 0, errChunkSize
	}
	return n, nil
}

// unexpected returns the error of a body that breaks off because of err.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
