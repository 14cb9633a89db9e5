package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

const (
	maxHeader  = 1 << 20 // octets of the header of a record, or of the head of an HTTP message in it
	bufferSize = 64 << 10
)

// A Reader yields the records of a file in order. It recognizes gzip by the first octets. The memory
// it needs does not depend on the file. It is for one goroutine at a time.
type Reader struct {
	file    *bufio.Reader
	read    *source // below file
	zip     *gzip.Reader
	data    *bufio.Reader // the records: file, or the text of a member
	head    []byte        // the header of a record
	started int64         // where the current member begins
	inside  bool          // the current member has not ended; a file without gzip is one
	shared  bool          // a member has held several records
	whole   int64
	current *Record // until its end was read
	left    io.LimitedReader
	err     error // returned by all further calls of Next
}

// A source counts what was read, and keeps an error that is not the end of the file.
type source struct {
	r   io.Reader
	n   int64
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.n += int64(n)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// NewReader returns a Reader of the file r.
func NewReader(r io.Reader) *Reader { return newReader(r, bufferSize) }

func newReader(r io.Reader, size int) *Reader {
	s := &source{r: r}
	return &Reader{file: bufio.NewReaderSize(s, size), read: s}
}

// ReadAt reads the record that begins at offset, or the first one of the gzip member there. Records
// of the same file may be read concurrently.
func ReadAt(file io.ReaderAt, offset int64) (*Record, error) {
	r := newReader(io.NewSectionReader(file, offset, 1<<62-offset), 8<<10)
	r.read.n = offset
	rec, err := r.Next()
	if err == io.EOF {
		err = &Defect{Offset: offset, Wrong: "the file ends here", Err: io.ErrUnexpectedEOF}
	}
	return rec, err
}

// Whole returns where the last record ends that was read to its end, or the gzip member of it.
func (r *Reader) Whole() int64 { return r.whole }

// Next returns the next record, or io.EOF after the last one. What is left of the block of the
// previous one is skipped. Other errors are a *[Defect] or those of reading the file, and stay; see
// Resume.
func (r *Reader) Next() (*Record, error) {
	if r.finish() != nil || r.err != nil {
		return nil, r.err
	}
	rec, err := r.next()
	r.err = err
	return rec, err
}

func (r *Reader) next() (*Record, error) {
	for {
		switch {
		case !r.inside:
			if err := r.begin(); err != nil {
				return nil, err
			}
		case r.zip != nil:
			r.shared = true
		default:
			r.started = r.offset()
		}
		rec, err := r.readHeader()
		if err == io.EOF && r.zip != nil {
			r.inside = false // a member without content
			continue
		}
		return rec, err
	}
}

// offset returns the place in the file up to which its octets were used.
func (r *Reader) offset() int64 { return r.read.n - int64(r.file.Buffered()) }

// begin begins the next gzip member, or a file without gzip.
func (r *Reader) begin() error {
	r.started = r.offset()
	magic, err := r.file.Peek(4)
	switch {
	case len(magic) == 0:
		return err // io.EOF
	case r.zip == nil && !strings.HasPrefix("\x1f\x8b", string(magic[:min(2, len(magic))])):
		r.data, r.inside = r.file, true
		return nil
	case len(magic) == 4 && !isMember(magic):
		return r.defect("this is not a gzip member", nil)
	case r.zip == nil:
		r.zip, err = gzip.NewReader(r.file)
	default:
		err = r.zip.Reset(r.file)
	}
	if err != nil {
		return r.defect("this is not a gzip member", err)
	}
	r.zip.Multistream(false)
	if r.data == nil {
		r.data = bufio.NewReaderSize(r.zip, r.file.Size())
	}
	r.data.Reset(r.zip)
	r.inside = true
	return nil
}

// isMember reports whether a gzip member begins with the octets, of which there are four.
func isMember(magic []byte) bool {
	return string(magic[:3]) == "\x1f\x8b\x08" && magic[3] < 0x20
}

// defect returns a Defect of the current record, or the error of reading the file.
func (r *Reader) defect(wrong string, cause error) error {
	if r.read.err != nil {
		return r.read.err
	}
	if errors.Is(cause, io.EOF) {
		cause = io.ErrUnexpectedEOF
	}
	f := &Defect{Offset: r.started, Wrong: wrong, Err: cause}
	if r.current != nil {
		f.ID = r.current.ID()
	}
	return f
}

// finish reads what is left of the current record: the rest of the block, its end, and that of the
// gzip member. An error stays.
func (r *Reader) finish() error {
	if r.err == nil && r.current != nil {
		r.err = r.end()
		r.current = nil
	}
	return r.err
}

func (r *Reader) end() error {
	for r.left.N > 0 {
		n, err := r.data.Discard(int(min(r.left.N, 1<<30)))
		if r.left.N -= int64(n); err != nil {
			return r.cut(err)
		}
	}
	end, err := r.data.Peek(4)
	switch {
	case string(end) == "\r\n\r\n":
		_, _ = r.data.Discard(4)
	case strings.HasPrefix(string(end), "\n\n"):
		r.current.bare = true
		_, _ = r.data.Discard(2)
	case err != nil && err != io.EOF:
		return r.defect("the record ends early", err)
	case len(end) < 4 || string(end) == "WARC":
		return r.defect("CR LF CR LF is missing at the end of the record", err)
	default:
		return r.lengthDefect("the record does not end there")
	}
	if r.zip != nil {
		switch _, err := r.data.Peek(1); {
		case err == nil:
			return nil // another record in this member
		case err != io.EOF:
			return r.defect("the gzip member is damaged or ends early", err)
		}
		r.inside = false
	}
	r.whole = r.offset()
	return nil
}

// cut returns the error of a block that ends early.
func (r *Reader) cut(err error) error {
	if err != io.EOF || r.read.err != nil {
		return r.defect("the block is damaged or ends early", err)
	}
	return r.lengthDefect(fmt.Sprintf("only %d bytes follow", r.current.Length-r.left.N))
}

// lengthDefect returns the error of a Content-Length that is wrong, or of a file that is cut.
func (r *Reader) lengthDefect(but string) error {
	err := r.defect(fmt.Sprintf("%s is %d, but %s", FieldContentLength, r.current.Length, but), nil)
	if f, ok := err.(*Defect); ok {
		f.Field, f.read = FieldContentLength, r.current.Length-r.left.N
		if r.left.N > 0 {
			f.Err = io.ErrUnexpectedEOF
		}
	}
	return err
}

// Resume moves behind the [Defect] that Next has returned: to the next gzip member, or in a file
// without gzip to the next line that begins a record. The error is io.EOF if no more follows, or that of
// reading the file.
func (r *Reader) Resume() error {
	_, err := r.resync()
	r.err = err
	return err
}

// resync moves behind a defect, to the next gzip member or to the next line that begins a record. It
// never goes back, although a damaged member that ends in the next ones hides them: in a hostile
// file that would take quadratic time. If there are no more, the error is io.EOF. It returns how
// many octets were left of the member, or -1 if they cannot be read.
func (r *Reader) resync() (rest int64, err error) {
	r.err, r.current = nil, nil
	if r.data != nil && r.zip == nil {
		return -1, r.resyncPlain()
	}
	if r.inside {
		r.inside = false
		if rest, err = io.Copy(io.Discard, r.data); err == nil {
			return rest, nil
		}
	}
	for r.read.err == nil {
		magic, err := r.file.Peek(4)
		if err == nil && isMember(magic) {
			return -1, nil
		}
		if _, err = r.file.Discard(1); err != nil {
			return -1, err
		}
	}
	return -1, r.read.err
}

func (r *Reader) resyncPlain() error {
	for {
		line, err := r.data.Peek(len("WARC/1.0\r\n"))
		if err == nil && isVersionLine(line) {
			return nil
		}
		for err = bufio.ErrBufferFull; err == bufio.ErrBufferFull; {
			_, err = r.data.ReadSlice('\n')
		}
		if err != nil {
			return err
		}
	}
}

func isVersionLine(line []byte) bool {
	return bytes.HasPrefix(line, []byte("WARC/1.")) && (line[8] == '\r' || line[8] == '\n')
}

// readHeader reads the header of a record. It returns io.EOF if there are no more octets.
func (r *Reader) readHeader() (*Record, error) {
	rec := &Record{Offset: r.started, reader: r}
	r.head = r.head[:0]
	for start := 0; ; {
		part, err := r.data.ReadSlice('\n')
		r.head = append(r.head, part...)
		switch magic := r.head[:min(5, len(r.head))]; {
		case err == io.EOF && len(r.head) == 0:
			return nil, io.EOF
		case !strings.HasPrefix("WARC/", string(magic)):
			return nil, r.defect(fmt.Sprintf("%.40q is not the beginning of a record", bytes.TrimRight(r.head, "\r\n")), nil)
		case len(r.head) > maxHeader:
			return nil, r.defect(fmt.Sprintf("the header is longer than %d bytes", maxHeader), nil)
		case err == bufio.ErrBufferFull:
			continue
		case err != nil:
			return nil, r.defect("the header is damaged or ends early", err)
		}
		line := r.head[start:]
		start = len(r.head)
		rec.bare = rec.bare || !bytes.HasSuffix(line, []byte("\r\n"))
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			break
		}
	}
	return rec, r.parse(rec, string(r.head))
}

// parse parses the header of a record, and prepares its block.
func (r *Reader) parse(rec *Record, text string) error {
	first, text, _ := strings.Cut(text, "\n")
	rec.Version = strings.TrimRight(strings.TrimPrefix(first, "WARC/"), "\r")
	rec.Header = make(Header, 0, 16)
	if strings.Contains(text, "\n ") || strings.Contains(text, "\n\t") {
		text = strings.NewReplacer("\r\n ", " ", "\r\n\t", " ", "\n ", " ", "\n\t", " ").Replace(text) // folded lines
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return r.defect(fmt.Sprintf("the line %.40q of the header has no colon", line), nil)
		}
		rec.Header = append(rec.Header, Field{name, strings.Trim(value, " \t")})
	}
	r.current = rec
	length := rec.Header.Get(FieldContentLength)
	n, err := strconv.ParseUint(length, 10, 63)
	if err != nil {
		return r.defect(fmt.Sprintf("Content-Length is %.40q, which is not a number of bytes", length), nil)
	}
	rec.Length = int64(n)
	r.left = io.LimitedReader{R: r.data, N: rec.Length}
	rec.Block = &r.left
	return nil
}
