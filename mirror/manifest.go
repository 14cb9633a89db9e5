package mirror

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
	"github.com/fetch1738/fetch1738/internal/urls/idn"
	"github.com/fetch1738/fetch1738/mirror/internal/naming"
)

const (
	// Folder is the directory in Mirror.Dir that holds the manifest and incomplete files. No copied
	// file or directory has a name that begins like this, ignoring case.
	Folder = ".fetch1738"
	// ManifestFile is the slash-separated path of the manifest below Mirror.Dir.
	ManifestFile = Folder + "/manifest.jsonl"
)

// A Record is a line of the manifest. If several lines have the same URL, the last one is valid.
type Record struct {
	// URL is the URL of the resource, without a password.
	URL string `json:"url"`
	// File is the slash-separated path of the local file below Mirror.Dir.
	File string `json:"file,omitempty"`
	// Size is the size of the file in bytes. While the file is incomplete, it is the size that the
	// server announced, or -1 if unknown.
	Size int64 `json:"size"`
	// Modified is the modification time in the listing, or zero if the listing has none.
	Modified time.Time `json:"modified,omitzero"`
	// Exact is the modification time that the server returned for the file itself. An incomplete
	// file is resumed only if this time has not changed. A complete one has it if listings may be in
	// the time zone of the server: it is not fetched again as long as this time has not changed.
	Exact time.Time `json:"exact,omitzero"`
	// Came is how many bytes of an incomplete file were in its part when the line was written, and
	// Begins their checksum. The next run resumes the file there if the part still begins with
	// them: after a loss of power it may have other bytes.
	Came   int64  `json:"came,omitzero"`
	Begins string `json:"begins,omitempty"`
	// MBox is the size of the mbox before an article, while it is being added.
	MBox *int64 `json:"mbox,omitempty"`
	// ID is the message-id of an article.
	ID string `json:"id,omitempty"`
	// SHA256 is the checksum of the file in hexadecimal. It is empty while the file is incomplete.
	SHA256 string `json:"sha256,omitempty"`
	// Marked reports whether the gopher server sent an end mark.
	Marked bool `json:"marked,omitempty"`
	// Unsure reports that the server sent no end mark and the document was fetched only once. It
	// may be truncated; the next run fetches it again.
	Unsure bool `json:"unsure,omitempty"`
	// Time is the time when the line was written.
	Time time.Time `json:"time"`
	// Start marks the line whose URL is that of Mirror.Start. Names says there which names of the
	// server the copy keeps: "safe", "usual" or "all"; it is empty in copies of earlier versions.
	Start bool   `json:"start,omitempty"`
	Names string `json:"names,omitempty"`
	// Parent and Aliases say there what earlier runs have copied: with Mirror.Parent, and with which
	// of Mirror.Aliases.
	Parent  bool     `json:"parent,omitempty"`
	Aliases []string `json:"aliases,omitempty"`
	// Server is Mirror.NewsServer there.
	Server string `json:"server,omitempty"`
	// Gone reports that the file is no longer in the tree and was kept. For an upload it ends the
	// record of the file.
	Gone bool `json:"gone,omitempty"`
	// Stored is the time that the server listed after an upload, for which Modified is that of the
	// local file. Part is the temporary name there of a file that is not complete, which has a SHA256
	// of what it is to be. Dir reports that
	// File is a directory: one that an upload has created, or in a copy, one that has another name on
	// the server.
	Stored time.Time `json:"stored,omitzero"`
	Part   string    `json:"part,omitempty"`
	Dir    bool      `json:"dir,omitempty"`
	// Found reports that no upload has sent the file: it was on the server, with the same content. It
	// is never deleted there.
	Found bool `json:"found,omitempty"`
	// Folder is the absolute path of Mirror.Dir, in the first line of a state in [Upload.StateDir].
	Folder string `json:"folder,omitempty"`
	// Octets is File in the text of a line, if that is not UTF-8: a JSON text cannot hold it.
	Octets []byte `json:"octets,omitempty"`
	// Error is the reason why the file or listing could not be fetched.
	Error string `json:"error,omitempty"`
}

