package prospero

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/codec/ardp"
	"github.com/fetch1738/fetch1738/locator"
)

// body is the Body of a Resource: the content of a reply.
type body struct {
	ctx    context.Context
	loc    locator.Locator
	trace  *fetch.Trace
	x      *ardp.Exchange
	src    io.Reader
	left   int64 // bytes left of the requested range
	quota  int64 // bytes left of Limits.Body
	limit  int64 // Limits.Body
	closed atomic.Bool
	err    error
}

var errClosed = errors.New("the body is closed")

func newBody(c *call, x *ardp.Exchange, src io.Reader) *body {
	b := &body{ctx: c.ctx, loc: c.loc, trace: c.trace, x: x, src: src, left: math.MaxInt64, quota: math.MaxInt64}
	if limit := c.env.Limits.Body; limit > 0 {
		b.quota, b.limit = limit, limit
	}
	return b
}

// part skips to offset and limits the body to length bytes. A length of 0 means no limit.
func (b *body) part(offset, length int64) error {
	skipped, err := io.CopyN(io.Discard, b.src, offset)
	switch {
	case err == io.EOF:
		return driver.Fail(fetch.OpRead, b.loc, fetch.ErrBadRange, fmt.Errorf("offset %d is beyond the end (%d bytes)", offset, skipped))
	case err != nil:
		return wrapError(fetch.OpRead, b.loc, err)
	}
	if length > 0 {
		b.left = length
	}
	return nil
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	switch {
	case b.closed.Load():
		return 0, driver.Fail(fetch.OpRead, b.loc, fetch.ErrConnectionFailed, errClosed)
	case b.err != nil:
		return 0, b.err
	case b.ctx.Err() != nil:
		b.err = driver.Fail(fetch.OpRead, b.loc, fetch.ErrOther, b.ctx.Err())
		return 0, b.err
	case b.left == 0:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	case b.quota == 0:
		return 0, b.endAtLimit()
	}
	n, err := b.src.Read(p[:min(int64(len(p)), b.left, b.quota)])
	b.left -= int64(n)
	b.quota -= int64(n)
	if n > 0 {
		b.trace.Took(p[:n])
	}
	if err == io.EOF {
		b.err = io.EOF
	} else if err != nil {
		b.err = wrapError(fetch.OpRead, b.loc, err)
	}
	if n > 0 {
		return n, nil // the next Read returns the error
	}
	return 0, b.err
}

// endAtLimit returns io.EOF if the body ends exactly at the limit, and an error otherwise.
func (b *body) endAtLimit() error {
	n, err := io.ReadFull(b.src, make([]byte, 1))
	switch {
	case n > 0:
		b.err = driver.Fail(fetch.OpRead, b.loc, fetch.ErrTooLarge, fmt.Errorf("the body is longer than the limit of %d bytes", b.limit))
	case err == io.EOF:
		b.err = io.EOF
	default:
		b.err = wrapError(fetch.OpRead, b.loc, err)
	}
	return b.err
}

// Close implements io.Closer.
func (b *body) Close() error {
	if b.closed.Swap(true) {
		return nil
	}
	return b.x.Close()
}
