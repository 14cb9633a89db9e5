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
	"sync"
	"time"
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
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxRecord)
		for lines.Scan() {
			var rec Record
			if json.Unmarshal(lines.Bytes(), &rec) != nil || rec.URL == "" || !isOurs(rec.File) {
				continue
			}
			if !yield(rec, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Record{}, fmt.Errorf("the manifest: %w", err))
		}
	}
}

// isOurs tells whether a file can be one of a mirror's.
func isOurs(file string) bool {
	return file == "" || fs.ValidPath(file) && file != "." && fold(firstOf(file)) != fold(Folder)
}

// known is what a manifest says of one URL.
type known struct {
	start Record // URL is empty unless it is the mirror's start
	done  Record // SHA256 is empty if it never was
	begun Record // URL is empty unless it is being fetched
	err   Record // URL is empty unless it failed last
}

func (k *known) add(r Record) {
	switch {
	case r.Start:
		k.start = r
	case r.Error != "":
		k.err = r
	case r.SHA256 != "":
		*k = known{start: k.start, done: r}
	default:
		k.begun = r
	}
}

// records are the lines that say all that is known.
func (k *known) records() []Record {
	return slices.DeleteFunc([]Record{k.start, k.done, k.begun, k.err}, func(r Record) bool { return r.URL == "" })
}

// A manifest is the one of a run: what it said to begin with, and the file that
// lines are added to.
type manifest struct {
	urls  map[string]*known
	start string // of which URL it is; empty when it is new
	mu    sync.Mutex
	file  *os.File // nil when nothing is written
}

var errLocked = errors.New("another mirror is at work on this directory")

// openManifest reads the manifest and locks it.
func openManifest(root *os.Root) (*manifest, error) {
	file, err := root.OpenFile(ManifestFile, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	m := &manifest{file: file}
	if !lock(file) {
		err = errLocked
	}
	if err == nil {
		err = m.read(file)
	}
	if err == nil {
		err = endLine(file)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return m, nil
}

// readManifest reads it for a dry run; it need not be there.
func readManifest(root *os.Root) (*manifest, error) {
	m := &manifest{urls: make(map[string]*known)}
	if root == nil {
		return m, nil
	}
	file, err := root.Open(ManifestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return m, m.read(file)
}

func (m *manifest) read(r io.Reader) error {
	m.urls = make(map[string]*known)
	for rec, err := range Records(r) {
		if err != nil {
			return err
		}
		k := m.urls[rec.URL]
		if k == nil {
			k = new(known)
			m.urls[rec.URL] = k
		}
		k.add(rec)
		if rec.Start {
			m.start = rec.URL
		}
	}
	for _, k := range m.urls {
		k.err = Record{} // what failed is tried again
	}
	return nil
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
	k := m.urls[r.URL]
	if k == nil {
		k = new(known)
		m.urls[r.URL] = k
	}
	k.add(r)
	if m.file == nil {
		return nil
	}
	line, err := encode(r)
	if err == nil {
		_, err = m.file.Write(line)
	}
	return err
}

// isEmpty tells whether there is no file in it.
func (m *manifest) isEmpty() bool {
	for _, k := range m.urls {
		if k.done.URL != "" || k.begun.URL != "" {
			return false
		}
	}
	return true
}

// tidy drops what was begun and is not in the tree any more.
func (m *manifest) tidy(seen map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for url, k := range m.urls {
		if !seen[url] {
			k.begun = Record{}
		}
	}
}

// forget drops a URL. The next rewrite makes it so on disk.
func (m *manifest) forget(url string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.urls, url)
}

func (m *manifest) lookup(url string) known {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.urls[url]; k != nil {
		return *k
	}
	return known{}
}

// encode is a line.
func encode(r Record) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(r)
	return b.Bytes(), err
}

// rewrite puts a manifest of what counts, in the order of the URLs, in place of
// the one that lines were added to.
func (m *manifest) rewrite(root *os.Root) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	const fresh = ManifestFile + ".new"
	file, err := root.Create(fresh)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	for _, url := range slices.Sorted(maps.Keys(m.urls)) {
		for _, r := range m.urls[url].records() {
			line, err := encode(r)
			if err != nil {
				file.Close()
				return err
			}
			w.Write(line) // Flush tells
		}
	}
	if err := errors.Join(w.Flush(), file.Sync(), file.Close()); err != nil {
		return err
	}
	return root.Rename(fresh, ManifestFile)
}

func (m *manifest) close() error {
	if m.file == nil {
		return nil
	}
	return m.file.Close()
}
