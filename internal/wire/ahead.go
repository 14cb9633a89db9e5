package wire

import (
	"bytes"
	"context"
	"io"
)

// aheadOctets is the maximum number of bytes that ReadAhead keeps.
const aheadOctets = 1 << 20

// ReadAhead reads a listing to its end, but at most 1 MiB of it, before it returns a reader of the
// listing. A listing that was read to its end no longer needs its connection. Reading fails when
// ctx is done, even if the data have been read already. If stream is set, the reader is listing.
func ReadAhead(ctx context.Context, listing io.Reader, stream bool) io.Reader {
	if stream {
		return listing
	}
	var head bytes.Buffer
	if _, err := head.ReadFrom(io.LimitReader(listing, aheadOctets)); err != nil {
		listing = ErrorReader{err}
	}
	return ContextReader{ctx, io.MultiReader(&head, listing)}
}

// ContextReader is a reader that fails when its context is done.
type ContextReader struct {
	Context context.Context
	Reader  io.Reader
}

func (u ContextReader) Read(p []byte) (int, error) {
	if err := u.Context.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
}

// ErrorReader is a reader that always fails.
type ErrorReader struct{ Err error }

func (f ErrorReader) Read([]byte) (int, error) { return 0, f.Err }

// ReaderFunc is the Read of a reader.
type ReaderFunc func([]byte) (int, error)

func (f ReaderFunc) Read(p []byte) (int, error) { return f(p) }
