package crawl

import (
	"sync"

	"github.com/fetch1738/fetch1738/archive/warc"
)

// Records are files of records. A *[warc.Writer] for a folder is one.
type Records interface {
	// Sync writes what was recorded so far to the disk, and returns where that ends.
	Sync() (warc.Mark, error)
	// Rewind removes what another process, which has ended, has recorded after a Mark.
	Rewind(warc.Mark) error
}

// A recording keeps the mark from being set between the records of a job and its entry in the frontier.
type recording struct {
	writing *sync.RWMutex // of the run

	mu    sync.Mutex
	holds bool // writing, for reading
}

// begin is called before records are written, and end after the job is done.
func (r *recording) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.holds {
		r.holds = true
		r.writing.RLock()
	}
}

func (r *recording) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holds {
		r.holds = false
		r.writing.RUnlock()
	}
}
