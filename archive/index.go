package archive

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/fetch1738/fetch1738/archive/cdx"
	"github.com/fetch1738/fetch1738/archive/warc"
)

const (
	// fileKey begins the keys of lines that say which files were indexed.
	fileKey = "warcinfo:"
	// revisitType is the media type of revisits in an index.
	revisitType = "warc/revisit"
)

// indexFile adds the lines of a WARC file.
func indexFile(p place, name string, s *cdx.Sorter) error {
	file, all, err := p.open(0, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	r := warc.NewReader(all)
	var last *cdx.Line
	add := func() error {
		if last == nil {
			return nil
		}
		last.Length = cdx.Number(max(r.Whole()-int64(last.Offset), 0)) // 0 if the member has more records
		text, err := last.Text()
		if err != nil {
			return err
		}
		return s.Add(text)
	}
	for {
		rec, err := r.Next()
		if broken := err != nil && err != io.EOF; broken && strings.HasSuffix(p.name, warc.OpenSuffix) && errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		} else if broken {
			return &os.PathError{Op: "index", Path: p.name, Err: err}
		}
		if e := add(); e != nil {
			return &os.PathError{Op: "index", Path: p.name, Err: e}
		}
		if err == io.EOF {
			return nil
		}
		if last, err = lineOf(rec, name); err != nil {
			return &os.PathError{Op: "index", Path: p.name, Err: err}
		}
	}
}

// lineOf returns the line for a record, or nil if it is not indexed.
func lineOf(rec *warc.Record, file string) (*cdx.Line, error) {
	typ, url := rec.Type(), rec.TargetURI()
	if url == "" || typ != warc.Response && typ != warc.Resource && typ != warc.Revisit {
		return nil, nil
	}
	l := &cdx.Line{
		Key: cdx.Key(url), Time: rec.Date(), URL: url, Digest: rec.Header.Get(warc.FieldPayloadDigest),
		Filename: file, Offset: cdx.Number(rec.Offset), Type: string(typ), Truncated: rec.Header.Get(warc.FieldTruncated),
	}
	if rec.Header.Get(warc.FieldSegmentNumber) != "" && l.Truncated == "" {
		l.Truncated = "segmented"
	}
	if t, err := warc.ParseDate(rec.Header.Get(warc.FieldLastModified)); err == nil {
		l.Modified = &t
	}
	media, size := rec.Header.Get(warc.FieldContentType), rec.Length
	if isHTTP(media) {
		body := bufio.NewReaderSize(rec.Block, 4<<10)
		head, err := readHead(body)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) { // Open says what is wrong with it
			return nil, err
		}
		media = fromHead(l, head)
		if size -= int64(len(head)); isChunked(head, body, size, l.Truncated != "") {
			size = -1
		}
	}
	switch {
	case typ == warc.Revisit:
		l.MIME, size = revisitType, -1
		l.RefersTo, l.RefersToDate = rec.Header.Get(warc.FieldRefersToTargetURI), rec.Header.Get(warc.FieldRefersToDate)
	default:
		m, params, _ := strings.Cut(media, ";")
		l.MIME, l.Params = strings.ToLower(strings.TrimSpace(m)), params
	}
	if size >= 0 {
		n := cdx.Number(size)
		l.Size = &n
	}
	return l, nil
}
