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
)

// A file is a text in JSON, or an object for other bytes and for a time.
type file struct {
	data     []byte
	modified time.Time
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *file) UnmarshalJSON(data []byte) error {
	var text string
	if decodeStrict(data, &text) == nil {
		f.data = []byte(text)
		return nil
	}
	var o struct {
		Text     string    `json:"text"`
		Octets   []byte    `json:"octets"`
		Modified time.Time `json:"modified"`
	}
	if err := decodeStrict(data, &o); err != nil {
		return err
	}
	f.data, f.modified = slices.Concat([]byte(o.Text), o.Octets), o.Modified
	return nil
}

// putAll stores files by put, in the order of their names.
func (s *server) putAll(field string, files map[string]file, put func(string, []byte, time.Time) error) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		if err := s.charge(int64(len(f.data))); err != nil {
			return err
		}
		if err := put(name, f.data, f.modified); err != nil {
			return bad(field+"."+name, "cannot store %q: %v", name, reason(err))
		}
	}
	return nil
}

// charge counts bytes that are put. The caller holds changes, or nobody else knows the server.
func (s *server) charge(n int64) error {
	if s.api.content.Add(n) > maxContent {
		s.api.content.Add(-n)
		return problem{Status: http.StatusInsufficientStorage, Detail: fmt.Sprintf("all files together may have %d bytes; DELETE the servers that are not needed", int64(maxContent))}
	}
	s.bytes += n
	return nil
}

// reason returns what is wrong with a name.
func reason(err error) error {
	if errors.Is(err, fs.ErrInvalid) {
		return errors.New("it is empty, or has a NUL")
	}
	return err
}

// putOne stores a file while the server runs.
func (s *server) putOne(name string, data []byte, modified time.Time) error {
	if err := s.charge(int64(len(data))); err != nil {
		return err
	}
	put := s.common.PutModified
	if s.put != nil {
		put = s.put
	}
	if err := put(name, data, modified); err != nil {
		return bad("name", "cannot store %q: %v", name, reason(err))
	}
	return nil
}

func putFile(s *server, w http.ResponseWriter, r *http.Request) error {
	var modified time.Time
	if text := r.URL.Query().Get("modified"); text != "" {
		var err error
		if modified, err = time.Parse(time.RFC3339, text); err != nil {
			return bad("modified", "%q is not a time as in 2026-11-24T10:00:00Z", text)
		}
	}
	data, err := body(w, r, maxFile)
	if err != nil {
		return err
	}
	s.changes.Lock()
	defer s.changes.Unlock()
	if err := s.putOne(r.PathValue("name"), data, modified); err != nil {
		return err
	}
	return done(w)
}

func putTree(s *server, w http.ResponseWriter, r *http.Request) error {
	data, err := body(w, r, maxFile)
	if err != nil {
		return err
	}
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
		one, err := io.ReadAll(archive)
		if err != nil {
			return bad(h.Name, "the archive is not complete: %v", err)
		}
		if err := s.putOne(h.Name, one, h.ModTime); err != nil {
			return err
		}
	}
}

// filesOf returns the files that a client sees after a login as the user of the query, or without
// one.
func (s *server) filesOf(r *http.Request) (fs.FS, map[string][]byte, error) {
	name := r.URL.Query().Get("user")
	if name == "" {
		return s.common.Files(), s.common.Uploads(), nil
	}
	files := s.users[name].Content
	if files == nil {
		return nil, nil, problem{Status: http.StatusNotFound, Field: "user", Detail: fmt.Sprintf("there is no user %q with files of its own", name)}
	}
	if changed := s.common.FilesOf(name); changed != nil { // there has been a login
		files = changed
	}
	return files, s.common.UploadsOf(name), nil
}

func getFile(s *server, w http.ResponseWriter, r *http.Request) error {
	files, _, err := s.filesOf(r)
	if err != nil {
		return err
	}
	name := strings.Trim(r.PathValue("name"), "/")
	f, err := files.Open(name)
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
	_, uploads, err := s.filesOf(r)
	if err != nil {
		return err
	}
	list := []upload{}
	query := ""
	if name := r.URL.Query().Get("user"); name != "" {
		query = "?user=" + url.QueryEscape(name)
	}
	for _, name := range slices.Sorted(maps.Keys(uploads)) {
		var path strings.Builder
		for part := range strings.SplitSeq(name, "/") {
			path.WriteString("/" + url.PathEscape(part))
		}
		list = append(list, upload{name, len(uploads[name]), "/v1/servers/" + s.id + "/files" + path.String() + query})
	}
	return answer(w, http.StatusOK, map[string]any{"uploads": list})
}
