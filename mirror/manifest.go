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
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/internal/filelock"
)

// Folder is where a Mirror keeps what is its own, in Mirror.Dir; no name of the
// other side's begins with a dot there. ManifestFile is the manifest in it, with
// slashes.
const (
	Folder       = ".fetch1738"
	ManifestFile = Folder + "/manifest.jsonl"
)

// A Record is a line of the manifest. Of several about one URL the last counts.
type Record struct {
	// URL is the resource, without a password.
	URL string `json:"url"`
	// File is the local file, below the directory and with slashes.
	File string `json:"file,omitempty"`
	// Size is the file's length in octets. While it is being fetched it is the one
	// that the server tells, -1 when it does not.
	Size int64 `json:"size"`
	// Modified is when it was, as the listing has it; zero when it does not tell.
	Modified time.Time `json:"modified,omitzero"`
	// Exact is the same as the server tells it of the file itself; it is what says
	// that a file that was begun is still the same.
	Exact time.Time `json:"exact,omitzero"`
	// ID is a message-id.
	ID string `json:"id,omitempty"`
	// SHA256 is that of the file, in hexadecimal; empty of a file that was begun
	// and has not been finished.
	SHA256 string `json:"sha256,omitempty"`
	// Marked is set when the server marked the end of a gopher document.
	Marked bool `json:"marked,omitempty"`
	// Unsure is set when it did not, and only one answer has come: the document
	// may have been cut, and the next run asks for it again.
	Unsure bool `json:"unsure,omitempty"`
	// Time is when the line was written.
	Time time.Time `json:"time"`
	// Start is set in the line that says of which URL the directory is a mirror.
	Start bool `json:"start,omitempty"`
	// Gone is set when the file has disappeared from the tree and was kept.
	Gone bool `json:"gone,omitempty"`
	// Error says why the file, or the listing, could not be had.
	Error string `json:"error,omitempty"`
}

// maxRecord bounds a line of the manifest in octets; a URL is much shorter.
const maxRecord = 1 << 20

// Records reads a manifest. Lines that are none, as a crash leaves one, are
// passed over. The error, which comes last if at all, is r's.
func Records(r io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for l, err := range located(r) {
			if !yield(l.Record, err) {
				return
			}
		}
	}
}

// A line is a Record and where in the manifest it begins.
type line struct {
	Record
	at int64
}

// located reads a manifest like Records.
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
			yield(line{}, fmt.Errorf("the manifest: %w", err))
		}
	}
}

// decode reads a line, unless it is none.
func decode(text []byte) (rec Record, ok bool) {
	if rec, ok = decodePlain(text); !ok {
		rec = Record{}
		ok = json.Unmarshal(text, &rec) == nil
	}
	return rec, ok && rec.URL != "" && isOurs(rec.File)
}

// decodePlain reads a line as encode writes it, of members that most lines consist
// of and without an escape. It is false for all others. A run reads a million lines
// twice, and package json takes several times as long.
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

// plain is a JSON string that stands for itself.
func plain(text []byte) (string, bool) {
	for _, c := range text {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return "", false
		}
	}
	return string(text), true
}

// encode is a line.
func encode(r Record) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(r)
	return b.Bytes(), err
}

// isOurs tells whether a file can be one of a mirror's.
func isOurs(file string) bool {
	return file == "" || fs.ValidPath(file) && file != "." && (file[0] != Folder[0] || fold(firstOf(file)) != fold(Folder))
}

// known is what a manifest says of one URL.
type known struct {
	done  Record // SHA256 is empty if it never was
	begun Record // URL is empty unless it is being fetched
}

// A manifest is the one of a run. Its lines stay on disk, since a tree may have a
// million files; what is kept is where the line of each begins.
type manifest struct {
	mu     sync.Mutex
	file   *os.File // nil where a dry run finds none
	frozen bool     // nothing is written
	end    int64    // of the file
	text   []byte   // what recordAt has read
	start  Record   // of which URL it is; no URL when it is new
	urls   map[id]spot
	begun  map[id]int64 // where the line of a file is that is being fetched
	failed map[id]int64 // and that of what failed in this run
}

