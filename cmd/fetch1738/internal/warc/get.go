package warc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
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
	file, err := os.Open(name)
	if err != nil {
		return o.Fail(exit.Read, "%v", err)
	}
	defer file.Close()
	offset, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		offset, err = find(&input{ReadCloser: file, ctx: ctx}, args[1])
	}
	var rec *warc.Record
	if err == nil {
		rec, err = warc.ReadAt(file, offset)
	}
	out := stdio.CheckOutput(o.Std.Out)
	if err == nil {
		err = o.write(out, rec)
	}
	switch {
	case ctx.Err() != nil:
		return exit.OfSignal(ctx)
	case out.Err() != nil:
		return o.Fail(exit.Write, "%v", out.Err())
	case errors.Is(err, errNoRecord):
		return o.Fail(exit.NotFound, "%s", stdio.Line(fmt.Sprintf("%s: %v", name, err)))
	case err != nil:
		return o.failed(name, err)
	case rec.Header.Get(warc.FieldTruncated) != "":
		return o.Fail(exit.Partial, "%s", stdio.Line(fmt.Sprintf("%s: the document was not received completely (%s)", name, rec.Header.Get(warc.FieldTruncated))))
	}
	return exit.OK
}

var errNoRecord = errors.New("there is no document of this URL")

// find returns the offset of the last document of a URL. If that is a revisit, it is the record that
// has its payload.
func find(file io.Reader, url string) (int64, error) {
	r := warc.NewReader(file)
	found, last := make(map[string]int64), int64(-1)
	var err error
	for {
		rec, next := r.Next()
		if next == io.EOF {
			break
		}
		if next != nil {
			return 0, next
		}
		if rec.TargetURI() != url {
			continue
		}
		digest := strings.Clone(rec.Header.Get(warc.FieldPayloadDigest)) // not all of the header
		switch rec.Type() {
		case warc.Resource, warc.Response:
			found[digest], last, err = rec.Offset, rec.Offset, nil
		case warc.Revisit:
			var ok bool
			if last, ok = found[digest]; !ok {
				err = fmt.Errorf("%w with content: the last one, at offset %d, refers to a record of another file", errNoRecord, rec.Offset)
			}
		}
	}
	if last < 0 {
		err = errNoRecord
	}
	return last, err
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
	payload, err := rec.Payload()
	if err != nil {
		return err
	}
	if o.head || o.record {
		fmt.Fprintf(out, "WARC/%s\r\n", rec.Version)
		for _, f := range rec.Header {
			fmt.Fprintf(out, "%s: %s\r\n", f.Name, f.Value)
		}
		if _, err := fmt.Fprintf(out, "\r\n%s", payload.Head); err != nil {
			return err
		}
	}
	if o.head {
		return nil
	}
	if _, err = io.Copy(out, payload); err == nil && o.record {
		_, err = io.WriteString(out, "\r\n\r\n")
	}
	return err
}
