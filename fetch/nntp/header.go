package nntp

import (
	"bytes"
	"errors"
	"net/mail"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// header is that of an article (RFC 5536 §3), in the order of its fields.
type header struct {
	fields []fetch.Field
	octets []byte // as they came, with the empty line if there was one
}

// readHeader reads lines up to the empty one behind a header, whose octets are
// at most max, 0 being no bound. Lines that are none of a header are passed over.
// Where the lines end without an empty one the error is io.EOF, with all that was
// read.
func readHeader(next func() ([]byte, error), max int) (header, error) {
	var h header
	var value []byte // of the last field, which may go on
	open := false
	finish := func() {
		if open {
			h.fields[len(h.fields)-1].Value = string(value)
		}
		open = false
	}
	for {
		line, err := next()
		if err != nil {
			finish()
			return h, err
		}
		h.octets = append(h.octets, line...)
		if max > 0 && len(h.octets) > max {
			return h, &fetch.Error{Kind: fetch.ErrTooLarge, Err: errors.New("the header of an article is beyond the limit")}
		}
		line = wire.TrimEOL(line)
		if len(line) == 0 {
			finish()
			return h, nil
		}
		if line[0] == ' ' || line[0] == '\t' {
			if open {
				value = append(value, line...)
			}
			continue
		}
		finish()
		if name, rest, ok := bytes.Cut(line, []byte(":")); ok && isFieldName(name) {
			h.fields = append(h.fields, fetch.Field{Name: string(name)})
			value, open = append(value[:0], bytes.TrimLeft(rest, " \t")...), true
		}
	}
}

// isFieldName holds a name to RFC 5322 §2.2.
func isFieldName(name []byte) bool {
	for _, c := range name {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return len(name) > 0
}

// get is the value of the first field of that name, or "".
func (h *header) get(name string) string {
	for _, f := range h.fields {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// date is the time in the Date field; zero when there is none.
func (h *header) date() time.Time { return parseDate(h.get("Date")) }

// maxDate bounds a date, whose comments may nest.
const maxDate = 128

// usualDate is how most dates are written. The other forms take package mail ten times
// as long, and an mbox has one for each article.
const usualDate = "Mon, 2 Jan 2006 15:04:05 -0700"

func parseDate(s string) time.Time {
	if len(s) > maxDate {
		return time.Time{}
	}
	if t, err := time.Parse(usualDate, s); err == nil {
		return t
	}
	t, err := mail.ParseDate(s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// overviewLine is what an overview would have of an article with this header.
// The numbers of octets and lines are not known, but for a Lines field.
func (h *header) overviewLine(number string) string {
	fields := []string{number}
	for _, name := range []string{"Subject", "From", "Date", "Message-ID", "References"} {
		fields = append(fields, h.get(name))
	}
	fields = append(fields, "", h.get("Lines"))
	for i, f := range fields {
		fields[i] = oneField.Replace(f)
	}
	return strings.Join(fields, "\t") + "\r\n"
}

// oneField makes a value fit for an overview (RFC 3977 §8.3.2).
var oneField = strings.NewReplacer("\t", " ", "\r", " ", "\n", " ", "\x00", " ")
