package main

import (
	"context"
	"io"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/pace"
)

// A pacedReader reads at the pace of --limit-rate.
type pacedReader struct {
	r    io.Reader
	pace *pace.Pace
	ctx  context.Context // ends a wait
	t    *transfer
}

func (r pacedReader) Read(b []byte) (int, error) {
	n, err := r.r.Read(r.pace.Portion(b))
	if late := r.pace.Wait(r.ctx, int64(n)); late != nil {
		err = fetch.Fail("transfer", r.t.locator, fetch.KindOf(late), late)
	}
	return n, err
}
