package frames

import (
	"errors"
	"fmt"
	"strings"

	// hpack decodes the heads (RFC 7541). It is the package of golang.org/x/net that net/http has a copy
	// of.
	"golang.org/x/net/http2/hpack"
)

const tableSize = 4096 // net/http announces no other

// A headReader decodes the heads that come, one after another.
type headReader struct {
	decoder *hpack.Decoder
	limit   int // of a head, in bytes; 0 means none

	stream uint32 // of the head that comes
	ends   bool   // the stream ends with it
	text   strings.Builder
	total  int // bytes of its fields
}

func newHeadReader(limits Limits) *headReader {
	h := &headReader{limit: limits.Header}
	h.decoder = hpack.NewDecoder(tableSize, h.field)
	if limits.Line > 0 {
		h.decoder.SetMaxStringLength(limits.Line)
	}
	return h
}

// tooLong reports whether the head exceeds the limit.
func (h *headReader) tooLong() bool { return h.limit > 0 && h.total > h.limit }

// add decodes a frame that has a part of a head. It returns the head when it is complete, and "" until
// then, or if it cannot be decoded: net/http reports that. The error is ErrHead; no other head can be
// decoded after it.
func (h *headReader) add(f *frame) (head string, err error) {
	if f.kind == kindHeaders {
		h.stream, h.ends, h.total = f.stream, f.flags&flagEnd != 0, 0
		h.text.Reset()
	}
	if _, err := h.decoder.Write(f.fragment()); h.tooLong() || errors.Is(err, hpack.ErrStringLength) {
		return "", ErrHead
	}
	if f.flags&flagHeadersEnd == 0 || h.decoder.Close() != nil {
		return "", nil
	}
	h.text.WriteString("\r\n")
	return h.text.String(), nil
}

// field is called with a field of a head.
func (h *headReader) field(f hpack.HeaderField) {
	h.total += len(f.Name) + len(f.Value) + len(": \r\n")
	switch {
	case h.tooLong():
		h.decoder.SetEmitEnabled(false)
	case f.Name == ":status":
		fmt.Fprintf(&h.text, "HTTP/2 %s \r\n", f.Value) // RFC 9112 §4: the space belongs to it
	default:
		fmt.Fprintf(&h.text, "%s: %s\r\n", f.Name, f.Value)
	}
}
