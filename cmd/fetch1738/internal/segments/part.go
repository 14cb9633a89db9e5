// Package segments fetches one document over several connections, a segment over
// each, into a file that itself says what it still lacks.
package segments

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/filelock"
	"github.com/fetch1738/fetch1738/internal/resume"
)

// A Part is a document that is being put together in a file. Behind the place of
// the document's last byte the file has a record: which document it is, and what is
// missing. So it can never be taken for the whole document, and a program that is
// killed leaves nothing that the next one could misunderstand. The methods are for
// one goroutine.
type Part struct {
	file   *os.File
	again  func() (*os.File, error)
	record record
}

// A record is what the file says of itself. The zero record says nothing.
type record struct {
	Source  string // a digest of where the document is, which may be a secret
	Edition resume.Edition
	Missing [][2]int64 // first byte, and the one behind the last, in order
}

// The record is followed by its size and its checksum, which are the end of the
// file. The size stays the same, so that writing it again leaves nothing over.
const (
	trailer    = "%08x%08x\n"
	trailerLen = 8 + 8 + 1
	perMissing = 48 // bytes that two numbers take at most, with what stands between them
)

// ErrBusy is that another process is at work on the same file.
var ErrBusy = errors.New("another process is writing to it")

// Open takes a file, which is empty or was left by an earlier run. again opens it once
// more, for writing. The Part closes the file.
func Open(file *os.File, again func() (*os.File, error)) (*Part, error) {
	p := &Part{file: file, again: again}
	if !filelock.Take(file) {
		return nil, errors.Join(fmt.Errorf("%s: %w", file.Name(), ErrBusy), file.Close())
	}
	p.load()
	return p, nil
}

// load reads the record. One that is not whole says nothing.
func (p *Part) load() {
	info, err := p.file.Stat()
	if err != nil || info.Size() < trailerLen {
		return
	}
	end := make([]byte, trailerLen)
	if _, err := p.file.ReadAt(end, info.Size()-trailerLen); err != nil {
		return
	}
	var size, sum uint32
	if _, err := fmt.Fscanf(bytes.NewReader(end), trailer, &size, &sum); err != nil || int64(size) > info.Size()-trailerLen {
		return
	}
	text := make([]byte, size)
	at := info.Size() - trailerLen - int64(size)
	if _, err := p.file.ReadAt(text, at); err != nil || crc32.ChecksumIEEE(text) != sum {
		return
	}
	var r record
	if json.Unmarshal(text, &r) == nil && r.valid(at) {
		p.record = r
	}
}

// valid reports whether r can be the record of a document of that size.
func (r *record) valid(size int64) bool {
	last := int64(0)
	for _, m := range r.Missing {
		if m[0] < last || m[1] <= m[0] {
			return false
		}
		last = m[1]
	}
	return r.Edition.Known() && r.Edition.Size == size && last <= size
}

// save writes the record, after what it says is there: a machine that fails must not
// leave the one without the other.
func (p *Part) save() error {
	if err := p.file.Sync(); err != nil {
		return err
	}
	text, err := json.Marshal(p.record)
	if err != nil {
		return err
	}
	fixed := p.record
	fixed.Missing = nil
	empty, err := json.Marshal(fixed)
	if err != nil {
		return err
	}
	room := len(empty) + perMissing*Most
	text = append(text, bytes.Repeat([]byte(" "), max(0, room-len(text)))...)
	text = fmt.Appendf(text, trailer, len(text), crc32.ChecksumIEEE(text))
	_, err = p.file.WriteAt(text, p.record.Edition.Size)
	return err
}

// Ready has the file hold the document of which res is the answer to req: what there
// is of it already stays, anything else goes.
func (p *Part) Ready(j *Job, res *fetch.Resource) error {
	source := digest(j.Request.Locator.Redacted())
	same := p.begun() && p.record.Source == source
	switch {
	case same && p.record.Edition.Continues(res):
		return nil
	case same:
		j.warn("starting over: the document has changed since %s was begun", p.file.Name())
	case p.begun():
		j.warn("starting over: %s belongs to another document", p.file.Name())
	}
	if err := p.Reset(); err != nil {
		return err
	}
	e := resume.Of(res)
	p.record = record{source, e, [][2]int64{{0, e.Size}}}
	return p.save()
}

// begun reports whether there is something of a document in the file.
func (p *Part) begun() bool { return p.record.Edition.Known() }

func digest(source string) string {
	sum := sha256.Sum256([]byte(source))
	return hex.EncodeToString(sum[:])
}

// Reset empties the file.
func (p *Part) Reset() error {
	p.record = record{}
	return p.file.Truncate(0)
}

// Missing is how many bytes are still to be fetched.
func (p *Part) Missing() (n int64) {
	for _, m := range p.record.Missing {
		n += m[1] - m[0]
	}
	return n
}

// Finish makes the file the document, which must be whole, and closes it.
func (p *Part) Finish() error {
	if n := p.Missing(); n > 0 || !p.begun() {
		return fmt.Errorf("%d bytes are missing: %w", n, io.ErrUnexpectedEOF)
	}
	if err := p.file.Truncate(p.record.Edition.Size); err != nil {
		return err
	}
	return p.Close()
}

// Close closes the file. It may be called again.
func (p *Part) Close() error {
	if err := p.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
