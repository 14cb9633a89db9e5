package deploy

import (
	"path"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/deploy/internal/state"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
)

// written is the state, with what the run adds to it.
type written struct {
	*state.State
	journal *journal
	changed atomic.Bool
}

// record adds a line to the state. An error of that ends the run: a later one would not know what this
// one has sent.
func (s *written) record(rec state.Line) {
	s.changed.Store(true)
	if err := s.Add(rec); err != nil {
		s.journal.failAs(Event{File: s.journal.at(Failed, rec.File, rec.Dir).File, URL: rec.URL, Size: -1}, pool.Over(err))
	}
}

// drop records that the server has a file or directory no more.
func (s *written) drop(rec state.Line) {
	rec.Gone = true
	s.record(rec)
}

// begin returns the line of a file that is not complete.
func (s *written) begin(f *file) state.Line {
	return state.Line{URL: s.journal.of(Started, f).URL, File: f.path, Size: f.size}
}

// racy is how long after its modification a file may be modified again without another time.
const racy = 2 * time.Second

// remember records what is known about a complete file, if that is new. stored is the time that the
// server lists.
func (s *written) remember(f *file, stored time.Time) {
	rec := s.begin(f)
	rec.Modified, rec.Stored, rec.SHA256 = f.modified, stored, f.sum
	old, ok := s.Known(f.path)
	rec.Found = old.Found || !ok && !s.Unfinished(f.path)
	stale := old.Time.Sub(f.modified) <= racy && time.Since(f.modified) > racy // its next line will be believed without reading the file
	if ok && !stale && old.SHA256 == rec.SHA256 && old.Modified.Equal(rec.Modified) && old.Stored.Equal(rec.Stored) {
		return
	}
	s.record(rec)
}

// places returns the paths of all directories of the tree and of the state.
func (s *written) places(t *tree, of selection) map[string]bool {
	all := make(map[string]bool)
	for dir := range t.dirs {
		all[dir] = true
	}
	for _, rec := range s.All() {
		dir := rec.File
		if !rec.Dir {
			dir = path.Dir(dir)
		}
		for ; dir != "." && !all[dir] && !of.isExcluded(dir, true); dir = path.Dir(dir) {
			all[dir] = true
		}
	}
	return all
}
