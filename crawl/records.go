package crawl

import "github.com/fetch1738/fetch1738/archive/warc"

// Records are files of records. A *[warc.Writer] for a folder is one.
type Records interface {
	// Sync writes what was recorded so far to the disk, and returns where that ends.
	Sync() (warc.Mark, error)
	// Rewind removes what another process, which has ended, has recorded after a Mark.
	Rewind(warc.Mark) error
}

// write is called before records are written, and written after the job is done.
func (j *job) write() {
	j.holding.Lock()
	defer j.holding.Unlock()
	if !j.holds {
		j.holds = true
		j.run.writing.RLock()
	}
}

func (j *job) written() {
	j.holding.Lock()
	defer j.holding.Unlock()
	if j.holds {
		j.holds = false
		j.run.writing.RUnlock()
	}
}