// A spot says where the line of a file is that is whole, if there is one, and
// whether the tree has its URL.
type spot int64

const seen spot = 1

func spotAt(at int64) spot { return spot(at+1) << 1 }

// line is where the line is; -1 if there is none.
func (s spot) line() int64 { return int64(s>>1) - 1 }

var errLocked = errors.New("another mirror is at work on this directory")

// openManifest reads the manifest and locks it.
func openManifest(root *os.Root) (*manifest, error) {
	file, err := root.OpenFile(ManifestFile, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	m := &manifest{file: file}
	if !filelock.Take(file) {
		err = errLocked
	}
	if err == nil {
		err = endLine(file)
	}
	if err == nil {
		err = m.read()
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return m, nil
}

// readManifest reads it for a dry run; it need not be there.
func readManifest(root *os.Root) (*manifest, error) {
	m := &manifest{frozen: true}
	if root != nil {
		file, err := root.Open(ManifestFile)
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

// read finds out where the lines are.
func (m *manifest) read() error {
	m.urls, m.begun, m.failed = make(map[id]spot), make(map[id]int64), make(map[id]int64)
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
		if l.Error == "" { // what failed is tried again
			m.know(l)
		}
	}
	return nil
}

// know notes where a line is and what it makes obsolete.
func (m *manifest) know(l line) {
	url := idOf(l.URL)
	switch {
	case l.Start:
		m.start = l.Record
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

// endLine ends the line that a crash has left without an end.
func endLine(file *os.File) error {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := file.ReadAt(last, info.Size()-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = file.WriteString("\n")
	return err
}

// add writes a line.
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
	n, err := m.file.Write(text)
	m.end += int64(n)
	if err == nil {
		m.know(line{r, at})
	}
	return err
}

// isEmpty tells whether there is no file in it.
func (m *manifest) isEmpty() bool { return len(m.urls) == 0 && len(m.begun) == 0 }

// see notes that the tree has a URL, and reports whether that was known.
func (m *manifest) see(url string) (again bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.urls[idOf(url)]
	m.urls[idOf(url)] = s | seen
	return s&seen != 0
}

// tidy drops what was begun and is not in the tree any more.
func (m *manifest) tidy() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for url := range m.begun {
		if m.urls[url]&seen == 0 {
			delete(m.begun, url)
		}
	}
}

// forget drops a URL. The next rewrite makes it so on disk.
func (m *manifest) forget(url string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.urls, idOf(url))
	delete(m.begun, idOf(url))
	delete(m.failed, idOf(url))
}

// lookup reads what is known of a URL.
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

// isDone reports whether a URL has a file that is whole.
func (m *manifest) isDone(url string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.urls[idOf(url)].line() >= 0
}

// unseen yields the files whose URLs the tree does not have, in the order of
// their lines. The manifest may be changed meanwhile.
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

// recordAt reads a line; none if somebody else has written to the file.
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

// rewrite puts a manifest of the lines that count in place of the one that lines
// were added to.
func (m *manifest) rewrite(root *os.Root) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	lines := slices.AppendSeq(slices.Collect(maps.Values(m.begun)), maps.Values(m.failed))
	for _, s := range m.urls {
		if s.line() >= 0 {
			lines = append(lines, s.line())
		}
	}
	slices.Sort(lines)
	const fresh = ManifestFile + ".new"
	file, err := root.Create(fresh)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	start, err := encode(m.start)
	if err == nil {
		w.Write(start) // Flush tells
		err = copyLines(w, io.NewSectionReader(m.file, 0, m.end), lines)
	}
	if err = errors.Join(err, w.Flush(), file.Sync(), file.Close()); err != nil {
		return err
	}
	return root.Rename(fresh, ManifestFile)
}

// copyLines copies the lines that begin at some places, in order.
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
	if m.file == nil {
		return nil
	}
	return m.file.Close()
}
