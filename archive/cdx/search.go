package cdx

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// An Index is a sorted CDXJ file. Lines are found by binary search, so only a few blocks of the file
// are read. Its methods are safe for concurrent use if those of the file are.
type Index struct {
	file io.ReaderAt
	size int64
}

// NewIndex returns the Index of a file of a size in bytes.
func NewIndex(file io.ReaderAt, size int64) *Index { return &Index{file, size} }

// errUnsorted means that the lines of an index are not sorted by octets (LC_ALL=C).
var errUnsorted = errors.New("the lines of the index are not sorted by octets")

// Lookup yields the lines of a key, by time. An error is the last pair.
func (x *Index) Lookup(key string) iter.Seq2[*Line, error] { return x.Prefix(key + " ") }

// Prefix yields the lines that begin with prefix, by key and time. An error is the last pair.
func (x *Index) Prefix(prefix string) iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		for text, err := range x.From(prefix) {
			var line *Line
			if err == nil {
				if !bytes.HasPrefix(text, []byte(prefix)) {
					return
				}
				line, err = Parse(text)
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// From yields the text of all lines that do not sort before from. A text is valid until the next
// one. An error is the last pair.
func (x *Index) From(from string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		begin, err := x.search([]byte(from))
		if err != nil {
			yield(nil, err)
			return
		}
		lines := newLines(io.NewSectionReader(x.file, begin, x.size-begin), linear)
		var last []byte
		for {
			line, err := lines.next()
			switch {
			case err == io.EOF:
				return
			case err == nil && bytes.Compare(line, last) < 0:
				err = errUnsorted
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if bytes.Compare(line, []byte(from)) >= 0 && !yield(line, nil) {
				return
			}
			last = append(last[:0], line...)
		}
	}
}

// linear is how many bytes are not searched by halves.
const linear = 4 << 10

// search returns the start of a line before which all lines sort before from. The first line that
// does not is near.
func (x *Index) search(from []byte) (int64, error) {
	var low, high []byte // lines that are known
	begin, end := int64(0), x.size
	for end-begin > linear {
		mid := begin + (end-begin)/2
		start, line, err := x.lineAfter(mid, end)
		if err != nil {
			return 0, err
		}
		if line == nil { // no line begins in the upper half
			end = mid
			continue
		}
		if low != nil && bytes.Compare(line, low) < 0 || high != nil && bytes.Compare(line, high) > 0 {
			return 0, errUnsorted
		}
		if bytes.Compare(line, from) < 0 {
			begin, low = start, line
		} else {
			end, high = mid, line
		}
	}
	return begin, nil
}

// lineAfter returns the first line that begins after mid and before end, or nil.
func (x *Index) lineAfter(mid, end int64) (int64, []byte, error) {
	lines := newLines(io.NewSectionReader(x.file, mid, x.size-mid), 512)
	rest, err := lines.next()
	if err == nil {
		start := mid + int64(len(rest)) + 1
		if start >= end {
			return 0, nil, nil
		}
		var line []byte
		if line, err = lines.next(); err == nil {
			return start, bytes.Clone(line), nil
		}
	}
	if err == io.EOF {
		return 0, nil, nil
	}
	return 0, nil, err
}

// lines reads lines of limited length.
type lines struct {
	r    *bufio.Reader
	long []byte
}

func newLines(r io.Reader, buffer int) *lines { return &lines{r: bufio.NewReaderSize(r, buffer)} }

// next returns the next line without its line feed, valid until the next call.
func (l *lines) next() ([]byte, error) {
	l.long = l.long[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if len(l.long)+len(part) > MaxLine+1 {
			return nil, fmt.Errorf("a line of the index is longer than %d bytes", MaxLine)
		}
		switch {
		case err == nil && len(l.long) == 0:
			return part[:len(part)-1], nil
		case err == nil:
			l.long = append(l.long, part...)
			return l.long[:len(l.long)-1], nil
		case err == bufio.ErrBufferFull:
			l.long = append(l.long, part...)
		case err == io.EOF && len(l.long)+len(part) > 0:
			l.long = append(l.long, part...)
			return l.long, nil
		default:
			return nil, err
		}
	}
}
