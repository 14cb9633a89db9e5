package pool

import (
	"net/http"
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
)

const fewFiles = 10 // the files that a server may refuse before it has stored one; then one of each other spot

// A Spot is where files go for which a server has one answer: it may take new contents for the files of a
// directory, but no new files.
type Spot struct {
	Dir   string
	IsNew bool
}

// Refusals are the files in a row that a server has not stored. There are two ways in which that ends a
// run: the server stores nothing at all, in any spot; or it has no room, not even for the smallest of the
// files that are still to be sent. A server that has no room for large files may take small ones.
type Refusals struct {
	mu        sync.Mutex
	spots     map[Spot]bool // of all files; true once it has refused one there
	waiting   map[int64]int // the number of files that have not been tried, by size
	forbidden int
	noRoom    int
	least     int64 // the smallest size of those without room
	stored    bool  // the run has stored a file
}

// Expect adds a file that is to be sent.
func (s *Refusals) Expect(at Spot, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spots == nil {
		s.spots, s.waiting = make(map[Spot]bool), make(map[int64]int)
	}
	s.spots[at] = false
	s.waiting[size]++
}

// Try records that a file of this size is tried.
func (s *Refusals) Try(size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting[size] > 1 {
		s.waiting[size]--
	} else {
		delete(s.waiting, size)
	}
}

// IsHopeless reports whether a file need not be tried. The server has refused one in the same spot, and
// stored none so far; or it has had no room for several, none of which was larger.
func (s *Refusals) IsHopeless(at Spot, size int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.stored && s.forbidden >= fewFiles && s.spots[at] || s.noRoom >= patience && size >= s.least
}

// Stored records that the server has stored a file.
func (s *Refusals) Stored() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forbidden, s.noRoom, s.stored = 0, 0, true
}

// Refused records that the server has not stored a file, and returns what that means for the run.
func (s *Refusals) Refused(e *fetch.Error, at Spot, size int64) Mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case e.Code == 452 || e.Code == 552 || e.Code == http.StatusInsufficientStorage:
		if s.noRoom++; s.noRoom == 1 || size < s.least {
			s.least = size
		}
	case e.Kind == fetch.ErrPermission || e.Kind == fetch.ErrUnsupported || e.Kind == fetch.ErrUnauthenticated:
		s.forbidden++
		if _, known := s.spots[at]; known {
			s.spots[at] = true
		}
		if s.stored {
			return Own
		}
	default:
		return Own
	}
	if s.takesNone() || s.isFull() {
		return Ends
	}
	return Doubt
}

// takesNone reports whether the server has refused files in all spots, and stored none.
func (s *Refusals) takesNone() bool {
	for _, refused := range s.spots {
		if !refused {
			return false
		}
	}
	return !s.stored && s.forbidden >= fewFiles
}

// isFull reports whether there is no room for what is still to be sent.
func (s *Refusals) isFull() bool {
	for size := range s.waiting {
		if size < s.least {
			return false
		}
	}
	return s.noRoom >= patience
}

// AreNone reports whether the server has stored the last file.
func (s *Refusals) AreNone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.noRoom+s.forbidden == 0
}

// LackRoom reports whether larger files than those without room are not tried any more.
func (s *Refusals) LackRoom() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.noRoom >= patience
}
