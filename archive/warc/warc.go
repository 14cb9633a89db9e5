// Package warc reads, writes and verifies WARC files: records of what servers have sent, as ISO
// 28500:2017 (WARC/1.1) describes them. It knows no scheme; package archive does.
//
//	w, err := warc.Create("archive", warc.Options{Software: "example/1.0"})
//	if err != nil {
//		return err
//	}
//	defer w.Close()
//	block := w.NewBlock()
//	defer block.Close()
//	io.WriteString(block, "hello\n")
//	err = w.Write(warc.Draft{Block: block, Header: warc.Header{
//		{warc.FieldType, string(warc.Resource)},
//		{warc.FieldTargetURI, "ftp://ftp.example.org/motd.txt"},
//		{warc.FieldContentType, "text/plain"},
//	}})
//
// [Reader] yields the records of a file in order; [ReadAt] reads one record of which the offset is
// known.
package warc

import (
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"time"
)

// Type is the type of a record, WARC-Type.
type Type string

// The types of records that WARC/1.1 §6 defines.
const (
	Info         Type = "warcinfo"
	Response     Type = "response"
	Resource     Type = "resource"
	Request      Type = "request"
	Metadata     Type = "metadata"
	Revisit      Type = "revisit"
	Conversion   Type = "conversion"
	Continuation Type = "continuation"
)

// The names of the fields of WARC/1.1 §5, of those that are in use for protocols and TLS, and of
// one of this package: FieldLastModified, a time as in WARC-Date, when the server says that the
// resource was modified.
const (
	FieldType              = "WARC-Type"
	FieldRecordID          = "WARC-Record-ID"
	FieldDate              = "WARC-Date"
	FieldContentLength     = "Content-Length"
	FieldContentType       = "Content-Type"
	FieldConcurrentTo      = "WARC-Concurrent-To"
	FieldBlockDigest       = "WARC-Block-Digest"
	FieldPayloadDigest     = "WARC-Payload-Digest"
	FieldIPAddress         = "WARC-IP-Address"
	FieldRefersTo          = "WARC-Refers-To"
	FieldRefersToTargetURI = "WARC-Refers-To-Target-URI"
	FieldRefersToDate      = "WARC-Refers-To-Date"
	FieldTargetURI         = "WARC-Target-URI"
	FieldTruncated         = "WARC-Truncated"
	FieldInfoID            = "WARC-Warcinfo-ID"
	FieldFilename          = "WARC-Filename"
	FieldProfile           = "WARC-Profile"
	FieldPayloadType       = "WARC-Identified-Payload-Type"
	FieldSegmentNumber     = "WARC-Segment-Number"
	FieldSegmentOriginID   = "WARC-Segment-Origin-ID"
	FieldSegmentLength     = "WARC-Segment-Total-Length"
	FieldProtocol          = "WARC-Protocol"
	FieldCipherSuite       = "WARC-Cipher-Suite"
	FieldLastModified      = "WARC-Last-Modified"
)

// The profiles of revisit records of WARC/1.1 §6.7, and what WARC/1.0 files have in place of the first.
const (
	IdenticalPayload   = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	NotModified        = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
	identicalPayload10 = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
)

// FieldsType is the media type of the blocks of warcinfo records: lines as in [Header].
const FieldsType = "application/warc-fields"

// A Field is a line of the header of a record.
type Field struct{ Name, Value string }

// A Header has the fields of a record in order. The case of names does not matter.
type Header []Field

// Get returns the value of the first field of a name, or "".
func (h Header) Get(name string) string {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Set replaces the first field of a name, or adds one at the end.
func (h *Header) Set(name, value string) {
	for i, f := range *h {
		if strings.EqualFold(f.Name, name) {
			(*h)[i].Value = value
			return
		}
	}
	*h = append(*h, Field{name, value})
}

// A Record is a record that is read.
type Record struct {
	// Version is that of the format, such as "1.1".
	Version string
	Header  Header
	// Block has the Length octets of the block. It is valid until the next record is read.
	Block  io.Reader
	Length int64
	// Offset is where the record, or the gzip member that holds it, begins in its file.
	Offset int64

	reader *Reader
	bare   bool // some of its lines end in LF, not in CR LF
}

// Type returns the WARC-Type.
func (r *Record) Type() Type { return Type(r.Header.Get(FieldType)) }

// ID returns the WARC-Record-ID, without its angle brackets.
func (r *Record) ID() string { return unbracket(r.Header.Get(FieldRecordID)) }

// TargetURI returns the WARC-Target-URI. WARC/1.0 files of some programs have it in angle
// brackets, which are removed.
func (r *Record) TargetURI() string { return unbracket(r.Header.Get(FieldTargetURI)) }

// Date returns the WARC-Date, or the zero Time if it is not valid.
func (r *Record) Date() time.Time {
	t, _ := ParseDate(r.Header.Get(FieldDate))
	return t
}

func unbracket(uri string) string {
	if inner, ok := strings.CutPrefix(uri, "<"); ok {
		return strings.TrimSuffix(inner, ">")
	}
	return uri
}

// NewID returns a new value for a WARC-Record-ID, in angle brackets.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("<urn:uuid:%x-%x-%x-%x-%x>", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// FormatDate returns a time as in WARC-Date: in UTC, to the microsecond in WARC/1.1 and to the
// second in WARC/1.0.
func FormatDate(t time.Time, version string) string {
	if version == "1.0" {
		return t.UTC().Format("2006-01-02T15:04:05Z")
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z")
}

// ParseDate parses a WARC-Date: the W3C profile of ISO 8601, in UTC, with up to nine digits of a
// fraction. WARC/1.1 also permits less than a second, such as a day.
func ParseDate(text string) (time.Time, error) {
	plain := text
	if whole, fraction, ok := strings.Cut(strings.TrimSuffix(text, "Z"), "."); ok && len(fraction) <= 9 {
		plain = whole + "Z"
	}
	for _, layout := range []string{"2006-01-02T15:04:05Z", "2006-01-02T15:04Z", "2006-01-02", "2006-01", "2006"} {
		if len(plain) != len(layout) {
			continue
		}
		if t, err := time.Parse(layout, text); err == nil { // which accepts a fraction of a second
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%.40q is not a date such as 2026-11-24T12:00:00Z", text)
}
