package warc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	archives "github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/urls/idn"
)

// get writes the document of a record.
func (o *options) get(ctx context.Context, args []string) int {
	switch {
	case len(args) != 2:
		return o.Complain("get: there must be a FILE, and a URL or OFFSET")
	case o.head && o.record:
		return o.Complain("--head and --record exclude each other")
	}
	name := args[0]
	search := o.inFile
	if info, err := os.Stat(name); err == nil && info.IsDir() || strings.HasSuffix(strings.ToLower(name), ".wacz") {
		if _, err := strconv.ParseInt(args[1], 10, 64); err == nil {
			return o.Complain("get: %s has no OFFSET: it is not a WARC file", name)
		}
		search = o.inArchive
	}
	rec, files, err := search(ctx, name, args[1])
	if files != nil {
		defer files.Close()
	}
	out := stdio.CheckOutput(o.Std.Out)
	if err == nil {
		err = o.write(out, rec)
	}
	damage, damaged := errors.AsType[*archives.DamageError](err)
	switch {
	case ctx.Err() != nil:
		return exit.OfSignal(ctx)
	case damaged:
		return o.damaged(damage)
	case out.Err() != nil:
		return o.FailOutput(out.Err())
	case errors.Is(err, errNoRecord):
		return o.Fail(exit.NotFound, "%s: %v", name, err)
	case err != nil && !errors.Is(err, fetch.ErrTruncated):
		return o.failed(name, err)
	case rec.Header.Get(warc.FieldTruncated) != "":
		return o.Fail(exit.Partial, "%s: the document was not received completely (%s)", name, rec.Header.Get(warc.FieldTruncated))
	}
	return exit.OK
}

// inArchive returns the record of a URL in an archive of several files, and what closes its file.
func (o *options) inArchive(ctx context.Context, name, url string) (*warc.Record, io.Closer, error) {
	a, err := archives.Open(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	defer a.Close() // its index; the file of the record stays open
	c, err := a.Find(idn.URL(url), time.Time{})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, cmp.Or(a.Damage(), errNoRecord)
	}
	if err != nil {
		return nil, nil, err
	}
	rec, file, err := a.Record(c)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w with content: %w", errNoRecord, err)
	}
	return rec, file, err
}

// inFile returns the record of a URL, or at an offset, in a file, and what closes the file.
func (o *options) inFile(ctx context.Context, name, arg string) (*warc.Record, io.Closer, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	rec, err := o.find(ctx, file, arg)
	return rec, file, err
}

var errNoRecord = errors.New("there is no document of this URL")

// find returns the record at an offset, or the last one of a URL. In place of a revisit it is the
// record that has its payload, unless the record at an offset is to be shown.
func (o *options) find(ctx context.Context, file *os.File, arg string) (*warc.Record, error) {
	var rec *warc.Record
	offset, notNumber := strconv.ParseInt(arg, 10, 64)
	err := notNumber
	if notNumber == nil {
		rec, err = warc.ReadAt(file, offset)
	} else {
		rec, err = best(ctx, file, func(rec *warc.Record) int {
			if t := rec.Type(); idn.URL(rec.TargetURI()) == idn.URL(arg) && (t == warc.Resource || t == warc.Response || t == warc.Revisit) {
				return 1
			}
			return 0
		})
	}
	if shown := notNumber == nil && (o.head || o.record); err != nil || rec.Type() != warc.Revisit || shown {
		return rec, err
	}
	original, err := best(ctx, file, originalOf(rec))
	if errors.Is(err, errNoRecord) {
		err = fmt.Errorf("%w with content: the last one, at offset %d, refers to a record of another file", errNoRecord, rec.Offset)
	}
	return original, err
}

// originalOf ranks the records that a revisit may refer to: the one whose ID it has, one with the URL
// and date that it has, then an earlier one of the same URL with the same digest. A revisit without a
// digest is of the document that the server did not send again: the one before it.
func originalOf(revisit *warc.Record) func(*warc.Record) int {
	h := revisit.Header
	id, digest := strings.Trim(h.Get(warc.FieldRefersTo), "<>"), h.PayloadDigest()
	url := h.Get(warc.FieldRefersToTargetURI)
	date, err := warc.ParseDate(h.Get(warc.FieldRefersToDate))
	named := err == nil && url != ""
	return func(rec *warc.Record) int {
		has := rec.Header.Get(warc.FieldPayloadDigest)
		switch same := warc.SameDigest(has, digest); {
		case rec.Type() != warc.Resource && rec.Type() != warc.Response || !same:
			return 0
		case id != "" && rec.ID() == id:
			return 3
		case named && rec.TargetURI() == url && rec.Date().Truncate(time.Second).Equal(date.Truncate(time.Second)):
			return 2
		case rec.TargetURI() == revisit.TargetURI() && rec.Offset < revisit.Offset && (digest == "" && id == "" && !named || digest != "" && has != ""):
			return 1
		}
		return 0
	}
}

// best returns the last record with the highest rank above 0. If no record has one, the error is the
// first defect of the file, or errNoRecord.
func best(ctx context.Context, file *os.File, rank func(*warc.Record) int) (*warc.Record, error) {
	offset, nth, highest := int64(-1), 0, 1
	last, n := int64(-1), 0 // where records begin, and how many before this one begin there
	var damage error
	err := scan(&input{ReadCloser: io.NopCloser(io.NewSectionReader(file, 0, 1<<62)), ctx: ctx}, func(rec *warc.Record) error {
		if n++; rec.Offset != last {
			last, n = rec.Offset, 0
		}
		if r := rank(rec); r >= highest {
			offset, nth, highest = rec.Offset, n, r
		}
		return nil
	}, func(defect *warc.Defect) error {
		damage = cmp.Or[error](damage, defect)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case offset < 0:
		return nil, cmp.Or(damage, errNoRecord)
	case nth == 0:
		return warc.ReadAt(file, offset)
	}
	var rec *warc.Record // not the first one of its gzip member
	for r := warc.NewReader(io.NewSectionReader(file, offset, 1<<62-offset)); err == nil && nth >= 0; nth-- {
		rec, err = r.Next()
	}
	return rec, err
}

// write writes the document, the head or all of a record. A terminal gets no control characters.
func (o *options) write(out io.Writer, rec *warc.Record) error {
	var safe *term.Writer
	if term.IsTerminal(out) {
		safe = term.NewWriter(out)
		out = safe
	}
	err := o.writeRaw(out, rec)
	if safe != nil {
		err = errors.Join(err, safe.Flush())
	}
	return err
}

func (o *options) writeRaw(out io.Writer, rec *warc.Record) error {
	if !o.head && !o.record {
		doc, err := archives.DocumentOf(rec)
		if err == nil {
			_, err = io.Copy(out, doc.Body)
		}
		return err
	}
	payload, err := rec.Payload()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "WARC/%s\r\n", rec.Version)
	for _, f := range rec.Header {
		fmt.Fprintf(out, "%s: %s\r\n", f.Name, f.Value)
	}
	if _, err := fmt.Fprintf(out, "\r\n%s", payload.Head); err != nil || o.head {
		return err
	}
	if _, err = io.Copy(out, payload); err == nil {
		_, err = io.WriteString(out, "\r\n\r\n")
	}
	return err
}
