// Package segments fetches one document over several connections, a segment over each,
// into a file that records what is missing.
package segments

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/file/resume"
	"github.com/fetch1738/fetch1738/locator"
)

// A Part is an incomplete document in a file. After the position of the document's last
// byte, the file has a footer: which document it is, and what is missing. It can
// therefore not be confused with a complete document, and a killed program leaves a
// consistent file. The methods are for one goroutine.
type Part struct {
	file   *disk.Locked
	reopen func() (disk.File, error)
	footer footer
}

// A footer describes the content of the file. The zero footer means an empty file.
type footer struct {
	Source  string // a digest of the URL, which may be secret
	Edition resume.Edition
	ModTime time.Time  // of the document; zero if unknown
	Missing [][2]int64 // first byte and end of each range, in order
}

// The footer is followed by its size and its checksum at the end of the file. The size of
// the footer is constant, so that a new one overwrites the old one.
const (
	trailer    = "%08x%08x\n"
	trailerLen = 8 + 8 + 1
	perMissing = 48 // bytes of a range in JSON, at most
)

// Open returns the Part of a file, which is empty or from an earlier run. reopen opens it
// again, for writing. The Part closes the file.
func Open(file *disk.Locked, reopen func() (disk.File, error)) *Part {
	p := &Part{file: file, reopen: reopen}
	p.load()
	return p
}

// load reads the footer. An invalid one is ignored.
func (p *Part) load() {
	info, err := p.file.Stat()
	if err != nil || info.Size() < trailerLen {
		return
	}
	end := make([]byte, trailerLen)
	if _, err := p.file.ReadAt(end, info.Size()-trailerLen); err != nil {
		return
	}
	numbers := string(end[:len(end)-1])
	size, failed := strconv.ParseUint(numbers[:8], 16, 32)
	sum, err := strconv.ParseUint(numbers[8:], 16, 32)
	if failed != nil || err != nil {
		return
	}
	at := info.Size() - trailerLen - int64(size) // reading at a negative position fails
	text, err := io.ReadAll(io.NewSectionReader(p.file.File, at, int64(size)))
	if err != nil || crc32.ChecksumIEEE(text) != uint32(sum) {
		return
	}
	var r footer
	if json.Unmarshal(text, &r) == nil && r.valid(at) {
		p.footer = r
	}
}

// valid reports whether r can be the footer of a document of that size.
func (r *footer) valid(size int64) bool {
	last := int64(0)
	for _, m := range r.Missing {
		if m[0] < last || m[1] <= m[0] {
			return false
		}
		last = m[1]
	}
	return r.Edition.Known() && r.Edition.Size == size && last <= size
}

// save writes the footer after the data: after a crash the footer must not describe data
// that is not in the file.
func (p *Part) save() error {
	if err := p.file.Sync(); err != nil {
		return err
	}
	return p.write()
}

// write writes the footer.
func (p *Part) write() error {
	text, err := json.Marshal(p.footer)
	if err != nil {
		return err
	}
	fixed := p.footer
	fixed.Missing = nil
	empty, err := json.Marshal(fixed)
	if err != nil {
		return err
	}
	room := len(empty) + perMissing*Most
	text = append(text, bytes.Repeat([]byte(" "), max(0, room-len(text)))...)
	text = fmt.Appendf(text, trailer, len(text), crc32.ChecksumIEEE(text))
	_, err = p.file.WriteAt(text, p.footer.Edition.Size)
	return err
}

// Ready prepares the file for the document of res. It keeps what the file has of the same
// version of the document, and else empties the file.
func (p *Part) Ready(j *Job, res *fetch.Resource) error {
	same := p.Holds(j.Request.Locator)
	switch {
	case same && p.footer.Edition.Continues(res):
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
	p.footer = footer{Source: digest(j.Request.Locator.Redacted()), Edition: e, ModTime: res.ModTime}
	if e.Size > 0 {
		p.footer.Missing = [][2]int64{{0, e.Size}}
	}
	return p.write()
}

// Holds reports whether the file has a part of the document at l, which Fill without a first answer
// completes.
func (p *Part) Holds(l locator.Locator) bool {
	return p.begun() && p.footer.Source == digest(l.Redacted())
}

// ModTime returns the modification time of the document of which the file has a part. It is zero if
// unknown.
func (p *Part) ModTime() time.Time { return p.footer.ModTime }

// begun reports whether the file has a part of a document.
func (p *Part) begun() bool { return p.footer.Edition.Known() }

func digest(source string) string {
	sum := sha256.Sum256([]byte(source))
	return hex.EncodeToString(sum[:])
}

// Reset empties the file.
func (p *Part) Reset() error {
	p.footer = footer{}
	return p.file.Truncate(0)
}

// Missing returns how many bytes are still to be fetched.
func (p *Part) Missing() (n int64) {
	for _, m := range p.footer.Missing {
		n += m[1] - m[0]
	}
	return n
}

// Finish removes the footer of a complete document, and makes the document safe from a loss of
// power: under its final name nothing shows that it is not complete.
func (p *Part) Finish() error {
	if n := p.Missing(); n > 0 || !p.begun() {
		return fmt.Errorf("%d bytes are missing: %w", n, io.ErrUnexpectedEOF)
	}
	return cmp.Or(p.file.Truncate(p.footer.Edition.Size), p.file.Sync())
}

// Settle prepares the file to be renamed, which must be done before Close: another process
// starts over with a complete file of this name. It fails if the file has lost its name.
func (p *Part) Settle() error { return cmp.Or(p.file.Verify(), p.file.Flush()) }

// Close closes the file. It may be called again.
func (p *Part) Close() error { return p.file.Close() }