// maxRecord is the maximum length in bytes of a line of the manifest. URLs are much shorter.
const maxRecord = 1 << 20

// Records yields the records of the manifest in r. Malformed lines, such as an incomplete line left
// by a crash, are skipped. A read error comes last.
func Records(r io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for l, err := range located(r) {
			if !yield(l.Record, err) {
				return
			}
		}
	}
}

// A line is a Record and its offset in the manifest.
type line struct {
	Record
	at int64
}

// located is like Records, but yields the offsets too.
func located(r io.Reader) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		var at, next int64
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxRecord)
		lines.Split(func(data []byte, atEOF bool) (int, []byte, error) {
			n, token, err := bufio.ScanLines(data, atEOF)
			next += int64(n)
			return n, token, err
		})
		for ; lines.Scan(); at = next {
			rec, ok := decode(lines.Bytes())
			if ok && !yield(line{rec, at}, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(line{}, fmt.Errorf("read the manifest: %w", err))
		}
	}
}

// decode decodes a line. It reports false if the line is malformed.
func decode(text []byte) (rec Record, ok bool) {
	if rec, ok = decodePlain(text); !ok {
		rec = Record{}
		ok = json.Unmarshal(text, &rec) == nil
		rec.URL = idn.URL(rec.URL) // as in the URLs of items
		if rec.Octets != nil {
			rec.File, rec.Octets = string(rec.Octets), nil
		}
	}
	return rec, ok && rec.URL != "" && isOurs(rec.File)
}

// decodePlain decodes a line that consists of the common members only, as encode writes them, and
// has no escapes. It reports false for all other lines. It exists because a run may read a million
// lines twice, for which package json takes several times as long.
func decodePlain(text []byte) (rec Record, ok bool) {
	text, ok = bytes.CutPrefix(text, []byte("{"))
	for last := false; ok && !last; {
		name, rest, _ := bytes.Cut(text, []byte(":"))
		value, _, more := bytes.Cut(rest, []byte(`,"`))
		if last = !more; last {
			if value, ok = bytes.CutSuffix(rest, []byte("}")); !ok {
				return rec, false
			}
		}
		text = rest[min(len(value)+len(","), len(rest)):]
		if string(name) == `"size"` {
			rec.Size, _ = strconv.ParseInt(string(value), 10, 64)
			ok = strconv.FormatInt(rec.Size, 10) == string(value)
			continue
		}
		if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
			return rec, false
		}
		switch value = value[1 : len(value)-1]; string(name) {
		case `"url"`:
			rec.URL, ok = plain(value)
		case `"file"`:
			rec.File, ok = plain(value)
		case `"id"`:
			rec.ID, ok = plain(value)
		case `"sha256"`:
			rec.SHA256, ok = plain(value)
		case `"modified"`:
			ok = rec.Modified.UnmarshalText(value) == nil
		case `"exact"`:
			ok = rec.Exact.UnmarshalText(value) == nil
		case `"time"`:
			ok = rec.Time.UnmarshalText(value) == nil
		default:
			ok = false
		}
	}
	return rec, ok
}

// plain returns the text of a JSON string. It reports false if the string has escapes or is not
// printable ASCII.
func plain(text []byte) (string, bool) {
	for _, c := range text {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return "", false
		}
	}
	return string(text), true
}

