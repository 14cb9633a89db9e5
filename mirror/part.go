package mirror

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/file/resume"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
	"github.com/fetch1738/fetch1738/mirror/internal/local"
)

// A part is an incomplete file.
type part struct {
	name     string
	size     int64
	sum      hash.Hash // of the bytes written
	file     disk.File
	digest   string // the final sum in hexadecimal
	end      ending
	unstated bool // the server did not state the size of a file in a directory when it sent it
	same     bool // the file has the exact time of its copy, so nothing was fetched
	closed   bool
	failed   error // of Write

	mu    sync.Mutex               // protects size and sum while keep is set
	moved *pool.Part               // reports the size; nil for a menu
	keep  func(ManifestLine) error // writes a line about an incomplete file; nil if it is not resumed
	begun ManifestLine             // that line
	later *time.Timer              // until keep is called, or nil
}

// keepEvery is the interval at which the manifest says how far an incomplete file is.
const keepEvery = time.Second

// newPart opens the part of the file of a URL in inner, which is Folder. If begun is not nil and the
// part begins with what that line says, it continues there. Otherwise it is empty. moved is called with
// the size, several times a second.
func newPart(inner disk.Folder, url string, begun *ManifestLine, moved func(octets int64)) (*part, error) {
	p := &part{name: partName(url), sum: sha256.New(), moved: pool.NewPart(moved)}
	flags := os.O_RDWR | os.O_CREATE
	if begun == nil {
		flags |= os.O_TRUNC
	}
	var err error
	if p.file, err = inner.OpenFile(p.name, flags, 0o666); err != nil || begun == nil {
		return p, err
	}
	n, err := io.CopyN(p.sum, p.file, begun.Came)
	if p.size = n; err == io.EOF || err == nil && hex.EncodeToString(p.sum.Sum(nil)) != begun.Begins {
		err = p.restart()
	} else if err == nil {
		err = p.file.Truncate(n)
	}
	if err != nil {
		p.file.Close()
		return nil, err
	}
	return p, nil
}

// Write implements io.Writer.
func (p *part) Write(b []byte) (int, error) {
	n, err := p.file.Write(b)
	p.failed = err
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sum.Write(b[:n])
	p.size += int64(n)
	p.moved.Set(p.size)
	if p.keep != nil && p.later == nil {
		p.later = time.AfterFunc(keepEvery, p.keepNow)
	}
	return n, err
}

// keepNow writes how far the file is.
func (p *part) keepNow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.later = nil; p.keep != nil {
		p.begun.Came, p.begun.Begins, p.begun.Time = p.size, hex.EncodeToString(p.sum.Sum(nil)), now()
		_ = p.keep(p.begun) // the next line fails too, or this one is not needed
	}
}

// stop ends the calls of keep. After a failure the last one is made now.
func (p *part) stop(failed bool) {
	if failed {
		p.keepNow()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keep = nil; p.later != nil {
		p.later.Stop()
	}
}

// tail returns the last bytes of a part.
func (p *part) tail() ([]byte, error) {
	return io.ReadAll(io.NewSectionReader(p.file, max(0, p.size-resume.Overlap), resume.Overlap))
}

// restart discards the content of a part.
func (p *part) restart() error {
	p.sum.Reset()
	p.size = 0
	if err := p.file.Truncate(0); err != nil {
		return err
	}
	_, err := p.file.Seek(0, io.SeekStart)
	return err
}

// finishDigest sets the digest of p, which gets no more bytes. It returns err.
func (p *part) finishDigest(err error) (*part, error) {
	p.moved.End()
	p.digest = hex.EncodeToString(p.sum.Sum(nil))
	return p, err
}

// reopen opens the part of a menu, which the lister has written, and checks whether it still is
// that.
func (p *part) reopen(inner disk.Folder) (err error) {
	if p.file, err = inner.OpenFile(p.name, os.O_RDWR, 0); err != nil {
		return err
	}
	if sum, err := local.Sum(p.file, -1); err != nil || sum != p.digest {
		p.close()
		return cmp.Or(err, fmt.Errorf("%s: another program has changed it", p.name))
	}
	return nil
}

// close closes the file, if it is open.
func (p *part) close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	return p.file.Close()
}
