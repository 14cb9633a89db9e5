package wildcard

import (
	"iter"
	"strings"
)

// A Match is a name that fits a Pattern.
type Match struct {
	Name   string   // of the server's making
	Values []string // what "*", "?" and "[...]" are in it
}

// Matches are the names that fit a Pattern. There may be a million, so they are kept
// in few chunks, and what else there is to a Match is made when it is its turn.
type Matches struct {
	Pattern *Pattern
	Count   int
	chunks  []*strings.Builder
}

// A chunk has so many octets. A "/" ends each name, as no name has one.
const chunkSize = 64 << 10

// Add adds a name that fits.
func (m *Matches) Add(name string) {
	last := len(m.chunks) - 1
	if last < 0 || m.chunks[last].Cap()-m.chunks[last].Len() <= len(name) {
		chunk := new(strings.Builder)
		chunk.Grow(max(chunkSize, len(name)+1))
		m.chunks = append(m.chunks, chunk)
		last++
	}
	m.Count++
	m.chunks[last].WriteString(name)
	m.chunks[last].WriteByte('/')
}

// All are the Matches, in the order of Add.
func (m *Matches) All() iter.Seq[Match] {
	return func(yield func(Match) bool) {
		for _, chunk := range m.chunks {
			for name := range strings.SplitSeq(strings.TrimSuffix(chunk.String(), "/"), "/") {
				values, _ := m.Pattern.Match(name)
				if !yield(Match{name, values}) {
					return
				}
			}
		}
	}
}
