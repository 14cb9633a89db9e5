package archive

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http/httputil"
	"os"
	"time"

	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/fetch"
)

// open opens the record of a capture.
func (c *Capture) open() (*Document, error) {
	rec, file, err := c.openRecord()
	if err != nil {
		return nil, err
	}
	doc, err := documentOf(rec, c.Truncated)
	if err != nil {
		return nil, &os.PathError{Op: "read", Path: file.Name(), Err: errors.Join(err, file.Close())}
	}
	doc.Body.(*body).Closer = file
	return doc, nil
}

// openRecord opens the file of a capture and finds its record.
func (c *Capture) openRecord() (*warc.Record, *os.File, error) {
	p, ok := c.part.files[c.file]
	if !ok {
		return nil, nil, fmt.Errorf("%s: the index names the file %.80q, which is not in the archive; run fetch1738 warc index", c.URL, c.file)
	}
	file, content, err := p.open()
	if err != nil {
		return nil, nil, err
	}
	rec, err := c.record(content)
	if err != nil {
		err = fmt.Errorf("%w; if the file has changed, run fetch1738 warc index", err)
		return nil, nil, &os.PathError{Op: "read", Path: p.name, Err: errors.Join(err, file.Close())}
	}
	return rec, file, nil
}

// DocumentOf returns the content of a record of type response, resource or revisit; that of a revisit
// is what the record itself has. The Body is valid as long as the Block of the record.
func DocumentOf(rec *warc.Record) (*Document, error) {
	doc, err := documentOf(rec, "")
	if err == nil {
		doc.Body.(*body).Closer = io.NopCloser(nil)
	}
	return doc, err
}

// documentOf returns the content of a record that is truncated if the index or its header says so.
func documentOf(rec *warc.Record, truncated string) (*Document, error) {
	payload, err := rec.Payload()
	if err != nil {
		return nil, err
	}
	content := bufio.NewReader(payload)
	b := &body{content: content, url: rec.TargetURI(), truncated: truncated}
	if t := rec.Header.Get(warc.FieldTruncated); t != "" {
		b.truncated = t
	}
	if isChunked(payload.Head, content, rec.Length-int64(len(payload.Head)), b.truncated != "") {
		b.content, b.chunks = httputil.NewChunkedReader(content), content
	}
	return &Document{Header: rec.Header, Head: payload.Head, Body: b}, nil
}

// record returns the record of c: the first one at its offset, or another one of the same gzip
// member.
func (c *Capture) record(file *io.SectionReader) (*warc.Record, error) {
	if c.offset >= file.Size() {
		return nil, fmt.Errorf("the index has the offset %d, where the file has ended", c.offset)
	}
	rec, err := warc.ReadAt(file, c.offset)
	if err != nil || c.is(rec) {
		return rec, err
	}
	member := warc.NewReader(io.NewSectionReader(file, c.offset, file.Size()-c.offset))
	for {
		rec, err := member.Next()
		if err == nil && rec.Offset == 0 {
			if c.is(rec) {
				return rec, nil
			}
			continue
		}
		return nil, fmt.Errorf("the record at offset %d is not that of %.200s", c.offset, fetch.Printable(c.URL))
	}
}

// is reports whether a record is that of c. Indexes of other programs have whole seconds.
func (c *Capture) is(rec *warc.Record) bool {
	date := rec.Date()
	return rec.TargetURI() == c.URL &&
		(date.Truncate(time.Millisecond).Equal(c.Time) || date.Truncate(time.Second).Equal(c.Time))
}

// A body is the payload of a record. It ends in io.EOF only if the record is complete.
type body struct {
	io.Closer
	content   io.Reader
	chunks    io.Reader // that content joins, or nil
	url       string
	truncated string // WARC-Truncated
	done      error
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.done != nil {
		return 0, b.done
	}
	n, err := b.content.Read(p)
	if err == io.EOF && b.chunks != nil { // a trailer may follow, and then the digest is verified
		if _, err = io.Copy(io.Discard, b.chunks); err == nil {
			err = io.EOF
		}
	}
	if err != nil {
		b.done = b.ended(err)
	}
	return n, b.done
}

// ended returns what the body ends in after err.
func (b *body) ended(err error) error {
	_, defect := errors.AsType[*warc.Defect](err)
	switch {
	case !defect && b.truncated != "": // maybe within a chunk
		return &fetch.Error{Op: fetch.OpRead, URL: b.url, Kind: fetch.ErrTruncated, Err: fmt.Errorf("the capture is not complete (%.40q)", b.truncated)}
	case err == io.EOF:
		return io.EOF
	}
	return &fetch.Error{Op: fetch.OpRead, URL: b.url, Kind: fetch.ErrLocalIO, Err: fmt.Errorf("the archive is damaged: %w", err)}
}
