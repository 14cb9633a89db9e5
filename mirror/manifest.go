package mirror

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"slices"
	"sync"

	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
)

// known holds the lines of one URL.
type known struct {
	done  ManifestLine // of the complete file; SHA256 is empty if there is no such line
	begun ManifestLine // of the incomplete file; URL is empty if there is no such line
}

// A manifest is the manifest of a run. Only the offsets of its lines are in memory, because a tree
// may have a million files.
type manifest struct {
	mu     sync.Mutex
	file   disk.File // nil in a dry run without a manifest
	locked *disk.Locked
	frozen bool         // nothing is written
	end    int64        // of the file
	torn   bool         // the last line is not complete
	text   []byte       // buffer of line
	start  ManifestLine // the line with Start set; URL is empty in a new manifest
	urls   map[id]spot
	begun  map[id]int64 // offset of the line of an incomplete file
	failed map[id]int64 // offset of the line of a failure in this run
	dirs   map[id]spot  // of directories that have another name on the server
}

// A spot holds the offset of the line of a complete file, if there is one, and whether the tree has
// its URL.
type spot int64

const seen spot = 1

// spotAt returns the spot of a line at an offset, which is not marked as seen.
func spotAt(at int64) spot { return spot(at+1) << 1 }

// offset returns the offset of the line, or -1 if there is no such line.
func (s spot) offset() int64 { return int64(s>>1) - 1 }

var errLocked = errors.New("another mirror is running in this directory")

// openManifest opens, locks and reads the manifest in inner, which is Folder.
func openManifest(inner disk.Folder) (*manifest, error) {
	name := path.Base(ManifestFile)
	file, err := disk.Lock(func() (disk.File, error) { return inner.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666) },
		func() (fs.FileInfo, error) { return inner.Stat(name) })
	if errors.Is(err, disk.ErrBusy) {
		return nil, errLocked
	}
	if err != nil {
		return nil, err
	}
	m := &manifest{file: file.File, locked: file}
	if err = endLine(m.file); err == nil {
		err = m.read()
	}
	if err != nil {
		m.file.Close()
		return nil, err
	}
	return m, nil
}

// viewManifest reads the manifest for a dry run. It need not exist.
func viewManifest(root disk.Folder) (*manifest, error) {
	m := &manifest{frozen: true}
	if root != nil {
		file, err := root.OpenFile(ManifestFile, os.O_RDONLY, 0)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		m.file = file
	}
	if err := m.read(); err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

// read collects the offsets of the lines.
func (m *manifest) read() error {
	m.urls, m.begun, m.failed, m.dirs = make(map[id]spot), make(map[id]int64), make(map[id]int64), make(map[id]spot)
	if m.file == nil {
		return nil
	}
	info, err := m.file.Stat()
	if err != nil {
		return err
	}
	m.end = info.Size()
	for l, err := range linesAt(io.NewSectionReader(m.file, 0, m.end)) {
		if err != nil {
			return err
		}
		if l.Error == "" { // failures are retried
			m.index(l)
		}
	}
	return nil
}

// index records the offset of a line and drops the lines that it replaces.
func (m *manifest) index(l lineAt) {
	url := idOf(l.URL)
	switch {
	case l.Start:
		m.start = l.ManifestLine
	case l.Dir:
		m.dirs[url] = spotAt(l.at)
	case l.Error != "":
		m.failed[url] = l.at
	case l.SHA256 != "":
		m.urls[url] = spotAt(l.at) | m.urls[url]&seen
		delete(m.begun, url)
		delete(m.failed, url)
	default:
		m.begun[url] = l.at
	}
}

// endLine terminates an incomplete last line left by a crash.
func endLine(file disk.File) error {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := file.ReadAt(last, info.Size()-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = file.Write([]byte("\n"))
	return err
}

// add appends a line. An error of that ends the run: what is not recorded would be fetched again.
func (m *manifest) add(r ManifestLine) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.frozen {
		return nil
	}
	text, err := encode(r)
	if err != nil {
		return err
	}
	at := m.end
	if m.torn {
		text, at = append([]byte("\n"), text...), at+1
	}
	n, err := m.file.Write(text)
	m.end += int64(n)
	m.torn = err != nil && (m.torn || n > 0)
	if err == nil {
		m.index(lineAt{r, at})
	}
	return pool.Over(err)
}

// isEmpty reports whether the manifest has no files.
func (m *manifest) isEmpty() bool { return len(m.urls) == 0 && len(m.begun) == 0 }

// markSeen records that the tree has a URL, and reports whether it was recorded before.
func (m *manifest) markSeen(url string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.urls[idOf(url)]
	m.urls[idOf(url)] = s | seen
	return s&seen != 0
}

// knowsDir marks a directory as seen, and reports whether it has a line.
func (m *manifest) knowsDir(url string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, known := m.dirs[idOf(url)]
	if known {
		m.dirs[idOf(url)] = s | seen
	}
	return known
}

// dropUnlisted drops incomplete files and directories that are no longer in the tree.
func (m *manifest) dropUnlisted() {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.dirs, func(_ id, s spot) bool { return s&seen == 0 })
	for url := range m.begun {
		if m.urls[url]&seen == 0 {
			delete(m.begun, url)
		}
	}
}

