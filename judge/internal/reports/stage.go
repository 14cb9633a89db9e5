package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/scene"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/control"
)

// stage is a case that runs.
type stage struct {
	*scene.Stage
	*report
	api   *control.API
	rules int // how many rules the servers have
	later int // how many they get before the second time
}

// set starts the servers, and writes what the client finds.
func (r *report) set(s *scene.Stage) {
	st := &stage{Stage: s, report: r, api: control.New(control.Config{})}
	s.Ended = func() { _ = st.api.Close() }
	if r.script != nil {
		servers, err := st.api.StartScript(r.script)
		s.Check(err)
		s.Servers = servers
		st.rules, st.later = bytes.Count(r.script, []byte(`"stage"`)), strings.Count(r.fields["then"], `"stage"`)
	}
	st.target()
	st.login()
	st.content()
	if tree := s.Task == scene.Tree || s.Task == scene.Save; tree && len(st.wanted()) == 0 && r.fields["files"]+r.fields["gone"]+r.fields["error"] == "" {
		s.Check(errors.New("there is no file to compare; say which files are right"))
	}
	s.Seen, s.Judged = st.met, st.wrong
	if r.fields["then"] != "" {
		s.Again = st.change
	}
}

// met reports whether the behavior came up: whether one of the rules acted or, without rules, whether
// the client has come to a server.
func (s *stage) met() bool {
	idle, lines := 0, 0
	for _, srv := range s.Servers {
		lines += len(srv.Transcript())
		if pending, ok := srv.PendingFaults().(interface{ Unwrap() []error }); ok {
			idle += len(pending.Unwrap())
		}
	}
	if s.rules > 0 {
		return idle < s.rules+s.later
	}
	return len(s.Servers) == 0 || lines > 0
}

// decode reads a field in JSON; a field that is not there changes nothing.
func (s *stage) decode(name string, to any) {
	if text := s.fields[name]; text != "" {
		if err := json.Unmarshal([]byte(text), to); err != nil {
			s.Check(fmt.Errorf("%s: %w", name, err))
		}
	}
}

// target sets the URL of the task.
func (s *stage) target() {
	usual := map[scene.Task]string{
		scene.Download: "/pub/file.bin", scene.Resume: "/pub/file.bin", scene.Save: "/pub/file.bin", scene.Decode: "/pub/file.bin",
		scene.List: "/pub/", scene.Tree: "/pub/", scene.Show: "/pub/", scene.Deploy: "/", scene.Upload: "/new.bin",
	}
	target := s.fields["url"]
	if target == "" {
		target = usual[s.Task]
	}
	fill := []string{"{dir}", (&url.URL{Path: "/" + strings.TrimPrefix(filepath.ToSlash(s.Dir), "/")}).EscapedPath()}
	for i, srv := range s.Servers {
		fill = append(fill, fmt.Sprintf("{server%d}", i+1), srv.Addr)
	}
	s.URL = strings.NewReplacer(fill...).Replace(target)
	if strings.HasPrefix(target, "/") && len(s.Servers) > 0 {
		s.URL = s.Servers[0].URL + s.URL
	}
	if s.Task == scene.Deploy {
		u, err := url.Parse(s.URL)
		s.Check(err)
		if s.Base = strings.Trim(u.Path, "/"); s.Base == "" {
			s.Base = "."
		}
	}
	for _, srv := range s.Servers {
		if pem := srv.CA(); pem != nil {
			s.Trust(pem)
			break
		}
	}
}

// login sets the user and the password, which the URL has, too.
func (s *stage) login() {
	user, password, ok := strings.Cut(s.fields["login"], ":")
	if !ok {
		return
	}
	s.User, s.Password = user, password
	scheme, rest, _ := strings.Cut(s.URL, "://")
	s.URL = scheme + "://" + url.UserPassword(user, password).String() + "@" + rest
}

