package control

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// A File is a text in JSON, or an object for other bytes, for a size and for a time, as in the body of
// POST /v1/servers.
type File struct {
	Modified time.Time // zero if it has none

	head   []byte // the parts of the file in their order
	text   string
	repeat int64
	tail   []byte
	noise  int64
}

// Octets returns the content of the file.
func (f File) Octets() []byte {
	return slices.Concat(f.head, []byte(strings.Repeat(f.text, int(f.repeat))), f.tail, core.Noise(f.noise))
}

// Len returns how many octets the file has. Until they are needed, they take no memory.
func (f File) Len() int64 {
	return int64(len(f.head)) + int64(len(f.text))*f.repeat + int64(len(f.tail)) + f.noise
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *File) UnmarshalJSON(data []byte) error {
	var text string
	if decodeStrict(data, &text) == nil {
		*f = FileOf([]byte(text))
		return nil
	}
	var o struct {
		Repeat   int64             `json:"repeat"`
		Text     string            `json:"text"`
		Octets   []byte            `json:"octets"`
		Lines    []string          `json:"lines"`
		Latin1   testserver.Latin1 `json:"latin1"`
		Size     int64             `json:"size"`
		Modified time.Time         `json:"modified"`
	}
	if err := decodeStrict(data, &o); err != nil {
		return err
	}
	if o.Size < 0 || o.Size > maxFile {
		return fmt.Errorf("the size is not from 0 to %d", maxFile)
	}
	if o.Repeat < 0 || o.Text != "" && o.Repeat > maxFile/int64(len(o.Text)) {
		return fmt.Errorf("with repeat, the text does not have from 0 to %d bytes", maxFile)
	}
	*f = File{
		Modified: o.Modified, head: []byte(core.Lines(o.Lines)), text: o.Text, repeat: max(1, o.Repeat),
		tail: slices.Concat([]byte(o.Latin1), o.Octets), noise: o.Size,
	}
	return nil
}

// FileOf returns a file with these octets.
func FileOf(octets []byte) File { return File{head: octets} }

// putAll stores files by put, in the order of their names.
func (s *server) putAll(field string, files map[string]File, put func(string, []byte, time.Time) error) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		if err := s.memory.add(f.Len()); err != nil {
			return err
		}
		if err := put(name, f.Octets(), f.Modified); err != nil {
			return bad(field+"."+name, "cannot store %q: %v", name, reason(err))
		}
	}
	return nil
}

// reason returns what is wrong with a name.
func reason(err error) error {
	if errors.Is(err, fs.ErrInvalid) {
		return errors.New("it is empty, or has a NUL")
	}
	return err
}

// putOne stores a file while the server runs, which takes over its memory. The caller holds changes.
func (s *server) putOne(name string, data []byte, modified time.Time, held *memory) error {
	if s.ended() {
		return noServer(s.id)
	}
	put := s.put
	if put == nil {
		put = putIn(s.common)
	}
	if err := put(name, data, modified); err != nil {
		return bad("name", "cannot store %q: %v", name, reason(err))
	}
	held.moveTo(&s.memory)
	return nil
}

// putIn returns [testserver.Server.PutModified] without its copy of the data.
func putIn(s *testserver.Server) func(string, []byte, time.Time) error {
	return func(name string, data []byte, modified time.Time) error {
		return core.MachineOf(&s.Base).Tree.Put(tree.Clean(name), data, modified)
	}
}

func putFile(s *server, w http.ResponseWriter, r *http.Request) error {
	var modified time.Time
	if text := r.URL.Query().Get("modified"); text != "" {
		var err error
		if modified, err = time.Parse(time.RFC3339, text); err != nil {
			return bad("modified", "%q is not a time as in 2026-11-24T10:00:00Z", text)
		}
	}
	data, held, err := s.api.body(w, r, maxFile, 1)
	if err != nil {
		return err
	}
	defer held.free()
	s.changes.Lock()
	defer s.changes.Unlock()
	if err := s.putOne(r.PathValue("name"), data, modified, held); err != nil {
		return err
	}
	return done(w)
}

