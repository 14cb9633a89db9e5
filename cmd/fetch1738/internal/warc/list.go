package warc

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/render"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// jsonRecord is the JSON line of a record.
type jsonRecord struct {
	File      string `json:"file"`
	Offset    int64  `json:"offset"`
	Type      string `json:"type"`
	Date      string `json:"date"`
	ID        string `json:"id"`
	URL       string `json:"url"`
	MediaType string `json:"media_type"` // of the document, if the record has an HTTP response
	Status    int    `json:"status"`     // of an HTTP response, else 0
	Size      int64  `json:"size"`       // bytes of the document
	Digest    string `json:"digest"`     // WARC-Payload-Digest
	Truncated string `json:"truncated"`  // WARC-Truncated
}

// list prints a line for each record.
func (o *options) list(ctx context.Context, args []string) int {
	return o.each(ctx, args, func(name string, file io.Reader, out io.Writer) error {
		w := bufio.NewWriter(out)
		var last *warc.Defect
		err := scan(file, func(rec *warc.Record) error {
			line, err := describe(name, rec)
			if err == nil {
				err = o.showRecord(w, line)
			}
			return err
		}, func(defect *warc.Defect) error {
			if last != nil {
				o.failed(name, last)
			}
			last = defect
			return w.Flush()
		})
		if err = cmp.Or(err, w.Flush()); err == nil && last != nil {
			err = last
		}
		return err
	})
}

// describe returns what a line says of a record.
func describe(file string, rec *warc.Record) (jsonRecord, error) {
	h := rec.Header
	line := jsonRecord{
		File: file, Offset: rec.Offset, Type: h.Get(warc.FieldType), Date: h.Get(warc.FieldDate), ID: rec.ID(), URL: rec.TargetURI(),
		MediaType: h.Get(warc.FieldContentType), Size: rec.Length, Digest: h.Get(warc.FieldPayloadDigest), Truncated: h.Get(warc.FieldTruncated),
	}
	payload, err := rec.Payload()
	if err != nil {
		return line, err
	}
	line.Size -= int64(len(payload.Head))
	if resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(payload.Head)), nil); err == nil {
		line.Status, line.MediaType = resp.StatusCode, resp.Header.Get("Content-Type")
	}
	return line, nil
}

func (o *options) showRecord(w io.Writer, r jsonRecord) error {
	if o.json {
		for _, text := range []*string{&r.File, &r.Type, &r.Date, &r.ID, &r.URL, &r.MediaType, &r.Digest, &r.Truncated} {
			*text = render.AsGiven(*text)
		}
		return render.JSON(w, r)
	}
	date := r.Date
	if t, err := warc.ParseDate(date); err == nil {
		date = t.Format(time.RFC3339)
	}
	media, _, _ := strings.Cut(r.MediaType, ";")
	_, err := fmt.Fprintln(w, stdio.Line(fmt.Sprintf("%10d %-20s %-10s %10d %-24s %s", r.Offset, date, r.Type, r.Size, media, r.URL)))
	return err
}
