package wire

import (
	"bytes"
	"context"
	"io"
)

// aheadOctets bounds what ReadAhead keeps.
const aheadOctets = 1 << 20

// ReadAhead is a listing that is read ahead: to its end, or for 1 MiB of it. One
// that ends there needs its connection no longer while it is looked at. Whatever
// has been read, reading fails when ctx is done.
func ReadAhead(ctx context.Context, listing io.Reader) io.Reader {
	var head bytes.Buffer
	if _, err := head.ReadFrom(io.LimitReader(listing, aheadOctets)); err != nil {
		listing = failed{err}
	}
	return under{ctx, io.MultiReader(&head, listing)}
}

// under is a reader under a context.
type under struct {
	ctx context.Context
	r   io.Reader
}

func (u under) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// failed is a reader that has.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }
