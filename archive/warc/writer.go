package warc

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// A Draft is a record to be written.
type Draft struct {
	// Header needs WARC-Type, and what that type demands. Write adds what it can know: the id, the
	// date if there is none, Content-Length, the digests and WARC-Warcinfo-ID.
	Header Header
	// Block is the block; nil for an empty one. The caller closes it.
	Block *Block
}

// noPayload are the types without a payload, which have no WARC-Payload-Digest of their own. That
// of a revisit is the digest of the record that it refers to; the caller sets it.
const noPayload = "warcinfo metadata revisit"

// complete returns the header of d as it is written.
func (d *Draft) complete(version, infoID string, now time.Time) Header {
	h := Header{{FieldType, d.Header.Get(FieldType)}, {FieldRecordID, ""}, {FieldDate, FormatDate(now, version)}}
	for _, f := range d.Header {
		switch {
		case strings.EqualFold(f.Name, FieldConcurrentTo), strings.EqualFold(f.Name, FieldProtocol):
			h = append(h, f) // the fields that may come more than once
		case f.Value != "":
			h.Set(f.Name, f.Value)
		}
	}
	if h.Get(FieldRecordID) == "" {
		h.Set(FieldRecordID, NewID())
	}
	typ := h.Get(FieldType)
	if infoID != "" && typ != string(Info) {
		h.Set(FieldInfoID, infoID)
	}
	var size int64
	if d.Block != nil {
		size = d.Block.Size()
		h.Set(FieldBlockDigest, d.Block.Digest())
		if !strings.Contains(noPayload, typ) {
			h.Set(FieldPayloadDigest, d.Block.PayloadDigest())
		}
	}
	h.Set(FieldContentLength, strconv.FormatInt(size, 10))
	return h
}

// check refuses a header that would not be one field a line.
func (h Header) check() error {
	for _, f := range h {
		if f.Name == "" || strings.ContainsAny(f.Name, ": \t\r\n\x00") || strings.ContainsAny(f.Value, "\r\n\x00") {
			return fmt.Errorf("warc: the field %.40q: %.80q cannot be written", f.Name, f.Value)
		}
	}
	return nil
}

// encode writes a record with a complete header.
func encode(w io.Writer, version string, h Header, b *Block) error {
	var head strings.Builder
	head.WriteString("WARC/" + version + "\r\n")
	for _, f := range h {
		head.WriteString(f.Name + ": " + f.Value + "\r\n")
	}
	head.WriteString("\r\n")
	_, err := io.WriteString(w, head.String())
	if err == nil && b != nil {
		_, err = io.Copy(w, b.content())
	}
	if err == nil {
		_, err = io.WriteString(w, "\r\n\r\n")
	}
	return err
}

// An encoder writes records one after another: each as a gzip member, or as it is.
type encoder struct {
	version string
	plain   bool
	zip     *gzip.Writer // kept, because a new one takes 800 KiB
}

func (e *encoder) encode(w io.Writer, h Header, b *Block) error {
	if e.plain {
		return encode(w, e.version, h, b)
	}
	if e.zip == nil {
		e.zip, _ = gzip.NewWriterLevel(w, gzip.BestSpeed)
	} else {
		e.zip.Reset(w)
	}
	return errors.Join(encode(e.zip, e.version, h, b), e.zip.Close())
}
