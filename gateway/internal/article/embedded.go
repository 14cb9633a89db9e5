package article

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/internal/text/charset"
)

// An Embedded is a file that stands in the text of an article, as before MIME: in yEnc, or as uuencode
// writes it.
type Embedded struct {
	Name string // not safe; may be empty
	// Part is the number of the part that the article has, if the file is in several articles, else 0.
	// Total is the number of the parts, or 0 if it is not known.
	Part, Total int
	// Damaged says why the file is not as it was sent. It is known after the Body of the Part has been
	// read; "" means that nothing wrong was found.
	Damaged string
}

// Limits of what begins a file in a text, in bytes.
const (
	maxStart     = 4 << 10 // the first two lines, and three in yEnc
	maxYEncLine  = 1000
	splitBufSize = 16 << 10
	maxDropped   = 1 << 20 // spaces that uuencode lacks: a file is not much longer than its text
)

// A text reads a text up to the next file in it.
type text struct {
	r      *bufio.Reader
	inside bool // within a line
	line   []byte
	file   *Embedded // that follows; nil before its start, and at the end
	body   io.Reader // of the file
	err    error
}

// Read implements io.Reader.
func (t *text) Read(p []byte) (int, error) {
	if len(t.line) == 0 && t.err == nil {
		if !t.inside {
			if t.file, t.body = embedded(t.r); t.file != nil {
				t.err = io.EOF
				return 0, t.err
			}
		}
		t.line, t.err = t.r.ReadSlice('\n')
		if t.inside = t.err != nil; t.err == bufio.ErrBufferFull {
			t.err = nil
		}
	}
	if len(t.line) == 0 {
		return 0, t.err
	}
	n := copy(p, t.line)
	t.line = t.line[n:]
	return n, nil
}

// skipEmpty skips empty lines. It reports whether anything but a file follows.
func (t *text) skipEmpty() bool {
	for {
		start, _ := t.r.Peek(2)
		switch {
		case len(start) == 0:
			return false
		case start[0] == '\n':
			_, _ = t.r.Discard(1)
		case string(start) == "\r\n":
			_, _ = t.r.Discard(2)
		default:
			t.file, t.body = embedded(t.r)
			return t.file == nil
		}
	}
}

// embedded returns the file that begins here, at the start of a line, with a reader of its content. It
// skips what begins the file. If no file begins here, it returns nil.
func embedded(r *bufio.Reader) (*Embedded, io.Reader) {
	word, _ := r.Peek(len("=ybegin "))
	isYEnc := string(word) == "=ybegin "
	if !isYEnc && !bytes.HasPrefix(word, []byte("begin ")) {
		return nil, nil
	}
	start, _ := r.Peek(maxStart)
	first, rest := cutLine(start)
	if isYEnc {
		return yEncStart(r, first, rest)
	}
	fields := strings.SplitN(string(first), " ", 3)
	second, _ := cutLine(rest)
	if len(fields) < 3 || len(fields[1]) < 3 || len(fields[1]) > 4 || strings.Trim(fields[1], "01234567") != "" || fields[2] == "" || !isUU(second) {
		return nil, nil
	}
	_, _ = r.Discard(len(start) - len(rest))
	e := &Embedded{Name: fileName(fields[2])}
	return e, &uuReader{r: r, of: e}
}

// cutLine returns the first line of a text, without its end, and the rest.
func cutLine(text []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(text, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), rest
}

// fileName is a name in the text of an article.
func fileName(name string) string { return charset.Charset{}.Decode(strings.Trim(name, " \"")) }

// isUU reports whether a line is one of uuencode: as long as its first letter says, perhaps with a
// checksum behind it.
func isUU(line []byte) bool {
	if len(line) == 0 || bytes.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '`' }) {
		return false
	}
	n := len(line) - 1 - (uu(line[0])+2)/3*4
	return n >= 0 && n <= 2
}

func uu(c byte) int { return int(c-' ') & 63 }

// A uuReader decodes the lines of uuencode, up to the line "end".
type uuReader struct {
	r       *bufio.Reader
	of      *Embedded
	dropped int // spaces
	decoded []byte
	done    bool
}

// Read implements io.Reader.
func (u *uuReader) Read(p []byte) (int, error) {
	for len(u.decoded) == 0 {
		if u.done {
			return 0, io.EOF
		}
		u.next()
	}
	n := copy(p, u.decoded)
	u.decoded = u.decoded[n:]
	return n, nil
}

// next decodes a line. Any other line belongs to the text behind the file.
func (u *uuReader) next() {
	const longest = 100 // with a checksum and the end of the line
	start, _ := u.r.Peek(longest)
	line, rest := cutLine(start)
	missing := 0
	if len(line) > 0 {
		missing = (uu(line[0])+2)/3*4 - (len(line) - 1)
	}
	switch {
	case len(start) == 0:
		u.done, u.of.Damaged = true, "its end is missing"
		return
	case string(bytes.TrimRight(line, " ")) == "end":
		u.done = true
	case len(line) == 0: // "`", written as a space that was lost
	case missing > 0 && line[0] <= 'M' && u.dropped < maxDropped: // programs drop the spaces at the end of a line, which has 45 bytes at most
		u.dropped += missing
		line = append(bytes.Clone(line), strings.Repeat(" ", missing)...)
		fallthrough
	default:
		if !isUU(line) {
			u.done, u.of.Damaged = true, "its end is missing"
			return
		}
		u.decoded = uuDecode(line[1:], uu(line[0]))
	}
	_, _ = u.r.Discard(len(start) - len(rest))
}

