package cdx

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// The memory of a Sorter: a run is sorted in memory, and as many runs are merged at once.
const (
	runSize   = 8 << 20
	maxMerged = 128
	runBuffer = 32 << 10
)

// A Sorter sorts lines by octets. It keeps 8 MiB in memory, and more in temporary files. The zero
// value is ready for use, by one goroutine at a time. The caller must close it.
type Sorter struct {
	// limit is how many bytes are sorted in memory; 0 means 8 MiB.
	limit int

	text  []byte
	ends  []int // of the lines in text
	spill *os.File
	end   int64 // of spill
	runs  []run
}

// A run is a sorted part of a temporary file.
type run struct{ begin, end int64 }

// Add adds a line, without a line end.
func (s *Sorter) Add(line []byte) error {
	if limit := cmp.Or(s.limit, runSize); len(s.ends) > 0 && len(s.text)+len(line)+8*len(s.ends) > limit {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.text = append(s.text, line...)
	s.ends = append(s.ends, len(s.text))
	return nil
}

// sorted yields the lines in memory, in order.
func (s *Sorter) sorted(yield func(line []byte) error) error {
	order := make([]uint32, len(s.ends))
	for i := range order {
		order[i] = uint32(i)
	}
	line := func(i uint32) []byte {
		if i == 0 {
			return s.text[:s.ends[0]]
		}
		return s.text[s.ends[i-1]:s.ends[i]]
	}
	slices.SortFunc(order, func(a, b uint32) int { return bytes.Compare(line(a), line(b)) })
	for _, i := range order {
		if err := yield(line(i)); err != nil {
			return err
		}
	}
	return nil
}

// flush writes the lines in memory as a run.
func (s *Sorter) flush() (err error) {
	if s.spill == nil {
		if s.spill, err = disk.TempFile(); err != nil {
			return err
		}
	}
	err = s.write(func(out *lineWriter) error { return s.sorted(out.line) })
	s.text, s.ends = s.text[:0], s.ends[:0]
	if err == nil && len(s.runs) == maxMerged {
		err = s.compact()
	}
	return err
}

// write adds a run at the end of the temporary file.
func (s *Sorter) write(lines func(out *lineWriter) error) error {
	out := &lineWriter{w: bufio.NewWriterSize(io.NewOffsetWriter(s.spill, s.end), 64<<10)}
	if err := cmp.Or(lines(out), out.w.Flush()); err != nil {
		return err
	}
	s.runs = append(s.runs, run{s.end, s.end + out.n})
	s.end += out.n
	return nil
}

// compact merges all runs into one, in another temporary file.
func (s *Sorter) compact() error {
	old, runs := s.spill, s.runs
	file, err := disk.TempFile()
	if err != nil {
		return err
	}
	s.spill, s.runs, s.end = file, nil, 0
	err = s.write(func(out *lineWriter) error { return merge(old, runs, out.line) })
	return errors.Join(err, disk.RemoveTemp(old))
}

// WriteTo writes the sorted lines, each once, and a line feed after each. The Sorter is empty then.
func (s *Sorter) WriteTo(w io.Writer) (int64, error) {
	out := &lineWriter{w: bufio.NewWriterSize(w, 64<<10)}
	var err error
	if s.spill == nil {
		err = s.sorted(out.once)
	} else if err = s.flush(); err == nil {
		err = merge(s.spill, s.runs, out.once)
	}
	return out.n, cmp.Or(err, out.w.Flush(), s.Close())
}

// Close removes the temporary files.
func (s *Sorter) Close() error {
	spill := s.spill
	*s = Sorter{limit: s.limit}
	if spill == nil {
		return nil
	}
	return disk.RemoveTemp(spill)
}

// A lineWriter counts what it writes.
type lineWriter struct {
	w    *bufio.Writer
	n    int64
	last []byte
}

func (o *lineWriter) line(text []byte) error {
	o.n += int64(len(text)) + 1
	_, _ = o.w.Write(text)
	return o.w.WriteByte('\n')
}

// once writes a line unless it is the previous one.
func (o *lineWriter) once(text []byte) error {
	if o.n > 0 && bytes.Equal(text, o.last) {
		return nil
	}
	o.last = append(o.last[:0], text...)
	return o.line(text)
}

// merge yields the lines of all runs in order.
func merge(file io.ReaderAt, runs []run, yield func(line []byte) error) error {
	var h sources
	for _, r := range runs {
		src := &source{lines: newLines(io.NewSectionReader(file, r.begin, r.end-r.begin), runBuffer)}
		if err := src.next(); err == nil {
			h = append(h, src)
		} else if err != io.EOF {
			return err
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		if err := yield(h[0].line); err != nil {
			return err
		}
		switch err := h[0].next(); err {
		case nil:
			heap.Fix(&h, 0)
		case io.EOF:
			heap.Pop(&h)
		default:
			return err
		}
	}
	return nil
}

// A source is a run that is being merged.
type source struct {
	lines *lines
	line  []byte
}

func (s *source) next() (err error) {
	s.line, err = s.lines.next()
	return err
}

// sources is a heap by the current lines.
type sources []*source

func (h sources) Len() int           { return len(h) }
func (h sources) Less(i, j int) bool { return bytes.Compare(h[i].line, h[j].line) < 0 }
func (h sources) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *sources) Push(x any)        { *h = append(*h, x.(*source)) }
func (h *sources) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
