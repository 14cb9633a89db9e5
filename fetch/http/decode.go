package http

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/http/internal/coding"
)

// A decoded body may be at most maxRatio times as large as the received one. The limit applies
// after the first ratioFrom bytes. Deflate makes zeros 1,000 times smaller: they can fill a disk.
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
	names := coding.Names(resp.Header)
	switch names {
	case "", "identity", "none": // some servers send "none"
		return from, nil
	case "gzip", "x-gzip":
		return &unzipper{call: c, from: from, ends: ends(resp), open: coding.Gunzip}, nil
	case "deflate":
		return &unzipper{call: c, from: from, ends: ends(resp), open: coding.Inflate}, nil
	}
	return nil, c.badCoding(fmt.Errorf("%s was not requested", fetch.Printable(names)))
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
		return driver.Fail(u.call.method, u.call.locator, known.Kind, known)
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		return driver.Fail(u.call.method, u.call.locator, fetch.ErrTruncated, io.ErrUnexpectedEOF)
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
	return driver.Fail(c.method, c.locator, fetch.ErrProtocol, fmt.Errorf("%w: %w", ErrCoding, why))
}