// uuDecode returns the n bytes that the letters of a line stand for.
func uuDecode(letters []byte, n int) []byte {
	decoded := make([]byte, 0, n+2)
	for ; len(decoded) < n; letters = letters[4:] {
		a, b, c, d := uu(letters[0]), uu(letters[1]), uu(letters[2]), uu(letters[3])
		decoded = append(decoded, byte(a<<2|b>>4), byte(b<<4|c>>2), byte(c<<6|d))
	}
	return decoded[:n]
}

// yEncStart is embedded for yEnc, whose first line is given, with what follows it.
func yEncStart(r *bufio.Reader, first, rest []byte) (*Embedded, io.Reader) {
	declared, name, _ := strings.Cut(string(first), " name=")
	e := &Embedded{Name: fileName(name), Part: int(yEncNumber(declared, "part")), Total: int(yEncNumber(declared, "total"))}
	line, size := yEncNumber(declared, "line"), yEncNumber(declared, "size")
	if e.Part > 0 {
		var second []byte
		second, rest = cutLine(rest)
		begin, end := yEncNumber(string(second), "begin"), yEncNumber(string(second), "end")
		if !bytes.HasPrefix(second, []byte("=ypart ")) || begin < 1 || end < begin-1 {
			return nil, nil
		}
		size = end - begin + 1
	}
	data, _ := cutLine(rest)
	n := int64(len(data))
	switch {
	case line < 1 || line > maxYEncLine || size < 0 || e.Part < 0 || e.Part > 1<<20 || e.Total < 0 || e.Total > 1<<20:
		return nil, nil
	case n < min(line, size) || n > 2*line+2 && size > 0: // a description of yEnc has other lines
		return nil, nil
	}
	skipped, _ := r.Peek(maxStart)
	_, _ = r.Discard(len(skipped) - len(rest))
	return e, &yEncReader{r: r, of: e, size: size, sum: crc32.NewIEEE()}
}

// yEncNumber is the number that a line of yEnc gives to a name; -1 if it is invalid, 0 without one.
func yEncNumber(line, name string) int64 {
	for field := range strings.FieldsSeq(line) {
		if value, ok := strings.CutPrefix(field, name+"="); ok {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return -1
			}
			return n
		}
	}
	return 0
}

// A yEncReader decodes the lines of yEnc, up to the line "=yend".
type yEncReader struct {
	r    *bufio.Reader
	of   *Embedded
	size int64 // that is declared
	sum  interface {
		Sum32() uint32
		io.Writer
	}
	got     int64
	inside  bool // within a line
	escaped bool // the last byte was "="
	decoded []byte
	done    bool
}

// Read implements io.Reader.
func (y *yEncReader) Read(p []byte) (int, error) {
	for len(y.decoded) == 0 {
		if y.done {
			return 0, io.EOF
		}
		y.next()
	}
	n := copy(p, y.decoded)
	y.decoded = y.decoded[n:]
	return n, nil
}

// next decodes a line, or what of it the buffer holds.
func (y *yEncReader) next() {
	line, err := y.r.ReadSlice('\n')
	if !y.inside && bytes.HasPrefix(line, []byte("=yend")) {
		y.done = true
		y.of.Damaged = y.damage(string(line))
		return
	}
	if len(line) == 0 && err != nil {
		y.done, y.of.Damaged = true, "its end is missing"
		return
	}
	y.inside = err != nil
	y.decoded = y.decoded[:0]
	for _, c := range line {
		switch {
		case c == '\r' || c == '\n':
		case y.escaped:
			y.decoded, y.escaped = append(y.decoded, c-64-42), false
		case c == '=':
			y.escaped = true
		default:
			y.decoded = append(y.decoded, c-42)
		}
	}
	y.got += int64(len(y.decoded))
	_, _ = y.sum.Write(y.decoded) // a hash has no errors
}

// damage says what is wrong with the file whose last line is given.
func (y *yEncReader) damage(last string) string {
	name := "crc32"
	if y.of.Part > 0 {
		name = "pcrc32" // that of the part
	}
	sum := ""
	for field := range strings.FieldsSeq(last) {
		if value, ok := strings.CutPrefix(field, name+"="); ok {
			sum = value
		}
	}
	want, err := strconv.ParseUint(sum, 16, 32)
	switch {
	case y.got != y.size:
		return fmt.Sprintf("it has %d bytes, but %d were announced", y.got, y.size)
	case err == nil && uint32(want) != y.sum.Sum32():
		return "its checksum is wrong"
	}
	return ""
}