// content writes the files of the client, and sets what it is to achieve.
func (s *stage) content() {
	s.writeAll(s.Dir, s.localFiles())
	home := make(map[string]control.File)
	s.decode("home", &home)
	s.writeAll(s.Home, home)
	if data, ok := s.octets("input", "input"); ok {
		s.Check(os.WriteFile(s.In, data, 0o600))
	}
	switch s.Task {
	case scene.Download, scene.Resume, scene.Decode, scene.Unpack, scene.Save:
		s.Document = s.served()
	case scene.Upload:
		if s.Document, _ = s.octets("document", "local/document"); s.Document == nil {
			s.Document = scene.Octets(1000)
		}
	}
	if s.fields["same"] == "text" {
		s.Same = scene.SameText
	}
	if data, ok := s.octets("or", ""); ok {
		usual := s.Same
		s.Same = func(got, want []byte) bool { return usual(got, want) || usual(got, data) }
	}
	if s.Task == scene.Resume {
		s.Begun = s.begun()
	}
}

// begun returns how much of the document the client has, or writes what it has instead.
func (s *stage) begun() int {
	text := s.fields["begun"]
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	if text == "" {
		return len(s.Document) / 3
	}
	data, err := file(text)
	s.Check(err)
	s.Begins = data
	return 0
}

// octets returns the octets of a field, or those of a file of the case.
func (s *stage) octets(field, name string) ([]byte, bool) {
	if text := s.fields[field]; text != "" {
		data, err := file(text)
		if err != nil {
			s.Check(fmt.Errorf("%s: %w", field, err))
		}
		return data, true
	}
	data, ok := s.files[name]
	return data, ok
}

// served returns the document that the client is to get: what the case says, or what the first server
// has under the name.
func (s *stage) served() []byte {
	if data, ok := s.octets("document", "want/document"); ok {
		return data
	}
	if len(s.Servers) == 0 {
		return nil
	}
	u, err := url.Parse(s.URL)
	s.Check(err)
	data, _ := fs.ReadFile(s.Servers[0].Files(), strings.Trim(path.Clean(u.Path), "/"))
	return data
}

// localFiles returns what is in Dir at the beginning.
func (s *stage) localFiles() map[string]control.File {
	all := make(map[string]control.File)
	s.decode("local", &all)
	for name, data := range s.files {
		if name, ok := strings.CutPrefix(name, "local/"); ok {
			all[name] = control.FileOf(data)
		}
	}
	if s.Task == scene.Deploy {
		s.Files = make(map[string][]byte)
		for name, f := range all {
			s.Files[name] = f.Octets()
		}
		return nil // the stage writes them
	}
	return all
}

// writeAll writes files below a folder.
func (s *stage) writeAll(dir string, all map[string]control.File) {
	for name, f := range all {
		file := filepath.Join(dir, filepath.FromSlash(name))
		s.Check(os.MkdirAll(filepath.Dir(file), 0o700))
		s.Check(os.WriteFile(file, f.Octets(), 0o600))
		if !f.Modified.IsZero() {
			s.Check(os.Chtimes(file, time.Time{}, f.Modified))
		}
	}
}

// change changes the first server before the client does the task once more.
func (s *stage) change() (err error) {
	var then struct {
		Files  map[string]control.File `json:"files"`
		Remove []string                `json:"remove"`
		Faults []struct {
			Stage  string             `json:"stage"`
			N      int                `json:"n"`
			Faults []testserver.Named `json:"faults"`
		} `json:"faults"`
	}
	if err := json.Unmarshal([]byte(s.fields["then"]), &then); err != nil {
		return fmt.Errorf("then: %w", err)
	}
	srv := s.Servers[0]
	for _, name := range slices.Sorted(maps.Keys(then.Files)) {
		if err := srv.PutModified(name, then.Files[name].Octets(), then.Files[name].Modified); err != nil {
			return err
		}
	}
	for _, name := range then.Remove {
		if err := srv.Remove(name); err != nil {
			return err
		}
	}
	for _, rule := range then.Faults {
		var faults []testserver.Fault
		for _, f := range rule.Faults {
			faults = append(faults, f)
		}
		if err := srv.Arm(rule.Stage, rule.N, faults...); err != nil {
			return err
		}
	}
	return nil
}
