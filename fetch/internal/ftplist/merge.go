package ftplist

import (
	"hash/maphash"
	"strings"
	"unicode"
)

// maxMerged is the maximum number of entries of LIST to which those of NLST are added.
const maxMerged = 1 << 16

// A Merge compares a listing of which lines were not understood with one by NLST. The zero value is
// ready to use.
type Merge struct {
	seed   maphash.Seed
	known  map[uint64]struct{} // hashes of the names that were understood
	unread int                 // lines that were not understood, but for the directory itself and the one above it
	words  []words             // of those without a digit
	begun  bool                // there was a line that is an entry, or has a digit
	full   bool                // the listing has too many entries

	Headings int // lines that Rest has taken for headings; one may be a directory that NLST leaves out
}

// words are the first and the last word of a line. One of them may be a name.
type words struct {
	first, last string
	leads       bool // the line may be a heading: it is the first of them, or a rule, and precedes those that have a digit
}

// Add notes a line of LIST.
func (m *Merge) Add(l Line) {
	switch {
	case l.Class == Entries && len(m.known) == maxMerged, len(m.words) == maxMerged:
		m.full = true
	case l.Class == Entries:
		m.begun = true
		if m.known == nil {
			m.seed, m.known = maphash.MakeSeed(), make(map[uint64]struct{})
		}
		m.known[maphash.String(m.seed, l.Entry.Name)] = struct{}{}
	case l.Class == Unread:
		digit := strings.ContainsFunc(l.Text, unicode.IsDigit)
		m.begun = m.begun || digit
		all := strings.Fields(l.Text)
		if len(all) == 0 || all[len(all)-1] == "." || all[len(all)-1] == ".." {
			return
		}
		if m.unread++; !digit {
			isRule := !strings.ContainsFunc(l.Text, unicode.IsLetter)
			m.words = append(m.words, words{strings.Clone(all[0]), strings.Clone(all[len(all)-1]), !m.begun && (len(m.words) == 0 || isRule)})
		}
	}
}

// Rest returns the names that the lines that were not understood stand for. ok is false unless NLST
// has all names that were understood, and one for each other line: some servers leave directories
// out of NLST. More names may begin with a dot. The first lines may be headings, see headings.
func (m *Merge) Rest(names []string) (rest []string, ok bool) {
	known, hidden, lines := 0, 0, m.unread
	for _, name := range names {
		if m.knows(name) {
			known++
			continue
		}
		if rest = append(rest, name); strings.HasPrefix(name, ".") {
			hidden++
		}
	}
	if len(rest) < lines {
		m.Headings = m.headings(rest)
		lines -= m.Headings
	}
	return rest, !m.full && known == len(m.known) && len(rest)-hidden <= lines && lines <= len(rest)
}

// headings returns how many of the first lines are headings: they have neither a digit nor a name. It
// returns 0 if that is so of a line further down, because that may be an entry that NLST leaves out, or
// if no line has a digit, unless there is one line.
func (m *Merge) headings(names []string) (n int) {
	if !m.begun && len(m.words) > 1 {
		return 0
	}
	are := make(map[string]bool, len(names))
	for _, name := range names {
		are[name] = true
	}
	for _, w := range m.words {
		switch {
		case are[w.first], are[w.last]:
		case !w.leads:
			return 0
		default:
			n++
		}
	}
	return n
}

// knows reports whether a line with that name was understood.
func (m *Merge) knows(name string) bool {
	if m.known == nil {
		return false
	}
	_, is := m.known[maphash.String(m.seed, name)]
	return is
}