// remove drops a URL. The file on disk changes with the next rewrite.
func (m *manifest) remove(url string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.urls, idOf(url))
	delete(m.begun, idOf(url))
	delete(m.failed, idOf(url))
}

// lookup returns the lines of a URL.
func (m *manifest) lookup(url string) (k known) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := m.urls[idOf(url)].offset(); at >= 0 {
		k.done = m.line(at)
	}
	if at, ok := m.begun[idOf(url)]; ok {
		k.begun = m.line(at)
	}
	return k
}

// unfinished yields the lines of the files that are not complete.
func (m *manifest) unfinished() iter.Seq[ManifestLine] {
	return func(yield func(ManifestLine) bool) {
		for _, at := range m.begun {
			if !yield(m.line(at)) {
				return
			}
		}
	}
}

// parts yields the names of the parts of these files.
func (m *manifest) parts() iter.Seq[string] {
	return func(yield func(string) bool) {
		for url := range m.begun {
			if !yield(url.partName()) {
				return
			}
		}
	}
}

// isDone reports whether there is a complete file for a URL.
func (m *manifest) isDone(url string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.urls[idOf(url)].offset() >= 0
}

// files returns the number of complete files.
func (m *manifest) files() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.urls {
		if s.offset() >= 0 {
			n++
		}
	}
	return n
}

// unseen yields the files whose URLs the tree does not have, in the order of their lines. The
// manifest may be modified during the iteration.
func (m *manifest) unseen() iter.Seq[ManifestLine] {
	m.mu.Lock()
	var lines []int64
	for _, s := range m.urls {
		if s&seen == 0 && s.offset() >= 0 {
			lines = append(lines, s.offset())
		}
	}
	m.mu.Unlock()
	slices.Sort(lines)
	return func(yield func(ManifestLine) bool) {
		for _, at := range lines {
			m.mu.Lock()
			line := m.line(at)
			m.mu.Unlock()
			if line.URL != "" && !yield(line) {
				return
			}
		}
	}
}

// line reads the line at an offset. It returns the zero ManifestLine if another program has modified
// the file.
func (m *manifest) line(at int64) ManifestLine {
	for size := 1 << 10; size <= maxLine; size *= 4 {
		m.text = slices.Grow(m.text[:0], size)[:size]
		n, err := m.file.ReadAt(m.text, at)
		text, _, whole := bytes.Cut(m.text[:n], []byte("\n"))
		if whole || err == io.EOF {
			line, _ := decode(text)
			return line
		}
		if err != nil {
			break
		}
	}
	return ManifestLine{}
}

// rewrite replaces the manifest by one that has only the valid lines. The new one is not locked, so
// the next run may begin.
func (m *manifest) rewrite(inner disk.Folder) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	lines := slices.AppendSeq(slices.Collect(maps.Values(m.begun)), maps.Values(m.failed))
	for _, of := range []map[id]spot{m.urls, m.dirs} {
		for _, s := range of {
			if s.offset() >= 0 {
				lines = append(lines, s.offset())
			}
		}
	}
	slices.Sort(lines)
	name := path.Base(ManifestFile)
	file, err := inner.OpenFile(name+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	start, err := encode(m.start)
	if err == nil {
		w.Write(start) // Flush returns its error
		err = copyLines(w, io.NewSectionReader(m.file, 0, m.end), lines)
	}
	info, statErr := file.Stat()
	if err = errors.Join(err, statErr, w.Flush(), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := m.locked.Yield(); err != nil {
		return err
	}
	return disk.Rename(inner, name+".new", name, info)
}

// copyLines copies the lines at the given offsets, which must be in ascending order.
func copyLines(w io.Writer, src io.Reader, lines []int64) error {
	r := bufio.NewReaderSize(src, 64<<10)
	var at int64
	for _, next := range lines {
		if _, err := r.Discard(int(next - at)); err != nil {
			return err
		}
		at = next
		for more := true; more; {
			text, err := r.ReadSlice('\n')
			if more = err == bufio.ErrBufferFull; err != nil && !more {
				return err
			}
			at += int64(len(text))
			if _, err := w.Write(text); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *manifest) close() error {
	switch {
	case m.file == nil:
		return nil
	case m.locked != nil:
		return m.locked.Close() // it may be closed
	}
	return m.file.Close()
}
