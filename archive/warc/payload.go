package warc

import (
	"bufio"
	"bytes"
	"hash"
	"io"
	"strings"
)

// A Payload is the payload of a record (WARC/1.1 §2), a reader. At its end the digests of the
// record are verified: if one of them differs, or if the record is not complete, it returns a
// *[Defect] instead of io.EOF.
type Payload struct {
	// Head is what comes before the payload of an HTTP message: the first line and the fields,
	// with the empty line. For all other blocks it is nil.
	Head []byte

	rec         *Record
	data        io.Reader // what follows the head
	block, body *sum      // nil if there is no digest to verify
	hashes      []hash.Hash
	defects     []*Defect // of the digests; complete at the end
	err         error
}

// Payload returns the payload of the record. It has the octets that are stored: codings of HTTP
// are not undone. It is used instead of Block, and valid as long.
func (r *Record) Payload() (*Payload, error) {
	p := &Payload{rec: r, data: r.Block}
	p.block = p.sum(FieldBlockDigest)
	if sum := p.sum(FieldPayloadDigest); r.hasPayload() {
		p.body = sum
	}
	if p.block != nil {
		p.hashes = append(p.hashes, p.block.hash)
	}
	if isHTTP(r.Header) {
		if err := p.readHead(); err != nil {
			return nil, err
		}
	}
	switch {
	case p.body == nil:
	case p.Head == nil && p.block != nil && p.block.algorithm == p.body.algorithm:
		p.body.hash = p.block.hash // hashed once
	default:
		p.hashes = append(p.hashes, p.body.hash)
	}
	return p, nil
}

// sum returns the sum for a field, or nil.
func (p *Payload) sum(field string) *sum {
	sum, defect := newSum(p.rec.Header, field)
	if defect != nil {
		p.defects = append(p.defects, p.rec.defect(defect))
	}
	return sum
}

// hasPayload reports whether the record has all of the payload that WARC-Payload-Digest is for.
func (r *Record) hasPayload() bool {
	return r.Type() != Revisit && r.Type() != Continuation && r.Header.Get(FieldSegmentNumber) == ""
}

// isHTTP reports whether the block of a record is an HTTP message.
func isHTTP(h Header) bool {
	media, _, _ := strings.Cut(h.Get(FieldContentType), ";")
	return strings.EqualFold(strings.TrimSpace(media), "application/http")
}

// readHead reads up to the first empty line, or all of the block if it has no empty line.
func (p *Payload) readHead() error {
	lines := bufio.NewReader(p.data)
	p.data = lines
	p.Head = []byte{}
	for {
		line, err := lines.ReadSlice('\n')
		p.Head = append(p.Head, line...)
		whole := err == nil && (len(p.Head) == len(line) || p.Head[len(p.Head)-len(line)-1] == '\n')
		switch {
		case err == io.EOF, whole && len(bytes.TrimRight(line, "\r\n")) == 0:
			p.hash(p.Head)
			return nil
		case len(p.Head) > maxHeader:
			return p.rec.defect(&Defect{Wrong: "the head of the HTTP message is too long"})
		case err != nil && err != bufio.ErrBufferFull:
			return p.rec.reader.defect("the block is damaged or ends early", err)
		}
	}
}

func (p *Payload) hash(octets []byte) {
	for _, h := range p.hashes {
		h.Write(octets)
	}
}

// Read implements io.Reader.
func (p *Payload) Read(b []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	n, err := p.data.Read(b)
	p.hash(b[:n])
	if err != nil {
		p.err = err
		p.end()
	}
	return n, p.err
}

// end verifies that the record is complete, and its digests.
func (p *Payload) end() {
	if err := p.rec.reader.finish(); err != nil {
		p.err = err
		return
	}
	if p.block != nil {
		p.compare(p.block, "block")
	}
	if p.body != nil {
		p.compare(p.body, "payload")
	}
	for _, defect := range p.defects {
		if p.err == io.EOF && !defect.Note {
			p.err = defect
		}
	}
}

// compare adds a defect if a digest differs. If an HTTP message is stored in chunks, some programs
// take the digest of the chunks, others that of their content, so it is only a note.
func (p *Payload) compare(s *sum, what string) {
	if defect := s.defect(what); defect != nil {
		defect.Note = s == p.body && p.chunked()
		p.defects = append(p.defects, p.rec.defect(defect))
	}
}

// chunked reports whether the stored HTTP message has a Transfer-Encoding.
func (p *Payload) chunked() bool {
	for line := range bytes.Lines(p.Head) {
		if name, _, ok := bytes.Cut(line, []byte(":")); ok && bytes.EqualFold(bytes.TrimRight(name, " \t"), []byte("Transfer-Encoding")) {
			return true
		}
	}
	return false
}

// defect returns d with the place of the record.
func (r *Record) defect(d *Defect) *Defect {
	d.Offset, d.ID = r.Offset, r.ID()
	return d
}
