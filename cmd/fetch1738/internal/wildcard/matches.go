package wildcard

import (
	"iter"
	"strings"
)

// A Match is a name that matches a Pattern.
type Match struct {
	Name   string   // from the server
	Values []string // what "*", "?" and "[...]" match
}

// Matches are the names that match a Pattern. There may be a million, so they are stored
// in a few chunks, and the Values are computed on demand.
type Matches struct {
	Pattern *Pattern
	Count   int
	chunks  []*strings.Builder
}

// chunkSize is in bytes. A "/" ends each name, as no name contains one.
const chunkSize = 64 << 10

// Add adds a matching name.
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

// All returns the Matches, in the order of Add.
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
