package warc

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// A Draft is a record to be written.
type Draft struct {
	// Header needs WARC-Type, and what that type demands. Write adds what it can know: the ID, the
	// date if it is missing, Content-Length, the digests and WARC-Warcinfo-ID. In a WARC/1.0 file
	// the profiles of WARC/1.1 become those of WARC/1.0.
	Header Header
	// Block is the block; nil for an empty one. The caller closes it.
	Block *Block
}

// complete returns the header of d as it is written, or an error if Verify would find a defect.
func (d *Draft) complete(version, infoID string, now time.Time) (Header, error) {
	block := d.Block
	if block == nil {
		block = NewBlock()
	}
	if err := block.flush(); err != nil {
		return nil, err
	}
	h := append(make(Header, 0, len(d.Header)+7), Field{FieldType, ""}, Field{FieldRecordID, ""}, Field{FieldDate, ""})
	for _, f := range d.Header {
		switch {
		case strings.EqualFold(f.Name, FieldConcurrentTo), strings.EqualFold(f.Name, FieldProtocol):
			h = append(h, f) // the fields that may be repeated
		case f.Value != "":
			h.Set(f.Name, f.Value)
		}
	}
	if h.Get(FieldRecordID) == "" {
		h.Set(FieldRecordID, NewID())
	}
	if h.Get(FieldDate) == "" {
		h.Set(FieldDate, FormatDate(now, version))
	}
	if version == "1.0" && h.Get(FieldProfile) != "" {
		h.Set(FieldProfile, strings.Replace(h.Get(FieldProfile), "/warc/1.1/", "/warc/1.0/", 1))
	}
	typ := Type(h.Get(FieldType))
	if infoID != "" && typ != Info {
		h.Set(FieldInfoID, infoID)
	}
	h.Set(FieldBlockDigest, block.Digest())
	switch {
	case typ == Info, typ == Metadata, typ == Revisit: // that of a revisit is the one that it refers to
	case block.payload != nil, !isHTTP(h):
		h.Set(FieldPayloadDigest, block.PayloadDigest())
	}
	h.Set(FieldContentLength, strconv.FormatInt(block.Size(), 10))
	return h, h.valid(version, block.Size())
}

// valid refuses what Verify would find, and what is not one field a line.
func (h Header) valid(version string, length int64) error {
	for _, f := range h {
		if strings.ContainsAny(f.Value, "\r\n\x00") {
			return fmt.Errorf("%s: %.80q has a line end or NUL", f.Name, f.Value)
		}
	}
	var first error
	h.check(version, length, func(f *Defect) {
		if first == nil && !f.Note {
			first = fmt.Errorf("the record cannot be written: %s; %s", f.Wrong, f.Right)
		}
	})
	return first
}

// recordEnd is what follows a block.
const recordEnd = "\r\n\r\n"

// encode writes a record with a complete header.
func encode(w io.Writer, version string, h Header, b *Block) error {
	_, err := w.Write(encodeHeader(version, h))
	if err == nil && b != nil {
		_, err = io.Copy(w, b.content())
	}
	if err == nil {
		_, err = io.WriteString(w, recordEnd)
	}
	return err
}

// encodeHeader returns a header with the empty line behind it.
func encodeHeader(version string, h Header) []byte {
	head := make([]byte, 0, 1<<10)
	head = append(append(append(head, "WARC/"...), version...), "\r\n"...)
	for _, f := range h {
		head = append(append(append(append(head, f.Name...), ": "...), f.Value...), "\r\n"...)
	}
	return append(head, "\r\n"...)
}
