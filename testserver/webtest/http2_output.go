package webtest

import (
	"bufio"
	"bytes"
	"io"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// output writes the frames of a connection. One function of send at a time uses its fields.
type output struct {
	turn   chan struct{} // full while frames are written
	buf    *bufio.Writer
	frames *http2.Framer
	pack   *hpack.Encoder
	block  bytes.Buffer // what pack has encoded
}

// newOutput returns the output that writes to w.
func newOutput(w io.Writer) *output {
	o := &output{turn: make(chan struct{}, 1), buf: bufio.NewWriter(w)}
	o.frames = http2.NewFramer(o.buf, nil)
	o.frames.AllowIllegalWrites = true
	o.pack = hpack.NewEncoder(&o.block)
	return o
}

// send calls write, which writes frames, and then sends them.
func (o *output) send(write func(*http2.Framer) error) error {
	o.turn <- struct{}{}
	defer func() { <-o.turn }()
	if err := write(o.frames); err != nil {
		return err
	}
	return o.buf.Flush()
}

// encode returns fields as a header block, or a part of one. It is valid until the next call.
func (o *output) encode(fields ...hpack.HeaderField) []byte {
	o.block.Reset()
	for _, f := range fields {
		_ = o.pack.WriteField(f)
	}
	return o.block.Bytes()
}

// writeHeaders writes a head, within send. If it is not whole, CONTINUATION must follow.
func (o *output) writeHeaders(id uint32, fields []hpack.HeaderField, end, whole bool) error {
	part, rest := cut(o.encode(fields...))
	err := o.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: part, EndStream: end, EndHeaders: whole && len(rest) == 0})
	for err == nil && len(rest) > 0 {
		part, rest = cut(rest)
		err = o.frames.WriteContinuation(id, whole && len(rest) == 0, part)
	}
	return err
}

// cut returns what fits into a frame, and the rest.
func cut(block []byte) (part, rest []byte) {
	n := min(len(block), frameSize)
	return block[:n], block[n:]
}
