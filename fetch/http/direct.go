package http

import (
	"errors"
	"io"
	"os"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/http/internal/exchange"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// moveMax is the maximum number of bytes that are moved at once.
const moveMax = 1 << 20

// WriteTo implements io.WriterTo. If it can, it has the system move the bytes from the connection to
// a file, without passing them through the program.
func (b *body) WriteTo(w io.Writer) (int64, error) {
	m, ok := b.raw.(exchange.Mover)
	if ok && m.Movable() >= wire.MoveMin && !b.call.hooks.To.Taps() {
		if file := wire.RegularFile(w); file != nil {
			return b.moveTo(file, make([]byte, min(m.Movable(), moveMax)))
		}
	}
	return wire.Copy(w, b)
}

// moveTo writes b to a file. What the system cannot move passes through buf. The system provides
// memory for those parts of buf that are written to.
func (b *body) moveTo(file *os.File, buf []byte) (written int64, err error) {
	b.file = file
	defer func() { b.tail, b.file = nil, nil }()
	for err == nil {
		var n int
		n, err = b.next(int64(len(buf)), func(most int64) (int, error) { return b.store(buf[:most]) })
		written += int64(n)
	}
	var ofFile *exchange.FileError
	switch {
	case errors.As(err, &ofFile):
		return written, ofFile.Err
	case err == io.EOF:
		err = nil
	}
	return written, err
}

// store moves or copies bytes to the file, at most len(p).
func (b *body) store(p []byte) (n int, err error) {
	m, ok := b.raw.(exchange.Mover)
	if ok {
		n, err = m.Move(b.file, p)
	}
	if n > 0 || err != nil {
		b.at += int64(n)
		b.stored += int64(n)
		if n > 0 && !b.silent {
			b.call.hooks.Call(func(t *fetch.Trace) { t.Body(int64(n)) })
		}
		return n, err
	}
	n, err = b.readRaw(p)
	written, failed := b.file.Write(p[:n])
	b.stored += int64(written)
	if failed != nil {
		return written, &exchange.FileError{Err: failed}
	}
	return n, err
}
