package archive

import (
	"bufio"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http/httputil"
	"os"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/archive/cdx"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/fetch"
)

// open opens the record of a capture.
func (c *Capture) open() (doc *Document, err error) {
	p, ok := c.part.files[c.file]
	if !ok {
		return nil, fmt.Errorf("%s: the index names %.80q, which is not in the archive; run fetch1738 warc index", c.URL, c.file)
	}
	file, records, err := p.open(c.offset, c.length)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = file.Close()
		}
	}()
	r := warc.NewReader(records)
	rec, err := c.record(r)
	if err != nil {
		return nil, &os.PathError{Op: fmt.Sprintf("read the record at offset %d of", c.offset), Path: p.name, Err: err}
	}
	b := &body{Closer: file, url: c.URL, records: r, block: rec.Block, left: rec.Length, truncated: c.Truncated}
	if t := rec.Header.Get(warc.FieldTruncated); t != "" {
		b.truncated = t
	}
	b.digest = newDigest(rec.Header.Get(warc.FieldBlockDigest))
	if b.left == 0 {
		b.err = b.end()
	}
	content := bufio.NewReader((*block)(b))
	doc = &Document{Header: rec.Header, Body: b}
	if isHTTP(rec.Header.Get(warc.FieldContentType)) {
		if doc.Head, err = readHead(content); err != nil && b.truncated == "" {
			return nil, b.damaged(err)
		}
	}
	b.content = content
	if want := rec.Header.Get(warc.FieldPayloadDigest); b.digest == nil && rec.Type() != warc.Revisit && newDigest(want) != nil {
		b.stored, b.joined = newDigest(want), newDigest(want)
		b.content = io.TeeReader(content, b.stored)
	}
	if isChunked(doc.Head, content, rec.Length-int64(len(doc.Head)), b.truncated != "") {
		b.chunks = b.content
		b.content = httputil.NewChunkedReader(b.chunks)
	}
	return doc, nil
}

var errIndex = errors.New("the index is not of this file: run fetch1738 warc index")

// record returns the record of c. It is the first one, or another one of the same gzip member.
func (c *Capture) record(r *warc.Reader) (*warc.Record, error) {
	for {
		rec, err := r.Next()
		if err == io.EOF || err == nil && rec.Offset != 0 {
			return nil, errIndex
		}
		if err != nil {
			return nil, errors.Join(err, errIndex)
		}
		if rec.TargetURI() == c.URL && cdx.FormatTime(rec.Date()) == cdx.FormatTime(c.Time) {
			return rec, nil
		}
		// An index of another program has whole seconds.
		if rec.TargetURI() == c.URL && rec.Date().Truncate(time.Second).Equal(c.Time) {
			return rec, nil
		}
	}
}

// A body is the payload of a record. It ends in io.EOF only if the record is complete.
type body struct {
	io.Closer
	url       string
	records   *warc.Reader
	truncated string // WARC-Truncated

	block  io.Reader
	left   int64   // of block
	err    error   // after the block
	digest *digest // of the block

	content io.Reader
	chunks  io.Reader // what content joins the chunks of, or nil
	done    error     // after the content
	// The digests of the payload if digest is nil: as it is stored, and as content yields it. Some
	// programs take the one of the chunks, others the one of what is in them.
	stored, joined *digest
}

// A block is a body read as the block of the record.
type block body

// Read implements io.Reader.
func (b *block) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, b.err
	}
	n, err := b.block.Read(p)
	b.left -= int64(n)
	if b.digest != nil {
		b.digest.Write(p[:n])
	}
	switch {
	case b.left == 0:
		b.err = (*body)(b).end()
		return n, b.err
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// end checks what follows the block and the digest of the block.
func (b *body) end() error {
	if _, err := b.records.Next(); err != nil && err != io.EOF {
		return b.damaged(err)
	}
	if b.digest != nil && !b.digest.matches() {
		return b.damaged(fmt.Errorf("the record differs from its digest %s", b.digest.want))
	}
	return io.EOF
}

func (b *body) damaged(err error) error {
	return &fetch.Error{Op: fetch.OpRead, URL: b.url, Kind: fetch.ErrLocalIO, Err: fmt.Errorf("the archive is damaged: %w", err)}
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.done != nil {
		return 0, b.done
	}
	n, err := b.content.Read(p)
	if b.joined != nil {
		b.joined.Write(p[:n])
	}
	var known *fetch.Error
	switch {
	case err == io.EOF:
		err = b.finish()
	case err != nil && b.truncated != "" && !errors.As(err, &known):
		err = b.cut() // in the middle of a chunk
	case err != nil && !errors.As(err, &known):
		err = b.damaged(err)
	}
	b.done = err
	return n, err
}

// finish returns what the content ends in.
func (b *body) finish() error {
	if b.chunks != nil { // a trailer
		if _, err := io.Copy(io.Discard, b.chunks); err != nil {
			return err
		}
	}
	switch {
	case b.stored != nil && !b.stored.matches() && !b.joined.matches():
		return b.damaged(fmt.Errorf("the content differs from its digest %s", b.stored.want))
	case b.truncated != "":
		return b.cut()
	}
	return io.EOF
}

func (b *body) cut() error {
	return &fetch.Error{Op: fetch.OpRead, URL: b.url, Kind: fetch.ErrTruncated, Err: fmt.Errorf("the capture is not complete (%.40q)", b.truncated)}
}

// A digest is computed, and compared with the value of a field.
type digest struct {
	hash.Hash
	want string
}

// newDigest returns the digest for the value of a field, or nil if its algorithm is not known.
func newDigest(field string) *digest {
	algorithm, _, _ := strings.Cut(field, ":")
	switch strings.ReplaceAll(strings.ToLower(algorithm), "-", "") {
	case "md5":
		return &digest{md5.New(), field}
	case "sha1":
		return &digest{sha1.New(), field}
	case "sha256":
		return &digest{sha256.New(), field}
	case "sha512":
		return &digest{sha512.New(), field}
	}
	return nil
}

// matches compares with a value in base32 or in hexadecimal digits.
func (d *digest) matches() bool {
	_, want, _ := strings.Cut(d.want, ":")
	sum := d.Sum(nil)
	return strings.EqualFold(strings.TrimRight(want, "="), strings.TrimRight(base32.StdEncoding.EncodeToString(sum), "=")) ||
		strings.EqualFold(want, hex.EncodeToString(sum))
}
