package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// NewBody returns a Body that reads r to its end. A read error is an *[fetch.Error], and later
// reads return it again. Read fails when ctx is done and when the Body is closed. More than limit
// bytes are an error of kind [fetch.ErrTooLarge]; if limit is 0, there is no limit. Read calls the
// hooks Body and Octets of the context's Trace. Close closes conn, once. The reads of r must obey
// ctx themselves.
func NewBody(ctx context.Context, l locator.Locator, r io.Reader, conn io.Closer, limit int64) io.ReadCloser {
	if limit == 0 {
		limit = math.MaxInt64 - 1
	}
	return &body{ctx: ctx, loc: l, r: r, conn: conn, limit: limit, left: limit}
}

type body struct {
	ctx         context.Context
	loc         locator.Locator
	r           io.Reader
	conn        io.Closer
	limit, left int64
	err         error // returned by all further reads
	closed      atomic.Bool
}

func (b *body) Read(p []byte) (int, error) {
	if b.closed.Load() {
		return 0, Fail(fetch.OpRead, b.loc, fetch.ErrConnectionFailed, errors.New("the body is closed"))
	}
	if b.err == nil && b.ctx.Err() != nil {
		b.err = Fail(fetch.OpRead, b.loc, fetch.ErrOther, b.ctx.Err())
	}
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left+1)]) // one byte more than the limit shows whether the body ends there
	if b.left -= int64(n); b.left < 0 {
		n, err = n-1, Fail(fetch.OpRead, b.loc, fetch.ErrTooLarge, fmt.Errorf("more than %d bytes", b.limit))
	}
	if n > 0 {
		ContextTrace(b.ctx).Took(p[:n])
	}
	if b.err = err; err != nil && err != io.EOF {
		b.err = Fail(fetch.OpRead, b.loc, fetch.ErrOther, err)
	}
	return n, b.err
}

func (b *body) Close() error {
	if b.closed.Swap(true) {
		return nil
	}
	return b.conn.Close()
}