func putTree(s *server, w http.ResponseWriter, r *http.Request) error {
	data, held, err := s.api.body(w, r, maxFile, 1)
	if err != nil {
		return err
	}
	defer held.free()
	s.changes.Lock()
	defer s.changes.Unlock()
	for archive, n := tar.NewReader(bytes.NewReader(data)), 0; ; n++ {
		h, err := archive.Next()
		switch {
		case err == io.EOF:
			return done(w)
		case err != nil:
			return bad("", "the body is not a tar archive: %v", err)
		case n >= maxFiles:
			return bad("", "the archive has more than %d entries", maxFiles)
		case h.Typeflag == tar.TypeDir, h.Typeflag == tar.TypeXGlobalHeader:
			continue
		case h.Typeflag != tar.TypeReg:
			return bad(h.Name, "only files and directories are stored, not type %q", h.Typeflag)
		case h.Size > int64(len(data)): // of a sparse file
			return bad(h.Name, "the file has more bytes than the archive")
		}
		if err := s.putEntry(h, archive); err != nil {
			return err
		}
	}
}

// putEntry stores a file of an archive.
func (s *server) putEntry(h *tar.Header, archive io.Reader) error {
	held := memory{total: &s.api.content}
	defer held.free()
	if err := held.add(h.Size); err != nil {
		return err
	}
	data := make([]byte, h.Size)
	if _, err := io.ReadFull(archive, data); err != nil {
		return bad(h.Name, "the archive is not complete: %v", err)
	}
	return s.putOne(h.Name, data, h.ModTime, &held)
}

// userOf returns the user of the query, or "". The user must have files of its own.
func (s *server) userOf(r *http.Request) (string, error) {
	name := r.URL.Query().Get("user")
	if name != "" && s.users[name].Content == nil {
		return "", problem{Status: http.StatusNotFound, Field: "user", Detail: fmt.Sprintf("there is no user %q with files of its own", name)}
	}
	return name, nil
}

// filesOf returns the files that a client sees after a login as a user, or without one.
func (s *server) filesOf(user string) fs.FS {
	if user == "" {
		return s.common.Files()
	}
	if changed := s.common.FilesOf(user); changed != nil { // there has been a login
		return changed
	}
	return s.users[user].Content
}

func getFile(s *server, w http.ResponseWriter, r *http.Request) error {
	user, err := s.userOf(r)
	if err != nil {
		return err
	}
	name := strings.Trim(r.PathValue("name"), "/")
	f, err := s.filesOf(user).Open(name)
	if err != nil {
		return problem{Status: http.StatusNotFound, Field: "name", Detail: fmt.Sprintf("there is no file %q", name)}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.IsDir() {
		return bad("name", "%q is a directory", name)
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Last-Modified", info.ModTime().UTC().Format(http.TimeFormat))
	_, err = io.Copy(w, f)
	return ignoreClient(err)
}

func deleteFile(s *server, w http.ResponseWriter, r *http.Request) error {
	s.changes.Lock()
	defer s.changes.Unlock()
	remove := s.common.Remove
	if s.remove != nil {
		remove = s.remove
	}
	name := r.PathValue("name")
	if err := remove(name); errors.Is(err, fs.ErrNotExist) {
		return problem{Status: http.StatusNotFound, Field: "name", Detail: fmt.Sprintf("there is no file %q", name)}
	} else if err != nil {
		return bad("name", "cannot remove %q: %v", name, reason(err))
	}
	return done(w)
}

func listUploads(s *server, w http.ResponseWriter, r *http.Request) error {
	type upload struct {
		Name string `json:"name"`
		Size int    `json:"size"`
		Path string `json:"path"`
	}
	user, err := s.userOf(r)
	if err != nil {
		return err
	}
	uploads, query := s.common.Uploads, ""
	if user != "" {
		uploads, query = func() map[string][]byte { return s.common.UploadsOf(user) }, "?user="+url.QueryEscape(user)
	}
	list, stored := []upload{}, uploads()
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		var path strings.Builder
		for part := range strings.SplitSeq(name, "/") {
			path.WriteString("/" + url.PathEscape(part))
		}
		list = append(list, upload{name, len(stored[name]), "/v1/servers/" + s.id + "/files" + path.String() + query})
	}
	return answer(w, http.StatusOK, map[string]any{"uploads": list})
}
