package segments

import (
	"bytes"
	"io"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/resume"
)

// A seam is where a segment begins whose preceding bytes were not in the file when it was requested.
// lead has these bytes as they came with the segment.
type seam struct {
	pos  int64
	lead []byte
}

// readHead sets head, from the response for the whole document or from the file. It replaces the
// body of the response.
func (f *filling) readHead(first *fetch.Resource) {
	switch {
	case first != nil:
		head := make([]byte, resume.Overlap)
		n, _ := io.ReadFull(first.Body, head) // an error comes again
		f.head = head[:n]
		first.Body = replayed{io.MultiReader(bytes.NewReader(f.head), first.Body), first.Body}
	case f.held(resume.Overlap, resume.Overlap) == resume.Overlap:
		f.head, _ = f.between(0, resume.Overlap)
	}
}

// A replayed body begins with the bytes that have been read from it.
type replayed struct {
	io.Reader
	io.Closer
}

// held returns how many of the n bytes before a position are in the file.
func (f *filling) held(pos, n int64) int64 {
	from := max(0, pos-n)
	for _, s := range f.segments {
		if at := s.at.Load(); at < min(s.end, pos) {
			from = max(from, min(s.end, pos))
		}
	}
	return pos - from
}

// between returns bytes of the file.
func (f *filling) between(from, to int64) ([]byte, error) {
	octets := make([]byte, to-from)
	_, err := f.file.ReadAt(octets, from)
	return octets, err
}

// checkLead checks whether the response for a segment begins where it should. Those bytes before it
// that the file does not have yet are compared when it is complete. A server that ignores the offset
// is found earlier: it sends the beginning of the document.
func (f *filling) checkLead(req *fetch.Request, res *fetch.Resource) error {
	n := int64(len(res.Lead))
	have := f.held(req.Offset, n)
	before, err := f.between(req.Offset-have, req.Offset)
	switch {
	case err != nil:
		return err
	case !bytes.HasSuffix(res.Lead, before), have < n && bytes.HasPrefix(f.head, res.Lead):
		return resume.Differs(req)
	case have < n:
		f.mu.Lock()
		defer f.mu.Unlock()
		f.seams = append(f.seams, seam{req.Offset, res.Lead})
	}
	return nil
}

// checkSeams compares the bytes before the segments with those of the complete document.
func (f *filling) checkSeams() error {
	for _, s := range f.seams {
		before, err := f.between(s.pos-int64(len(s.lead)), s.pos)
		if err != nil {
			return err
		}
		if !bytes.Equal(before, s.lead) {
			return f.changed()
		}
	}
	return nil
}
