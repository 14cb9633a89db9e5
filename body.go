package fetch1738

import (
	"errors"
	"io"
	"iter"

	"github.com/fetch1738/fetch1738/fetch"
)

// closeBoth is a body whose Close also closes something else.
type closeBoth struct {
	io.ReadCloser
	also io.Closer
}

func (c closeBoth) Close() error {
	return errors.Join(c.ReadCloser.Close(), c.also.Close())
}

// WriteTo uses the WriteTo method of the body, if it has one.
func (c closeBoth) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, c.ReadCloser) }

// atEnd makes res call release when it needs its connection no longer, and end when its body is at
// its end, or closed. Each may be nil, and may be called several times.
func atEnd(res *fetch.Resource, release, end func()) {
	if release == nil && end == nil {
		return
	}
	if items := res.Items; items != nil {
		res.Items = released(items, release, end)
	}
	res.Body = endingBody{res.Body, release, end}
}

// released calls release before the first Item and end after the last one.
func released(items iter.Seq2[fetch.Item, error], release, end func()) iter.Seq2[fetch.Item, error] {
	return func(yield func(fetch.Item, error) bool) {
		defer call(end)
		defer call(release)
		for item, err := range items {
			call(release)
			if !yield(item, err) {
				return
			}
		}
	}
}

type endingBody struct {
	io.ReadCloser
	release, end func()
}

// ended releases the slot and ends the meter, if there are any.
func (b endingBody) ended() {
	call(b.release)
	call(b.end)
}

func (b endingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.ended()
	}
	return n, err
}

// WriteTo uses the WriteTo method of the body, if it has one.
func (b endingBody) WriteTo(w io.Writer) (int64, error) {
	defer b.ended()
	return io.Copy(w, b.ReadCloser)
}

func (b endingBody) Close() error {
	defer b.ended()
	return b.ReadCloser.Close()
}

// call calls f, unless it is nil.
func call(f func()) {
	if f != nil {
		f()
	}
}
