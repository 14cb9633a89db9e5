package remotefs

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// A packed is a listing in little memory, because a directory may have a million entries.
type packed struct {
	at     place // of the directory, with the provenance of its entries
	blocks [][]byte
	refs   []uint32 // where the entries begin: the number of the block, and the place in it
	words  []string // that many entries have
	odd    []locator.Locator
	size   int // in bytes; refs allow for 4 GiB
}

const (
	packedBlock = 1 << 16 // the size of most blocks; a long entry makes its block longer
	packedWords = 64
)

// An entry begins with its name and a byte: how its Locator is written, the flags, and the Kind.
const (
	packedChild   byte     = iota // the Locator follows from the name
	packedURL                     // its URL follows
	packedBefore                  // what its URL has before the name follows
	packedOdd                     // its number among the odd ones follows
	packedHow     = 3             // one of these
	packedDir     = 1 << 2        // the walk continues there
	packedGuessed = 1 << 3        // the media type
	packedKind    = 4             // bits
)

// add adds an entry.
func (l *packed) add(e *entry) {
	l.at.from = e.at.from
	last := len(l.blocks) - 1
	if last < 0 || len(l.blocks[last]) > packedBlock-256 {
		size := packedBlock * min(1, len(l.blocks)) // the first one grows, because most directories are small
		l.blocks, last = append(l.blocks, make([]byte, 0, size)), last+1
	}
	b := l.blocks[last]
	begin := len(b)
	l.refs = append(l.refs, uint32(last*packedBlock+begin))

	flags := byte(e.item.Kind) << packedKind
	if e.IsDir() {
		flags |= packedDir
	}
	if e.item.Guessed {
		flags |= packedGuessed
	}
	b = appendText(b, e.name)
	b = l.appendLocator(b, flags, e)
	b = binary.AppendVarint(b, e.item.Size)
	b = appendTime(b, e.item.ModTime)
	b = l.appendWord(b, e.item.MediaType)
	b = l.appendWord(b, e.item.Charset)
	b = binary.AppendUvarint(b, uint64(len(e.item.Header)))
	for _, field := range e.item.Header {
		b = appendText(l.appendWord(b, field.Name), field.Value)
	}
	l.blocks[last] = b
	l.size += len(b) - begin + 4 // of refs
}

// appendText appends the length of s and s.
func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendWord appends the number of a word, from 1 on, or else 0 and the word.
func (l *packed) appendWord(b []byte, word string) []byte {
	i := slices.Index(l.words, word)
	if i < 0 && len(l.words) == packedWords {
		return appendText(append(b, 0), word)
	}
	if i < 0 {
		i = len(l.words)
		l.words = append(l.words, word)
		l.size += len(word)
	}
	return binary.AppendUvarint(b, uint64(i+1))
}

// appendTime appends 1 and a whole second in UTC, or the length of any other time and its bytes, or 0.
func appendTime(b []byte, t time.Time) []byte {
	switch {
	case t.IsZero():
		return append(b, 0)
	case t.Location() == time.UTC && t.Nanosecond() == 0:
		return binary.AppendVarint(append(b, 1), t.Unix())
	}
	octets, _ := t.MarshalBinary() // no error: no zone is that far from UTC
	return appendText(b, string(octets))
}

// appendLocator appends the flags of an entry and its Locator.
func (l *packed) appendLocator(b []byte, flags byte, e *entry) []byte {
	if locator.Equal(l.child(e.name, e.IsDir()), e.at.loc) {
		return append(b, flags) // packedChild is 0
	}
	url := e.at.loc.String()
	if again, err := tolerant.Parse(url); err != nil || !locator.Equal(again.Locator, e.at.loc) {
		l.odd = append(l.odd, e.at.loc)
		l.size += len(url) + heldPerEntry
		return binary.AppendUvarint(append(b, flags|packedOdd), uint64(len(l.odd)-1))
	}
	if before, ok := strings.CutSuffix(url, e.name); ok {
		return l.appendWord(append(b, flags|packedBefore), before)
	}
	return appendText(append(b, flags|packedURL), url)
}

// tolerant reads every URL that a Locator writes.
var tolerant = locator.Parser{Tolerate: locator.TolerateUsual}

// child returns the Locator that most entries of a name have.
func (l *packed) child(name string, isDir bool) locator.Locator {
	child := below(l.at.loc, name)
	if isDir {
		child = below(child, "")
	}
	return child
}

// item returns an entry. The Name of the Item is that in the directory. isDir reports whether the
// walk continues there.
func (l *packed) item(ref uint32) (item fetch.Item, isDir bool) {
	r := l.reader(ref)
	item.Name = string(r.text())
	flags := r.octets(1)[0]
	item.Kind = fetch.Kind(flags >> packedKind)
	isDir = flags&packedDir != 0
	item.Guessed = flags&packedGuessed != 0
	var url string
	switch flags & packedHow {
	case packedChild:
		item.Locator = l.child(item.Name, isDir)
	case packedURL:
		url = string(r.text())
	case packedBefore:
		url = r.word() + item.Name
	case packedOdd:
		item.Locator = l.odd[r.number()]
	}
	if item.Locator == nil {
		again, _ := tolerant.Parse(url) // no error: see appendLocator
		item.Locator = again.Locator
	}
	item.Size = r.signed()
	item.ModTime = r.time()
	item.MediaType = r.word()
	item.Charset = r.word()
	if n := r.number(); n > 0 {
		item.Header = make([]fetch.Field, n)
	}
	for i := range item.Header {
		item.Header[i].Name = r.word()
		item.Header[i].Value = string(r.text())
	}
	return item, isDir
}

// sort sorts the entries by name, and takes out all but the first of a name.
func (l *packed) sort() {
	compare := func(a, b uint32) int {
		first, second := l.reader(a), l.reader(b)
		return slices.Compare(first.text(), second.text())
	}
	slices.SortFunc(l.refs, func(a, b uint32) int { return cmp.Or(compare(a, b), cmp.Compare(a, b)) })
	l.refs = slices.CompactFunc(l.refs, func(a, b uint32) bool { return compare(a, b) == 0 })
}

// A packedReader reads the parts of an entry.
type packedReader struct {
	l *packed
	b []byte
}

// reader returns a reader at an entry.
func (l *packed) reader(ref uint32) packedReader {
	return packedReader{l, l.blocks[ref/packedBlock][ref%packedBlock:]}
}

// octets reads n bytes.
func (r *packedReader) octets(n uint64) []byte {
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *packedReader) number() uint64 {
	n, size := binary.Uvarint(r.b)
	r.b = r.b[size:]
	return n
}

func (r *packedReader) signed() int64 {
	n, size := binary.Varint(r.b)
	r.b = r.b[size:]
	return n
}

func (r *packedReader) text() []byte { return r.octets(r.number()) }

// word reads what appendWord has written.
func (r *packedReader) word() string {
	if i := r.number(); i > 0 {
		return r.l.words[i-1]
	}
	return string(r.text())
}

// time reads what appendTime has written.
func (r *packedReader) time() (t time.Time) {
	switch n := r.number(); n {
	case 0:
	case 1:
		t = time.Unix(r.signed(), 0).UTC()
	default:
		_ = t.UnmarshalBinary(r.octets(n)) // no error: MarshalBinary wrote it
	}
	return t
}
