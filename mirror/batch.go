package mirror

import (
	"encoding/binary"
	"iter"
	"slices"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// An entry is a file of the tree.
type entry struct {
	loc      locator.Locator
	from     fetch.Provenance
	url      string
	path     []string // on the server
	file     string   // local path
	size     int64    // -1 if unknown
	modified time.Time
	local    bool // modified may be in the server's time zone
	id       string
	sum      string // SHA256 of a menu, which was received with the listing
	kept     bool   // the menu is in the part of its file
	end      ending // of the menu
}

// A batch holds the entries of one folder. A tree may have a million entries, so an entry is packed
// into about 20 bytes: what the listing says about it, and a key from which the tree computes its
// Locator and path.
type batch struct {
	in     folder
	from   fetch.Provenance // of the entries
	blocks [][]byte
	files  int
	local  bool       // times may be those of the server's time zone, as LIST has them
	odd    []oddEntry // entries that cannot be computed from a key

	menu     *entry // the folder itself, if it is a menu
	menuMark mark
}

// An oddEntry is stored unpacked.
type oddEntry struct {
	loc  locator.Locator
	path []string
}

// A mark is a set of flags of a packed entry. It is the first byte of the entry.
type mark byte

const (
	isFolder  mark = 1 << iota
	isOdd          // the key is an index of batch.odd
	hasID          // an id follows
	isWanted       // a file that belongs in the copy
	isToFetch      // a wanted file that must be fetched
	isOpen         // a folder to list
	isListed       // a folder that has been listed
)

// blockSize is the size in bytes of a block of entries.
const blockSize = 64 << 10

// add packs an entry of a listing. m has isFolder set for a folder.
func (b *batch) add(t tree, m mark, at place, l locator.Locator, size int64, modified time.Time) {
	key := t.key(l, at)
	if again, path := t.find(b.in, key, at.dir, at.id); again == nil || !locator.Equal(again, l) || !slices.Equal(path, at.path) {
		key = string(binary.AppendUvarint(nil, uint64(len(b.odd))))
		b.odd = append(b.odd, oddEntry{l, at.path})
		m |= isOdd
	}
	if at.id != "" {
		m |= hasID
	}
	if m&isFolder == 0 {
		b.files++
	}
	b.pack(packed{&m, key, at.id, size, seconds(modified)})
}

// A packed is an entry in its packed form.
type packed struct {
	*mark    // in its block
	key, id  string
	size     int64
	modified int64 // in seconds; 0 means unknown, as all times are after 1980
}

// pack appends an entry, to a new block if it does not fit into the last one.
func (b *batch) pack(e packed) {
	last := len(b.blocks) - 1
	if last < 0 || len(b.blocks[last])+len(e.key)+len(e.id)+4*binary.MaxVarintLen64 > blockSize {
		b.blocks, last = append(b.blocks, nil), last+1
	}
	p := append(b.blocks[last], byte(*e.mark))
	p = appendText(p, e.key)
	if *e.mark&hasID != 0 {
		p = appendText(p, e.id)
	}
	p = binary.AppendVarint(p, e.size)
	b.blocks[last] = binary.AppendVarint(p, e.modified)
}

// appendText appends the length of s and s.
func appendText(p []byte, s string) []byte {
	return append(binary.AppendUvarint(p, uint64(len(s))), s...)
}

// packed yields the entries in the order of the listing.
func (b *batch) packed() iter.Seq[packed] {
	return func(yield func(packed) bool) {
		for _, p := range b.blocks {
			text := func() string {
				n, k := binary.Uvarint(p)
				s := string(p[k : k+int(n)])
				p = p[k+int(n):]
				return s
			}
			number := func() int64 {
				n, k := binary.Varint(p)
				p = p[k:]
				return n
			}
			for len(p) > 0 {
				e := packed{mark: (*mark)(&p[0])}
				p = p[1:]
				e.key = text()
				if *e.mark&hasID != 0 {
					e.id = text()
				}
				e.size, e.modified = number(), number()
				if !yield(e) {
					return
				}
			}
		}
	}
}

// locate returns the locator and path of an entry.
func (b *batch) locate(t tree, e packed) (locator.Locator, []string) {
	if *e.mark&isOdd != 0 {
		i, _ := binary.Uvarint([]byte(e.key))
		return b.odd[i].loc, b.odd[i].path
	}
	return t.find(b.in, e.key, *e.mark&isFolder != 0, e.id)
}

// entries yields the files, the folder's own menu last.
func (b *batch) entries(t tree) iter.Seq2[*mark, *entry] {
	return func(yield func(*mark, *entry) bool) {
		for p := range b.packed() {
			if *p.mark&isFolder != 0 {
				continue
			}
			loc, path := b.locate(t, p)
			if !yield(p.mark, &entry{
				loc: loc, from: b.from, url: loc.Redacted(), path: path, size: p.size, modified: when(p.modified), id: p.id, local: b.local,
			}) {
				return
			}
		}
		if b.menu != nil {
			menu := *b.menu
			yield(&b.menuMark, &menu)
		}
	}
}

// folders yields the folders.
func (b *batch) folders(t tree) iter.Seq2[*mark, folder] {
	return func(yield func(*mark, folder) bool) {
		for p := range b.packed() {
			if *p.mark&isFolder == 0 {
				continue
			}
			loc, path := b.locate(t, p)
			chain := b.in.chain
			if p.id != "" {
				chain = join(chain, p.id)
			}
			if !yield(p.mark, folder{loc, b.from, path, chain, b.in.listed}) {
				return
			}
		}
	}
}

// date sets the times of the files.
func (b *batch) date(t tree, of func(url string) time.Time) {
	dated := &batch{}
	for p := range b.packed() {
		if *p.mark&isFolder == 0 {
			loc, _ := b.locate(t, p)
			p.modified = seconds(of(loc.Redacted()))
		}
		dated.pack(p)
	}
	b.blocks = dated.blocks
}

// seconds and when convert between times of listings and numbers of seconds.
func seconds(t time.Time) int64 {
	if t = storable(t); t.IsZero() {
		return 0
	}
	return t.Unix()
}

func when(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// storable returns t to the second, or the zero time if file systems may not be able to store it.
func storable(t time.Time) time.Time {
	if year := t.UTC().Year(); year < 1980 || year > 2100 {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Second)
}
