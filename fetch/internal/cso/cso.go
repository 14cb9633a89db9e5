// Package cso parses the replies of a CSO phone book (ph, RFC 2378).
package cso

import (
	"bytes"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/internal/wire"
)

// A Line is one line of a reply: "[-]code:[entry:[field:]]text".
type Line struct {
	// More is set if the reply continues ("-").
	More bool
	// Code is the result code: 1xx means that the reply continues, 2xx success, 4xx and 5xx
	// failure.
	Code int
	// Entry is the number of the entry; 0 for a line about the whole reply.
	Entry int
	// Field is the name of a field. It is empty in a line that continues the previous value.
	Field string
	// Text is the value of the field, or the text of the reply.
	Text string
}

// Final reports whether the line is the last of a reply.
func (l *Line) Final() bool { return !l.More && l.Code >= 200 }

// Parse parses a line, with or without its line end.
func Parse(octets []byte) (l Line, ok bool) {
	s := string(bytes.TrimRight(octets, "\r\n"))
	s, l.More = strings.CutPrefix(s, "-")
	code, rest, found := strings.Cut(s, ":")
	n, err := strconv.ParseUint(code, 10, 16)
	if err != nil || !found || len(code) != 3 {
		return Line{}, false
	}
	l.Code, l.Text = int(n), rest
	number, value, found := strings.Cut(rest, ":")
	entry, err := strconv.ParseUint(strings.TrimSpace(number), 10, 31)
	if err != nil || !found || entry == 0 || !l.More {
		return l, true
	}
	l.Entry = int(entry)
	field, text, found := strings.Cut(value, ":")
	if !found || strings.ContainsAny(field, "\r\x00") {
		field, text = "", value
	}
	value = text
	l.Field, l.Text = strings.TrimSpace(field), strings.TrimPrefix(value, " ")
	return l, true
}

// A Field is one field of an entry. The lines of a long value are separated by LF.
type Field struct{ Name, Value string }

// An Entry is one entry of a phone book, such as a person.
type Entry struct {
	Fields []Field
}

// Entries parses the entries of a reply. If there is an error, it is yielded last: an error of r,
// io.ErrUnexpectedEOF for a reply without its last line, or [wire.ErrLineTooLong] for a line of
// more than maxLine bytes or an entry of more than maxEntry. A limit of 0 means no limit. Fields
// that an entry lacks or does not show are omitted.
func Entries(r io.Reader, maxLine, maxEntry int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		lines := wire.NewLineReader(r, maxLine)
		var e Entry
		number, size := 0, 0
		for {
			octets, err := lines.ReadLine()
			if size += len(octets); err == nil && maxEntry > 0 && size > maxEntry {
				err = wire.ErrLineTooLong
			}
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			l, ok := Parse(octets)
			if ok && number > 0 && (l.Entry != number && l.Entry > 0 || l.Final()) {
				if len(e.Fields) > 0 && !yield(e, nil) {
					return
				}
				e, size = Entry{}, len(octets)
			}
			switch {
			case !ok:
			case l.Final():
				return
			case l.Entry > 0:
				number = l.Entry
				e.add(l)
			}
		}
	}
}

// add adds a line to the entry.
func (e *Entry) add(l Line) {
	switch last := len(e.Fields) - 1; {
	case l.Code >= 400:
	case l.Field != "":
		e.Fields = append(e.Fields, Field{l.Field, l.Text})
	case last >= 0:
		e.Fields[last].Value += "\n" + l.Text
	}
}
