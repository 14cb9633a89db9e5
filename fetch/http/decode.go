package http

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
)

// A decoded body may be at most maxRatio times as large as the received one. The limit applies
// after the first ratioFrom bytes.
const (
	maxRatio  = 200
	ratioFrom = 1 << 20
)

// decodes reports whether the body of a response is to be decoded. A response without a body has no
// coding, whatever its header says.
func (c *call) decodes(resp *http.Response) bool {
	return c.opt.Compressed && !c.ranged() && c.method != http.MethodHead && resp.ContentLength != 0 && resp.Header.Get("Content-Encoding") != ""
}

// decoded returns a body with one layer of coding removed. A coding that was not requested is an
// error.
func (c *call) decoded(resp *http.Response, from io.ReadCloser) (io.ReadCloser, error) {
	coding := codings(resp.Header)
	switch coding {
	case "", "identity", "none":
		return from, nil
	case "gzip", "x-gzip":
		return &unzipper{call: c, from: from, ends: ends(resp), open: newUnpacked}, nil
	case "deflate":
		return &unzipper{call: c, from: from, ends: ends(resp), open: newInflated}, nil
	}
	return nil, c.badCoding(fmt.Errorf("%s was not requested", fetch.Printable(coding)))
}

// codings returns the list of content codings, in lower case. Its empty members mean nothing (RFC 9110
// §5.6.1.2).
func codings(header http.Header) string {
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

func newUnpacked(r io.Reader) (io.Reader, error) {
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

// newInflated determines by the first two bytes which of the formats r has.
func newInflated(r io.Reader) (io.Reader, error) {
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

// unzipper decodes a body.
type unzipper struct {
	call    *call
	from    io.ReadCloser
	ends    bool // the framing says where from ends
	open    func(io.Reader) (io.Reader, error)
	zip     io.Reader // nil before the first Read
	in, out int64
	err     error
}

// Read implements io.Reader.
func (u *unzipper) Read(p []byte) (int, error) {
	if u.err != nil {
		return 0, u.err
	}
	var n int
	if u.zip == nil {
		var zip io.Reader
		if zip, u.err = u.open(counter{u}); u.err == nil {
			u.zip = zip
		}
	}
	if u.err == nil {
		n, u.err = u.zip.Read(p)
	}
	u.out += int64(n)
	if u.out > ratioFrom && u.out/maxRatio > u.in {
		u.err = &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("the compression ratio exceeds %d to 1", maxRatio)}
		n = 0
	}
	u.err = u.classify(u.err)
	return n, u.err
}

// classify distinguishes a bad coding from a broken connection.
func (u *unzipper) classify(err error) error {
	var known *fetch.Error
	switch {
	case err == nil, err == io.EOF && u.zip != nil:
		return err
	case err == io.EOF && u.in == 0 && u.ends: // an empty document, which many servers do not compress
		return err
	case errors.As(err, &known):
		return fetch.Fail(u.call.method, u.call.locator, known.Kind, known)
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		return fetch.Fail(u.call.method, u.call.locator, fetch.ErrTruncated, io.ErrUnexpectedEOF)
	}
	return u.call.badCoding(err)
}

// Close implements io.Closer.
func (u *unzipper) Close() error { return u.from.Close() }

// counter counts the bytes that an unzipper reads.
type counter struct{ u *unzipper }

func (c counter) Read(p []byte) (int, error) {
	n, err := c.u.from.Read(p)
	c.u.in += int64(n)
	return n, err
}

// badCoding returns an error that wraps ErrCoding.
func (c *call) badCoding(why error) error {
	return fetch.Fail(c.method, c.locator, fetch.ErrProtocol, fmt.Errorf("%w: %w", ErrCoding, why))
}
