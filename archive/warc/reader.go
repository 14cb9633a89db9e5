package warc

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxHeader limits the header of a record, in octets.
const maxHeader = 1 << 20

// A SyntaxError is a departure from the format after which a record cannot be read.
type SyntaxError struct {
	Offset int64 // of the record, or of its gzip member, in the file
	Msg    string
	Err    error // the cause, such as io.ErrUnexpectedEOF; or nil
}

func (e *SyntaxError) Error() string {
	text := fmt.Sprintf("record at offset %d: %s", e.Offset, e.Msg)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Err.
func (e *SyntaxError) Unwrap() error { return e.Err }

// A Reader yields the records of a file in order. It recognizes gzip by the first octets. It needs
// the same memory for files of any length. It is for one goroutine at a time.
type Reader struct {
	file    *bufio.Reader
	read    *counted // below file
	zip     *gzip.Reader
	data    *bufio.Reader // the records: file, or the text of a member
	current *Record
	left    io.LimitedReader // of the block
	whole   int64
	err     error // returned by all further calls of Next

	// Several records in one gzip member are valid, but none of them can be found without those
	// before it.
	Shared bool
}

type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// NewReader returns a Reader of the file r.
func NewReader(r io.Reader) *Reader {
	c := &counted{r: r}
	return &Reader{file: bufio.NewReaderSize(c, 64<<10), read: c}
}

// offset returns the place in the file up to which its octets were used.
func (r *Reader) offset() int64 { return r.read.n - int64(r.file.Buffered()) }

// Whole returns where the last whole record ends, or its gzip member.
func (r *Reader) Whole() int64 { return r.whole }

// Next returns the next record, or io.EOF after the last one. What is left of the block of the
// previous one is skipped. Other errors are a *[SyntaxError] or those of reading, and stay.
func (r *Reader) Next() (*Record, error) {
	if r.err != nil {
		return nil, r.err
	}
	rec, err := r.next()
	if err != nil {
		r.err = err
		return nil, err
	}
	return rec, nil
}

func (r *Reader) next() (*Record, error) {
	if err := r.finish(); err != nil {
		return nil, err
	}
	offset := r.offset()
	if r.data == nil || r.zip != nil {
		switch begun, err := r.member(); {
		case err != nil:
			return nil, err
		case begun:
		default:
			r.Shared = true
			offset = r.current.Offset
		}
	}
	rec, err := readHeader(r.data, offset)
	if err != nil {
		return nil, err
	}
	r.left = io.LimitedReader{R: r.data, N: rec.Length}
	rec.Block = &r.left
	r.current = rec
	return rec, nil
}

// member begins the next gzip member, unless there is another record in this one.
func (r *Reader) member() (begun bool, err error) {
	if r.zip != nil {
		if _, err := r.data.Peek(1); err == nil {
			return false, nil
		}
	}
	magic, err := r.file.Peek(2)
	switch {
	case len(magic) == 0:
		return false, err // io.EOF
	case string(magic) == "\x1f\x8b" && r.zip == nil:
		r.zip, err = gzip.NewReader(r.file)
	case r.zip != nil:
		err = r.zip.Reset(r.file)
	default:
		r.data = r.file
		return true, nil
	}
	if err != nil {
		return false, &SyntaxError{Offset: r.offset(), Msg: "no gzip member", Err: unexpected(err)}
	}
	r.zip.Multistream(false)
	if r.data == nil {
		r.data = bufio.NewReaderSize(r.zip, 64<<10)
	} else {
		r.data.Reset(r.zip)
	}
	return true, nil
}

// finish reads what is left of the current record: the rest of the block and its end.
func (r *Reader) finish() error {
	if r.current == nil {
		return nil
	}
	at := r.current.Offset
	if _, err := io.Copy(io.Discard, &r.left); err != nil {
		return &SyntaxError{Offset: at, Msg: "the block ends early", Err: unexpected(err)}
	}
	if r.left.N > 0 {
		return &SyntaxError{Offset: at, Msg: "the block ends early", Err: io.ErrUnexpectedEOF}
	}
	var end [4]byte
	if _, err := io.ReadFull(r.data, end[:]); err != nil {
		return &SyntaxError{Offset: at, Msg: "the end mark CR LF CR LF is missing", Err: unexpected(err)}
	}
	if string(end[:]) != "\r\n\r\n" {
		return &SyntaxError{Offset: at, Msg: fmt.Sprintf("%q is in the place of the end mark CR LF CR LF; the Content-Length is wrong", end)}
	}
	if r.zip != nil {
		if _, err := r.data.Peek(1); err != nil && err != io.EOF {
			return &SyntaxError{Offset: at, Msg: "the gzip member ends early or is damaged", Err: unexpected(err)}
		} else if err == nil {
			return nil // another record in this member
		}
	}
	r.whole = r.offset()
	return nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readHeader reads the header of a record.
func readHeader(r *bufio.Reader, offset int64) (*Record, error) {
	rec := &Record{Offset: offset}
	fail := func(msg string, err error) (*Record, error) {
		return nil, &SyntaxError{Offset: offset, Msg: msg, Err: err}
	}
	left := maxHeader
	first, err := readLine(r, &left)
	if err == io.EOF && first == "" {
		return nil, io.EOF
	}
	if err != nil {
		return fail("the header ends early", unexpected(err))
	}
	version, ok := strings.CutPrefix(first, "WARC/")
	if !ok {
		return fail(fmt.Sprintf("%.40q is no version of WARC", first), nil)
	}
	rec.Version = version
	for {
		line, err := readLine(r, &left)
		if err != nil {
			return fail("the header ends early", unexpected(err))
		}
		if line == "" {
			break
		}
		if last := len(rec.Header) - 1; last >= 0 && (line[0] == ' ' || line[0] == '\t') { // a folded line
			rec.Header[last].Value += " " + strings.Trim(line, " \t")
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return fail(fmt.Sprintf("the line %.40q of the header has no colon", line), nil)
		}
		rec.Header = append(rec.Header, Field{name, strings.Trim(value, " \t")})
	}
	length := rec.Header.Get(FieldContentLength)
	if rec.Length, err = strconv.ParseInt(length, 10, 64); err != nil || rec.Length < 0 {
		return fail(fmt.Sprintf("%.40q is no Content-Length", length), nil)
	}
	return rec, nil
}

var errHeader = errors.New("the header is too long")

// readLine reads a line and removes its CR LF. A bare LF ends it, too.
func readLine(r *bufio.Reader, left *int) (string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if *left -= len(part); *left < 0 {
			return "", errHeader
		}
		line = append(line, part...)
		if err == nil {
			return strings.TrimSuffix(string(line[:len(line)-1]), "\r"), nil
		}
		if err != bufio.ErrBufferFull {
			return string(line), err
		}
	}
}

// ReadAt reads the record that begins at offset, or the first one of the gzip member there. Records
// of the same file may be read concurrently.
func ReadAt(file io.ReaderAt, offset int64) (*Record, error) {
	rec, err := NewReader(io.NewSectionReader(file, offset, 1<<62-offset)).Next()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if syntax, ok := err.(*SyntaxError); ok {
		syntax.Offset += offset
	}
	if rec != nil {
		rec.Offset = offset
	}
	return rec, err
}
