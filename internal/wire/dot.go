package wire

import (
	"bytes"
	"io"
)

// DotReader reads a block of lines that ends with a line of one dot, and removes the dot that the
// sender inserted before every line that begins with one (RFC 3977 §3.1.1). All other bytes are
// returned as they were sent, line ends included.
//
// Only CR LF ends a line here: a dot after a bare LF is data. So nothing that a sender puts between
// two CR LF can end its block.
type DotReader struct {
	lines  *LineReader
	part   []byte // read but not yet returned
	inside bool   // the next byte does not begin a line
	err    error

	listing bool // the next line is the first one of a listing
	bare    bool // a bare LF ends a line, too
}

// NewDotReader reads one block from r. After that, r can be read from behind the block.
func NewDotReader(r *LineReader) *DotReader { return &DotReader{lines: r} }

// Listing makes d accept the listing of a server that ends its lines in LF: if the first line does, a
// bare LF ends all lines, also that of one dot if nothing has come behind it. It is for blocks whose
// lines cannot contain an LF; those of a server that does not check that may, and end in CR LF.
// Listing returns d.
func (d *DotReader) Listing() *DotReader {
	d.listing = true
	return d
}

// ReadLine returns the next line with its line end, and io.EOF after the line of one dot. If the
// input ends before that, ReadLine returns the rest of the last line and then io.ErrUnexpectedEOF.
// For a line that exceeds the limit of the LineReader it returns ErrLineTooLong. The slice is valid
// until the next call.
func (d *DotReader) ReadLine() ([]byte, error) {
	if len(d.part) > 0 {
		line := d.part
		d.part = nil
		return line, nil
	}
	if d.err != nil {
		return nil, d.err
	}
	line, err := d.lines.ReadLine()
	switch {
	case err == io.EOF:
		d.err = io.ErrUnexpectedEOF
		return nil, d.err
	case err != nil:
		d.err = err
		return nil, err
	case !bytes.HasSuffix(line, []byte("\n")):
		return d.cut(line)
	}
	begins, bare := !d.inside, !bytes.HasSuffix(line, []byte("\r\n"))
	d.bare = bare && (d.bare || d.listing)
	d.listing, d.inside = false, bare && !d.bare
	if !begins || line[0] != '.' {
		return line, nil
	}
	if string(line) == ".\r\n" || d.bare && string(line) == ".\n" && d.lines.Buffered() == 0 {
		d.err = io.EOF
		return nil, io.EOF
	}
	return line[1:], nil
}

// cut returns the last line of an input that ends too early. A dot may be the beginning of the end
// line.
func (d *DotReader) cut(line []byte) ([]byte, error) {
	d.err = io.ErrUnexpectedEOF
	if !d.inside && line[0] == '.' {
		line = line[1:]
	}
	if len(line) == 0 || !d.inside && string(line) == "\r" {
		return nil, d.err
	}
	return line, nil
}

// Read implements io.Reader. It waits for at most one line.
func (d *DotReader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(d.part) == 0 {
			if n > 0 && !d.lines.HasLine() {
				break
			}
			if d.part, err = d.ReadLine(); err != nil {
				break
			}
		}
		m := copy(p[n:], d.part)
		d.part = d.part[m:]
		n += m
	}
	if n > 0 {
		err = nil // returned by the next call
	}
	return n, err
}

// Bare reports whether a bare LF ends the lines of this listing, as far as it has been read.
func (d *DotReader) Bare() bool { return d.bare }

// Ends reads what is left of the block as far as it has arrived already, and reports whether it has
// reached the end. It does not wait.
func (d *DotReader) Ends() bool {
	for d.err == nil && d.lines.HasLine() {
		d.part = nil
		_, _ = d.ReadLine()
	}
	return d.err == io.EOF
}

// DotWriter writes a block of lines in the form that DotReader reads.
type DotWriter struct {
	w      io.Writer
	buf    []byte
	inside bool // the last line has no CR LF yet
	cr     bool // the last byte was a CR
}

// NewDotWriter writes one block to w. Nothing is buffered between calls.
func NewDotWriter(w io.Writer) *DotWriter { return &DotWriter{w: w} }

// Write implements io.Writer.
func (d *DotWriter) Write(p []byte) (int, error) {
	d.buf = d.buf[:0]
	for rest := p; len(rest) > 0; {
		if !d.inside && rest[0] == '.' {
			d.buf = append(d.buf, '.')
		}
		line := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			line = rest[:i+1]
		}
		rest = rest[len(line):]
		d.buf = append(d.buf, line...)
		d.follow(line)
	}
	if _, err := d.w.Write(d.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}

// follow records how the bytes written so far end.
func (d *DotWriter) follow(line []byte) {
	whole := bytes.HasSuffix(line, []byte("\r\n")) || d.cr && string(line) == "\n"
	d.inside = !whole
	d.cr = line[len(line)-1] == '\r'
}

// Close ends the block: it adds CR LF to the last line if necessary, and writes the line of one
// dot. It does not close w.
func (d *DotWriter) Close() error {
	end := ".\r\n"
	if d.inside {
		end = "\r\n.\r\n"
	}
	_, err := io.WriteString(d.w, end)
	return err
}
