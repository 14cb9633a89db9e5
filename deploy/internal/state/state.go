// Package state keeps what runs have brought to a server.
package state

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// A Line is a line of the state: what runs have brought to one path of the server.
type Line struct {
	URL      string    `json:"url"`
	File     string    `json:"file,omitempty"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified,omitzero"` // of the local file
	Stored   time.Time `json:"stored,omitzero"`   // in the listing of the server, after the upload
	SHA256   string    `json:"sha256,omitempty"`
	Part     string    `json:"part,omitempty"` // the temporary name of a file that is not complete
	Dir      bool      `json:"dir,omitempty"`  // a directory that a run has created
	Time     time.Time `json:"time"`
	Start    bool      `json:"start,omitempty"`
	Gone     bool      `json:"gone,omitempty"`   // the line ends the record of the file
	Found    bool      `json:"found,omitempty"`  // no run has sent the file: it was there, with the same content
	Octets   []byte    `json:"octets,omitempty"` // File, if it is not UTF-8
	Folder   string    `json:"folder,omitempty"` // of the tree, in the first line; see Place.Dir
}

// A State is what earlier runs, and this one, have brought to the server. It is a file of one JSON
// object per line. Of several lines with the same File and Part, the last one is valid.
type State struct {
	mu      sync.Mutex
	disk    disk.Folder // of the name; nil in a dry run without a state
	inner   disk.Folder // to close, or nil
	name    string
	advice  string        // in errors about its place, if that was chosen here
	mode    fs.FileMode   // of a new file
	tree    string        // the path of the tree, if the name does not say which it is
	aside   []fs.FileInfo // of the file, and of the directory of states
	file    disk.File     // nil in a dry run
	locked  *disk.Locked
	torn    bool // the last line is not complete
	started bool // it has its first line
	url     string
	files   map[string]Line // complete files and directories, by path
	parts   map[string]Line // files that are not complete, by the path of their temporary name

	// Note, if not empty, says what a user should know about the place of the state.
	Note string
}

var errLocked = errors.New("another mirror from this directory to the same server is running")

// New returns an empty State that is kept nowhere. If url is not empty, Read accepts only the lines
// of a state for that URL.
func New(name, url string) *State {
	return &State{name: name, url: url, files: make(map[string]Line), parts: make(map[string]Line)}
}

// openReadOnly reads the state for a dry run.
func (s *State) openReadOnly() error {
	if s.disk == nil {
		return nil
	}
	f, err := s.disk.OpenFile(s.name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		s.aside = append(s.aside, info)
	}
	return s.Read(f)
}

// open opens, locks and reads the file.
func (s *State) open() error {
	locked, err := disk.Lock(func() (disk.File, error) { return s.disk.OpenFile(s.name, os.O_RDWR|os.O_CREATE|os.O_APPEND, s.mode) },
		func() (fs.FileInfo, error) { return s.disk.Stat(s.name) })
	if errors.Is(err, disk.ErrBusy) {
		return errLocked
	}
	if err != nil {
		return s.unplaced(err)
	}
	s.file, s.locked = locked.File, locked
	s.aside = append(s.aside, locked.Info)
	return s.start()
}

// start reads the file. If it is empty, it gets its first line.
func (s *State) start() error {
	if err := s.Read(s.file); err != nil {
		return err
	}
	info, err := s.file.Stat()
	if err == nil && info.Size() == 0 {
		err = s.Add(s.first())
	}
	return err
}

// first returns the first line of the state.
func (s *State) first() Line {
	return Line{URL: s.url, Start: true, Size: -1, Folder: s.tree}
}

// maxLine is the maximum length in bytes of a line of the state.
const maxLine = 1 << 20