// encode returns the line of a Record.
func encode(r Record) ([]byte, error) {
	if !utf8.ValidString(r.File) {
		r.Octets = []byte(r.File)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(r)
	return b.Bytes(), err
}

// isOurs reports whether file is a path that a mirror can have written.
func isOurs(file string) bool {
	return file == "" || fs.ValidPath(strings.ToValidUTF8(file, "_")) && file != "." && (file[0] != Folder[0] || naming.Fold(naming.First(file)) != naming.Fold(Folder))
}

// known holds the records of one URL.
type known struct {
	done  Record // of the complete file; SHA256 is empty if there is no such record
	begun Record // of the incomplete file; URL is empty if there is no such record
}

// A manifest is the manifest of a run. Only the offsets of its lines are in memory, because a tree
// may have a million files.
type manifest struct {
	mu     sync.Mutex
	file   disk.File // nil in a dry run without a manifest
	locked *disk.Locked
	frozen bool   // nothing is written
	end    int64  // of the file
	torn   bool   // the last line is not complete
	text   []byte // buffer of recordAt
	start  Record // the line with Start set; URL is empty in a new manifest
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

// line returns the offset of the line, or -1 if there is no such line.
func (s spot) line() int64 { return int64(s>>1) - 1 }

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

// readManifest reads the manifest for a dry run. It need not exist.
func readManifest(root disk.Folder) (*manifest, error) {
	m := &manifest{frozen: true}
	if root != nil {
		file, err := root.OpenFile(ManifestFile, os.O_RDONLY, 0)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		m.file = file
	}
	err := m.read()
	if err != nil {
		m.close()
	}
	return m, err
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
	for l, err := range located(io.NewSectionReader(m.file, 0, m.end)) {
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
func (m *manifest) index(l line) {
	url := idOf(l.URL)
	switch {
	case l.Start:
		m.start = l.Record
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
func (m *manifest) add(r Record) error {
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
		m.index(line{r, at})
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

// lookup returns the records of a URL.
func (m *manifest) lookup(url string) (k known) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := m.urls[idOf(url)].line(); at >= 0 {
		k.done = m.recordAt(at)
	}
	if at, ok := m.begun[idOf(url)]; ok {
		k.begun = m.recordAt(at)
	}
	return k
}

// unfinished yields the records of the files that are not complete.
func (m *manifest) unfinished() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for _, at := range m.begun {
			if !yield(m.recordAt(at)) {
				return
			}
		}
	}
}

// isDone reports whether there is a complete file for a URL.
func (m *manifest) isDone(url string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.urls[idOf(url)].line() >= 0
}

// files returns the number of complete files.
func (m *manifest) files() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.urls {
		if s.line() >= 0 {
			n++
		}
	}
	return n
}

// unseen yields the files whose URLs the tree does not have, in the order of their lines. The
// manifest may be modified during the iteration.
func (m *manifest) unseen() iter.Seq[Record] {
	m.mu.Lock()
	var lines []int64
	for _, s := range m.urls {
		if s&seen == 0 && s.line() >= 0 {
			lines = append(lines, s.line())
		}
	}
	m.mu.Unlock()
	slices.Sort(lines)
	return func(yield func(Record) bool) {
		for _, at := range lines {
			m.mu.Lock()
			rec := m.recordAt(at)
			m.mu.Unlock()
			if rec.URL != "" && !yield(rec) {
				return
			}
		}
	}
}

// recordAt reads the line at an offset. It returns the zero Record if another program has modified
// the file.
func (m *manifest) recordAt(at int64) Record {
	for size := 1 << 10; size <= maxRecord; size *= 4 {
		m.text = slices.Grow(m.text[:0], size)[:size]
		n, err := m.file.ReadAt(m.text, at)
		text, _, whole := bytes.Cut(m.text[:n], []byte("\n"))
		if whole || err == io.EOF {
			rec, _ := decode(text)
			return rec
		}
		if err != nil {
			break
		}
	}
	return Record{}
}

// rewrite replaces the manifest by one that has only the valid lines. The new one is not locked, so
// the next run may begin.
func (m *manifest) rewrite(inner disk.Folder) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	lines := slices.AppendSeq(slices.Collect(maps.Values(m.begun)), maps.Values(m.failed))
	for _, of := range []map[id]spot{m.urls, m.dirs} {
		for _, s := range of {
			if s.line() >= 0 {
				lines = append(lines, s.line())
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
