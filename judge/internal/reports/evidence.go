package reports

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/scene"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/control"
)

// wrong returns what is wrong with what the client has achieved and sent, "" if nothing is.
func (s *stage) wrong() string {
	if s.fields["error"] == "required" {
		return "nobody can do this here"
	}
	if text := s.lines(); text != "" {
		return text
	}
	switch s.Task {
	case scene.Tree, scene.Save:
		return s.treeWrong()
	case scene.List:
		s.decode("names", &s.Names)
	case scene.Extract:
		return s.foundWrong()
	case scene.Show:
		return s.shownWrong()
	case scene.Verify, scene.Mail:
		return ""
	case scene.Upload:
		s.Stored = s.stored
		if s.fields["sent"] != "" && s.Scheme == "nntp" {
			return ""
		}
	}
	return s.Achieved()
}

// stored returns what the server has under the name of the URL.
func (s *stage) stored() ([]byte, error) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(s.Servers[0].Files(), strings.Trim(path.Clean(u.Path), "/"))
}

// lines compares what the client has sent with the lines that it must have sent, and must not.
func (s *stage) lines() string {
	var sent, never []string
	s.decode("sent", &sent)
	s.decode("never", &never)
	var all []string
	for i, srv := range s.Servers {
		for _, line := range srv.Transcript() {
			if line.From == testserver.FromClient {
				text := strings.TrimRight(line.Octets, "\r\n")
				all = append(all, text, fmt.Sprintf("{server%d} %s", i+1, text))
			}
		}
	}
	for _, want := range sent {
		if !slices.ContainsFunc(all, func(line string) bool { return is(line, want) }) {
			return fmt.Sprintf("it has not sent %q", want)
		}
	}
	for _, bad := range never {
		if slices.ContainsFunc(all, func(line string) bool { return is(line, bad) }) {
			return fmt.Sprintf("it has sent %q", bad)
		}
	}
	return ""
}

// is reports whether a line is the wanted one, or begins with it if that ends in "*". The letters of its
// first word, which is a command, may be upper or lower case.
func is(line, want string) bool {
	begin, any := strings.CutSuffix(want, "*")
	word, _, _ := strings.Cut(begin, " ")
	if len(line) >= len(word) && strings.EqualFold(line[:len(word)], word) {
		line = word + line[len(word):]
	}
	return line == want || any && strings.HasPrefix(line, begin)
}

// wanted returns the files that are to be below Dir: what the case says, or what the first server has
// in the directory of the URL.
func (s *stage) wanted() map[string][]byte {
	all := make(map[string][]byte)
	named := make(map[string]control.File)
	s.decode("files", &named)
	for name, f := range named {
		all[name] = f.Octets()
	}
	for name, data := range s.files {
		if name, ok := strings.CutPrefix(name, "want/"); ok {
			all[name] = data
		}
	}
	u, err := url.Parse(s.URL)
	if len(all) > 0 || s.fields["files"] != "" || err != nil {
		return all
	}
	if s.Task == scene.Save {
		return map[string][]byte{path.Base(u.Path): s.Document}
	}
	below, err := fs.Sub(s.Servers[0].Files(), cleanDir(u.Path))
	if err != nil {
		return all
	}
	_ = fs.WalkDir(below, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all[name], err = fs.ReadFile(below, name)
		}
		return err
	})
	return all
}

// cleanDir returns the path of a directory in a URL as fs has it.
func cleanDir(name string) string {
	if name = strings.Trim(path.Clean(name), "/"); name != "" {
		return name
	}
	return "."
}

// treeWrong compares the files below Dir. Clients put the tree into folders of different names, so it
// begins where most of it is found.
func (s *stage) treeWrong() string {
	want := s.wanted()
	got := make(map[string][]byte)
	bases := []string{""}
	_ = filepath.WalkDir(s.Dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		rel, _ := filepath.Rel(s.Dir, name)
		if rel = filepath.ToSlash(rel); d.IsDir() && rel != "." {
			bases = append(bases, rel+"/")
		} else if d.Type().IsRegular() {
			got[rel], _ = os.ReadFile(name)
		}
		return nil
	})
	var texts []string
	for _, base := range bases {
		text := s.differ(base, got, want)
		if text == "" {
			return s.timesWrong(base)
		}
		texts = append(texts, text)
	}
	return texts[0]
}

// differ compares the files below a folder of Dir.
func (s *stage) differ(base string, got, want map[string][]byte) string {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		data, ok := got[base+name]
		if !ok {
			return fmt.Sprintf("%q is missing; there is %.300q", name, slices.Sorted(maps.Keys(got)))
		}
		if !bytes.Equal(data, want[name]) {
			return fmt.Sprintf("%q has %d bytes, and its %d are not all there", name, len(data), len(want[name]))
		}
	}
	var gone []string
	s.decode("gone", &gone)
	for _, name := range gone {
		if _, ok := got[base+name]; ok {
			return fmt.Sprintf("there is %q", name)
		}
	}
	return ""
}

// timesWrong compares times of files below a folder of Dir.
func (s *stage) timesWrong(base string) string {
	times := make(map[string]time.Time)
	s.decode("times", &times)
	for _, name := range slices.Sorted(maps.Keys(times)) {
		info, err := os.Stat(filepath.Join(s.Dir, filepath.FromSlash(base+name)))
		if err != nil {
			return err.Error()
		}
		if !info.ModTime().Equal(times[name]) {
			return fmt.Sprintf("the time of %q is %v instead of %v", name, info.ModTime().UTC(), times[name])
		}
	}
	return ""
}

// foundWrong compares the URLs that came.
func (s *stage) foundWrong() string {
	var want []string
	s.decode("found", &want)
	text, err := os.ReadFile(s.Out)
	if err != nil {
		return "there is no result"
	}
	if got := strings.Fields(string(text)); !slices.Equal(got, want) {
		return fmt.Sprintf("the URLs are %.400q instead of %.400q", got, want)
	}
	return ""
}

// shownWrong looks for texts in what the client shows.
func (s *stage) shownWrong() string {
	var shows, hides []string
	s.decode("shows", &shows)
	s.decode("hides", &hides)
	text, err := os.ReadFile(s.Out)
	if err != nil {
		return "there is no result"
	}
	for _, want := range shows {
		if !strings.Contains(string(text), want) {
			return fmt.Sprintf("%q is not in %.1000q", want, text)
		}
	}
	for _, bad := range hides {
		if strings.Contains(string(text), bad) {
			return fmt.Sprintf("%q is in %.1000q", bad, text)
		}
	}
	return ""
}