// Read reads the lines of a state. Those that are malformed are skipped, such as one that a crash
// has cut, and those that are longer than maxLine.
func (s *State) Read(r io.Reader) error {
	lines := bufio.NewReaderSize(r, maxLine)
	for long := false; ; {
		line, err := lines.ReadSlice('\n')
		switch err {
		case nil, io.EOF:
		case bufio.ErrBufferFull:
			long = true
			continue
		default:
			return fmt.Errorf("read the state %s: %w", s.name, err)
		}
		s.torn = err == io.EOF && (long || len(line) > 0)
		if !long {
			if err := s.read(line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		long = false
	}
}

// read reads a line.
func (s *State) read(line []byte) error {
	var rec Line
	if json.Unmarshal(line, &rec) != nil {
		return nil
	}
	if rec.Octets != nil {
		rec.File, rec.Octets = string(rec.Octets), nil
	}
	if rec.Start && s.url != "" && rec.URL != s.url {
		return fmt.Errorf("the state %s is that of %s; Upload.State gives each server its own: %w", s.name, rec.URL, fs.ErrExist)
	}
	s.started = s.started || rec.Start
	if isLocal(rec.File) && (rec.Part == "" || IsPart(rec.Part)) {
		s.index(rec)
	}
	return nil
}

// Started reports whether what was read has the line with which each state begins.
func (s *State) Started() bool { return s.started }

// IsBeginning reports whether a text may be what a failed transfer has left of a state: it ends in the line
// with which each state begins.
func IsBeginning(text []byte) bool {
	const begins = `{"url":"`
	return !bytes.ContainsRune(text, '\n') && string(text[:min(len(text), len(begins))]) == begins[:min(len(text), len(begins))]
}

// index takes a line into account.
func (s *State) index(rec Line) {
	switch of := s.files; {
	case rec.Part != "" && rec.Gone:
		delete(s.parts, rec.part())
	case rec.Part != "":
		s.parts[rec.part()] = rec
	case rec.Gone:
		delete(of, rec.File)
	default:
		of[rec.File] = rec
	}
}

// Merge takes the lines of the state that another machine has left at the server. Of two lines
// about a file, the later one is valid.
func (s *State) Merge(other *State) error {
	for name, theirs := range other.files {
		ours, ok := s.files[name]
		if ok && !theirs.Time.After(ours.Time) {
			continue
		}
		theirs.URL = cmp.Or(ours.URL, theirs.URL)
		if err := s.Add(theirs); err != nil {
			return err
		}
	}
	return nil
}

// Parts returns the records of files that are not complete, in the order of their paths.
func (s *State) Parts() []Line { return sorted(s.parts) }

// Add appends a line.
func (s *State) Add(rec Line) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rec.Time.IsZero() {
		rec.Time = time.Now().UTC().Truncate(time.Second)
	}
	if !rec.Start {
		s.index(rec)
	}
	if s.file == nil {
		return nil
	}
	text, err := encode(rec)
	if err != nil {
		return err
	}
	if s.torn {
		text = append([]byte("\n"), text...)
	}
	n, err := s.file.Write(text)
	s.torn = err != nil && (s.torn || n > 0)
	return err
}

// isLocal reports whether a path leads to something below the directory of the tree.
func isLocal(name string) bool {
	return fs.ValidPath(strings.ToValidUTF8(name, "_")) && name != "."
}

// encode returns the line of a record. It also has the octets of a path that is not UTF-8.
func encode(rec Line) ([]byte, error) {
	if !utf8.ValidString(rec.File) {
		rec.Octets = []byte(rec.File)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(rec)
	return b.Bytes(), err
}

// Known returns the record of a complete file.
func (s *State) Known(name string) (Line, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rec, ok := s.files[name]
	return rec, ok
}

// Begun reports whether a file is not complete on the server, and has a temporary name there.
func (s *State) Begun(file, part string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.parts[Line{File: file, Part: part}.part()]
	return ok
}

// Unfinished reports whether a run has begun to send a file, and has not recorded the end: the file
// may have the new content on the server.
func (s *State) Unfinished(file string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rec := range s.parts {
		if rec.File == file {
			return true
		}
	}
	return false
}

// part returns the path of the temporary name.
func (r Line) part() string { return path.Join(path.Dir(r.File), r.Part) }

// All returns the records of complete files and directories in the order of their paths.
func (s *State) All() []Line {
	return sorted(s.files)
}

func sorted(of map[string]Line) []Line {
	return slices.SortedFunc(maps.Values(of), func(a, b Line) int { return strings.Compare(a.File, b.File) })
}

// Text returns the valid lines. Those that are for this computer only are left out unless here is
// set: the path of the tree, and files that are not complete.
func (s *State) Text(here bool) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b bytes.Buffer
	first := s.first()
	first.Time = time.Now().UTC().Truncate(time.Second)
	if !here {
		first.Folder = ""
	}
	lines := append([]Line{first}, s.All()...)
	if here {
		lines = append(lines, sorted(s.parts)...)
	}
	for _, rec := range lines {
		text, err := encode(rec)
		if err != nil {
			return nil, err
		}
		b.Write(text)
	}
	return b.Bytes(), nil
}

// Close closes the state. After a complete run it rewrites it without the lines that are not valid
// any more.
func (s *State) Close(whole bool) error {
	var err error
	if s.file != nil && whole {
		err = s.rewrite()
	}
	if s.locked != nil {
		err = errors.Join(err, s.locked.Close())
	}
	if s.inner != nil {
		err = errors.Join(err, s.inner.Close())
	}
	return err
}

// rewrite replaces the file by one that has the valid lines only.
func (s *State) rewrite() error {
	text, err := s.Text(true)
	if err != nil {
		return err
	}
	mode := s.locked.Info.Mode().Perm()
	file, err := s.disk.OpenFile(s.name+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && info.Mode().Perm() != mode {
		err = file.Chmod(mode)
	}
	if err == nil {
		_, err = file.Write(text)
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := s.locked.Yield(); err != nil {
		return err
	}
	return disk.Rename(s.disk, s.name+".new", s.name, info)
}

// PartName returns the temporary name on the server of a file with a checksum and a name: another
// one for other content, so that a later run continues it only if the content is the same. It does
// not begin with a dot, which some servers refuse.
func PartName(sha256Sum, name string) string {
	sum := sha256.Sum256([]byte(sha256Sum + "/" + name))
	return partPrefix + hex.EncodeToString(sum[:12]) + partSuffix
}

const (
	partPrefix = "fetch1738-"
	partSuffix = ".part"
)

// IsPart reports whether a name is one of PartName.
func IsPart(name string) bool {
	hash, ok := strings.CutPrefix(name, partPrefix)
	hash, part := strings.CutSuffix(hash, partSuffix)
	return ok && part && len(hash) == 24 && strings.Trim(hash, "0123456789abcdef") == ""
}
