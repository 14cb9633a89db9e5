package nntp

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/text/date822"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// header is the header of an article (RFC 5536 §3), with its fields in order.
type header struct {
	fields []fetch.Field
	octets []byte // as received, with the empty line if there was one
}

// readHeader reads the lines of a header and the empty line after it. The header may have at most
// max bytes; zero means no limit. Lines that are not header fields are skipped. If the lines end
// without an empty one, readHeader returns the fields read so far and io.EOF.
func readHeader(next func() ([]byte, error), max int) (header, error) {
	var h header
	var value []byte // of the last field, which may continue on the next line
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
			return h, &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("the article header is longer than %d bytes", max)}
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

// isFieldName reports whether a name is a valid field name by RFC 5322 §2.2.
func isFieldName(name []byte) bool {
	return len(name) > 0 && !bytes.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' })
}

// get returns the value of the first field of that name, or "".
func (h *header) get(name string) string {
	for _, f := range h.fields {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// date returns the time in the Date field, or the zero time if there is no valid one.
func (h *header) date() time.Time { return date822.Parse(h.get("Date")) }

// overviewLine returns the overview line of an article with this header. The size is unknown. The
// number of lines is that of the Lines field, if there is one.
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

// oneField replaces the characters that a value in an overview must not have (RFC 3977 §8.3.2).
var oneField = strings.NewReplacer("\t", " ", "\r", " ", "\n", " ", "\x00", " ")
