package warc

import (
	"fmt"
	"strconv"
	"strings"
)

// A Defect is a departure from the format, or a digest that differs. As an error of reading it means
// that the record, or what is left of it, cannot be read.
type Defect struct {
	// Offset is where the record begins in the file, or the gzip member that holds it.
	Offset int64
	// ID is the WARC-Record-ID, without angle brackets; "" if it is not known.
	ID string
	// Field is the name of the field that is wrong, if it is one.
	Field string
	// Wrong says what is wrong, and Right what would be right there; Right may be "".
	Wrong, Right string
	// Note means that the record is not wrong, but that something in it could not be verified, or
	// that other programs may not expect it.
	Note bool
	// Err is the cause, such as io.ErrUnexpectedEOF; or nil.
	Err error

	read int64 // octets of the block, if its length is wrong
}

// Error returns all of the defect but Note, on one line.
func (d *Defect) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "record at offset %d", d.Offset)
	if d.ID != "" {
		fmt.Fprintf(&b, " (%s)", strings.Trim(strconv.QuoteToASCII(d.ID), `"`))
	}
	b.WriteString(": " + d.Wrong)
	if d.Right != "" {
		b.WriteString("; " + d.Right)
	}
	if d.Err != nil {
		b.WriteString(": " + d.Err.Error())
	}
	return b.String()
}

// Unwrap returns Err.
func (d *Defect) Unwrap() error { return d.Err }
