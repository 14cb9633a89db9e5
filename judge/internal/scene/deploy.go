package scene

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// What the task Deploy has at the beginning, and what has become of it.

// deployed is a Stage of the task Deploy.
type deployed struct{ *Stage }

// old is the time of the files to send. They have the same time in each run.
var old = Epoch.AddDate(5, 0, 0)

// fill writes the files to send.
func (s deployed) fill() {
	for name, data := range s.Files {
		file := filepath.Join(s.Dir, filepath.FromSlash(name))
		s.Check(os.MkdirAll(filepath.Dir(file), 0o700))
		s.Check(os.WriteFile(file, data, 0o600))
		s.Check(os.Chtimes(file, old, old))
	}
}

// held returns the files that the server has in the directory of the task.
func (s deployed) held() map[string]string {
	all := make(map[string]string)
	files, err := fs.Sub(s.Servers[0].Files(), s.Base)
	s.Check(err)
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		data, err := fs.ReadFile(files, name)
		all[name] = string(data)
		return err
	})
	return all
}

// wrong compares the files at the server with those to send.
func (s deployed) wrong() string {
	got := s.held()
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		want := s.Files[name]
		before, was := s.had[name]
		switch data, ok := got[name]; {
		case !ok:
			return fmt.Sprintf("the server has no %q", name)
		case data != string(want) && was && data == before:
			return fmt.Sprintf("the server has an old %q", name)
		case data != string(want):
			return fmt.Sprintf("at the server %q has %d bytes, and its %d are not all there", name, len(data), len(want))
		}
		delete(got, name)
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, was := s.had[name]; !was {
			return fmt.Sprintf("the server has %q, which is not in the folder", path.Base(name))
		}
	}
	return ""
}

// damage returns which file of others at the server, or of the folder, is not as it was.
func (s deployed) damage() string {
	got := s.held()
	for _, name := range slices.Sorted(maps.Keys(s.had)) {
		if _, ours := s.Files[name]; !ours && got[name] != s.had[name] {
			return fmt.Sprintf("it has changed %q of others at the server", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		if data, err := left(s.Dir, name, len(s.Files[name])); err != nil || !bytes.Equal(data, s.Files[name]) {
			return fmt.Sprintf("it has changed %q in the folder that it was to send", name)
		}
	}
	return ""
}
