package speed

import (
	"context"
	"io"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/pace"
	"github.com/fetch1738/fetch1738/locator"
)

// Paced returns r with a limit of its rate. If ctx ends, it fails with an error for l.
func Paced(ctx context.Context, r io.Reader, p *pace.Pace, l locator.Locator) io.Reader {
	return pacedReader{r, p, ctx, l}
}

type pacedReader struct {
	r       io.Reader
	pace    *pace.Pace
	ends    context.Context
	locator locator.Locator
}

func (r pacedReader) Read(b []byte) (int, error) {
	n, err := r.r.Read(r.pace.Portion(b))
	if late := r.pace.Wait(r.ends, int64(n)); late != nil {
		err = driver.Fail(fetch.OpTransfer, r.locator, fetch.KindOf(late), late)
	}
	return n, err
}

// Tapped returns r, and calls show with the bytes that are read. It hides an io.WriterTo,
// so that all bytes pass through the program.
func Tapped(r io.Reader, show func(octets []byte)) io.Reader { return tap{r, show} }

type tap struct {
	io.Reader
	show func(octets []byte)
}

func (t tap) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if n > 0 {
		t.show(p[:n])
	}
	return n, err
}
