// Package coding removes the content codings gzip and deflate (RFC 9110 §8.4.1) from bodies, as servers
// send them.
package coding

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"
)

// Names returns the list of content codings in a header, in lower case. Its empty members mean nothing (RFC 9110
// §5.6.1.2).
func Names(header http.Header) string {
	var all []string
	for member := range strings.SplitSeq(strings.Join(header.Values("Content-Encoding"), ","), ",") {
		if member = strings.Trim(member, " \t"); member != "" {
			all = append(all, strings.ToLower(member))
		}
	}
	return strings.Join(all, ",")
}

// errBehind means that the body goes on after the compressed data.
var errBehind = errors.New("unexpected data after the compressed stream")

// unpacked reads the gzip coding, which may have several members. gzip.Reader would take a few bytes
// behind them for a member that is cut.
type unpacked struct {
	*gzip.Reader
	from *bufio.Reader
}

// Gunzip returns a reader of what r has in the coding gzip. Octets behind it are an error.
func Gunzip(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return unpacked{z, b}, nil
}

// Read implements io.Reader. It continues to the end of the body, to verify that it is complete.
func (u unpacked) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	if err != io.EOF {
		return n, err
	}
	switch magic, err := u.from.Peek(2); {
	case err != nil && err != io.EOF:
		return n, err
	case string(magic) == "\x1f\x8b": // another member
		err = u.Reset(u.from)
		u.Multistream(false)
		return n, err
	case len(magic) > 0:
		return n, errBehind
	}
	return n, io.EOF
}

// inflated reads the deflate coding: the zlib format (RFC 9110 §8.4.1.2), or, as some servers send
// it, the bare compressed data.
type inflated struct {
	io.Reader
	from *bufio.Reader
}

// Inflate returns a reader of what r has in the coding deflate. The first two bytes say which of its
// formats that is. Octets behind it are an error.
func Inflate(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	head, err := b.Peek(2)
	if err != nil {
		return nil, err
	}
	if head[0]&0x0F == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 { // RFC 1950 §2.2
		z, err := zlib.NewReader(b)
		return inflated{z, b}, err
	}
	return inflated{flate.NewReader(b), b}, nil
}

// Read implements io.Reader. The compressed data may end before the body does. Read continues to
// the end of the body, to verify that it is complete; gzip.Reader does that itself.
func (i inflated) Read(p []byte) (int, error) {
	n, err := i.Reader.Read(p)
	if err == io.EOF {
		if _, err = i.from.ReadByte(); err == nil {
			err = errBehind
		}
	}
	return n, err
}
