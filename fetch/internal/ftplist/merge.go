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
	seed    maphash.Seed
	known   map[uint64]struct{} // hashes of the names that were understood
	lines   int                 // of the listing
	unread  int                 // those that were not understood, but for the directory itself and the one above it
	numbers int                 // how many of them have a digit
	heading bool                // the first line was not understood and has no digit
	full    bool                // the listing has too many entries
}

// Add notes a line of LIST.
func (m *Merge) Add(l Line) {
	m.lines++
	switch {
	case l.Class == Entries && len(m.known) == maxMerged:
		m.full = true
	case l.Class == Entries:
		if m.known == nil {
			m.seed, m.known = maphash.MakeSeed(), make(map[uint64]struct{})
		}
		m.known[maphash.String(m.seed, l.Entry.Name)] = struct{}{}
	case l.Class == Unread:
		digit := strings.ContainsFunc(l.Text, unicode.IsDigit)
		m.heading = m.heading || m.lines == 1 && !digit
		if last := l.Text[strings.LastIndexAny(l.Text, " \t")+1:]; last == "." || last == ".." {
			return
		}
		if m.unread++; digit {
			m.numbers++
		}
	}
}

// Rest returns the names that the lines that were not understood stand for. ok is false unless NLST
// has all names that were understood, and one for each other line: some servers leave directories
// out of NLST. More names may begin with a dot. The first line may be a heading if all others have
// digits.
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
	if m.heading && m.numbers == lines-1 && len(rest) < lines {
		lines--
	}
	return rest, !m.full && known == len(m.known) && len(rest)-hidden <= lines && lines <= len(rest)
}

// knows reports whether a line with that name was understood.
func (m *Merge) knows(name string) bool {
	if m.known == nil {
		return false
	}
	_, is := m.known[maphash.String(m.seed, name)]
	return is
}
