package simulation

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing/fstest"
	"time"
)

// A version is the content of a document from a moment on.
type version struct {
	data []byte
	mod  time.Time
	from time.Time
	gone bool
}

// A document has all versions that it ever had, and a site has all documents. No two versions have
// the same byte at the same place, unless one is the beginning of the other, or both have zeros
// there. So a file that is a mixture of two is always seen.
type document struct {
	name     string
	zero     bool
	text     bool
	serial   int
	mu       sync.Mutex
	versions []version // use all
}

// all returns the versions so far. An event may add one while others are compared.
func (d *document) all() []version {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.versions[:len(d.versions):len(d.versions)]
}

func (d *document) last() version { all := d.all(); return all[len(all)-1] }

// make returns the first size bytes of the n-th content.
func (d *document) make(n, size int) []byte {
	if d.text {
		return textOf(d.serial, n, size)
	}
	data := make([]byte, size)
	end := size
	if d.zero {
		end = size / 2
	}
	for i := range end {
		data[i] = byte(i*131 + i>>8*17 + d.serial*53 + n*37)
	}
	return data
}

// textOf returns an article whose lines say whose they are. Some begin with a dot.
func textOf(serial, n, size int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "From: lab@lab.test\r\nSubject: document %d\r\nMessage-ID: <%d.%d@lab.test>\r\n\r\n.%d\r\n", serial, serial, n, n)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%d line %d of document %d\r\n", n, i, serial)
	}
	return b.Bytes()
}

// patched returns a version with other bytes at the beginning and at the end of the last one. Its
// middle is the same, so if size or time stay too, what is requested again from there shows
// nothing.
func (d *document) patched(size int, mod time.Time) version {
	old := d.last()
	fresh, ends := d.make(len(d.all()), size), len(old.data)/4
	return version{data: slices.Concat(fresh[:ends], old.data[ends:len(old.data)-ends], fresh[len(old.data)-ends:]), mod: mod}
}

// set adds a version.
func (d *document) set(v version) {
	v.from = time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.versions = append(d.versions, v)
}

// during returns the versions that the document had between two moments.
func (d *document) during(from, to time.Time) (list []version) {
	all := d.all()
	for i, v := range all {
		ended := i+1 < len(all) && all[i+1].from.Before(from)
		if !ended && !v.from.After(to) {
			list = append(list, v)
		}
	}
	return list
}

// has reports whether data is a version that the document had between two moments.
func (d *document) has(data []byte, from, to time.Time) bool {
	return slices.ContainsFunc(d.during(from, to), func(v version) bool { return !v.gone && bytes.Equal(v.data, data) })
}

// differs says where data and each version differ.
func (d *document) differs(data []byte) string {
	var b strings.Builder
	for i, v := range d.all() {
		at := 0
		for at < min(len(data), len(v.data)) && data[at] == v.data[at] {
			at++
		}
		fmt.Fprintf(&b, "version %d (%d bytes) from %d on; ", i, len(v.data), at)
	}
	return b.String()
}

// cameBack reports whether the document became another one and then an earlier one again, the last
// change after a moment. By FTP nobody can see that: a transfer has no word about its version.
func (d *document) cameBack(after time.Time) bool {
	for k, v := range d.all() {
		differs := false // a version before it
		for _, u := range slices.Backward(d.all()[:k]) {
			if same := bytes.Equal(u.data, v.data); same && differs && !v.gone && v.from.After(after) {
				return true
			} else if !same && !u.gone {
				differs = true
			}
		}
	}
	return false
}

// begins reports whether data is the beginning of any version.
func (d *document) begins(data []byte) bool {
	return slices.ContainsFunc(d.all(), func(v version) bool { return !v.gone && bytes.HasPrefix(v.data, data) })
}

// live is the file system that a server serves: what the documents are now.
type live struct{ now atomic.Pointer[fstest.MapFS] }

func (l *live) Open(name string) (fs.File, error) { return l.now.Load().Open(name) }

// show shows the last versions of some documents, and the directories of all.
func (l *live) show(all, docs []*document) {
	now := fstest.MapFS{}
	for _, d := range all {
		for dir := path.Dir(d.name); dir != "."; dir = path.Dir(dir) {
			now[dir] = &fstest.MapFile{Mode: fs.ModeDir | 0o755} // it stays when its files vanish
		}
		if v := d.last(); !v.gone && slices.Contains(docs, d) {
			now[d.name] = &fstest.MapFile{Data: v.data, ModTime: v.mod, Mode: 0o644}
		}
	}
	l.now.Store(&now)
}
