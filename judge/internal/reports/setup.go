package reports

import (
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

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/control"
)

// set starts the servers, and writes what the client finds.
func (r *report) set(run *testcase.Run) {
	api := control.New(control.Config{})
	run.Ended = func() { _ = api.Close() }
	if r.script != nil {
		servers, err := api.StartScript(r.script)
		testcase.Check(err)
		run.Servers = servers
	}
	r.target(run)
	r.login(&run.Client)
	r.content(run)
	if tree := run.Task == testcase.Tree || run.Task == testcase.Save; tree && len(r.wanted(run)) == 0 && r.fields["files"]+r.fields["gone"]+r.fields["error"] == "" {
		testcase.Check(errors.New("there is no file to compare; say which files are right"))
	}
	run.Seen, run.Judged = func() bool { return r.met(run) }, func() testcase.Wrong { return r.wrong(run) }
	if r.fields["then"] != "" {
		run.Again = func() error { return r.change(run.Servers[0]) }
	}
}

// target sets the URL of the task.
func (r *report) target(run *testcase.Run) {
	usual := map[testcase.Task]string{
		testcase.Download: "/pub/file.bin", testcase.Resume: "/pub/file.bin", testcase.Save: "/pub/file.bin", testcase.Decode: "/pub/file.bin",
		testcase.List: "/pub/", testcase.Tree: "/pub/", testcase.Show: "/pub/", testcase.Deploy: "/", testcase.Upload: "/new.bin",
	}
	target := r.fields["url"]
	if target == "" {
		target = usual[run.Task]
	}
	fill := []string{"{dir}", (&url.URL{Path: "/" + strings.TrimPrefix(filepath.ToSlash(run.Client.Dir), "/")}).EscapedPath()}
	for i, srv := range run.Servers {
		fill = append(fill, fmt.Sprintf("{server%d}", i+1), srv.Addr)
	}
	run.Client.URL = strings.NewReplacer(fill...).Replace(target)
	if strings.HasPrefix(target, "/") && len(run.Servers) > 0 {
		run.Client.URL = run.Servers[0].URL + run.Client.URL
	}
	if run.Task == testcase.Deploy {
		u, err := url.Parse(run.Client.URL)
		testcase.Check(err)
		if run.Goal.Base = strings.Trim(u.Path, "/"); run.Goal.Base == "" {
			run.Goal.Base = "."
		}
	}
	for _, srv := range run.Servers {
		if pem := srv.CA(); pem != nil {
			run.Client.Trust(pem)
			break
		}
	}
}

// login sets the user and the password, which the URL has, too.
func (r *report) login(client *testcase.Environment) {
	user, password, ok := strings.Cut(r.fields["login"], ":")
	if !ok {
		return
	}
	client.User, client.Password = user, password
	scheme, rest, _ := strings.Cut(client.URL, "://")
	client.URL = scheme + "://" + url.UserPassword(user, password).String() + "@" + rest
}

// content writes the files of the client, and sets what it is to achieve.
func (r *report) content(run *testcase.Run) {
	if local := r.localFiles(); run.Task == testcase.Deploy { // the run writes them
		run.Goal.Files = octetsOf(local)
	} else {
		writeAll(run.Client.Dir, local)
	}
	home := make(map[string]control.File)
	r.decode("home", &home)
	writeAll(run.Client.Home, home)
	if data, ok := r.octets("input", "input"); ok {
		testcase.Check(os.WriteFile(run.Client.In, data, 0o600))
	}
	goal := &run.Goal
	switch run.Task {
	case testcase.Download, testcase.Resume, testcase.Decode, testcase.Unpack, testcase.Save:
		goal.Document = r.served(run)
	case testcase.Upload:
		if goal.Document, _ = r.octets("document", "local/document"); goal.Document == nil {
			goal.Document = testcase.Octets(1000)
		}
		goal.Stored = func() ([]byte, error) { return stored(run.Servers[0], run.Client.URL) }
	case testcase.List:
		r.decode("names", &goal.Names)
	}
	if r.fields["same"] == "text" {
		goal.Same = testcase.SameText
	}
	if data, ok := r.octets("or", ""); ok {
		usual := goal.Same
		goal.Same = func(got, want []byte) bool { return usual(got, want) || usual(got, data) }
	}
	if run.Task == testcase.Resume {
		goal.Begun, goal.Begins = r.begun(len(goal.Document))
	}
}

// begun returns how much the client has of a document of a size, or what it has instead.
func (r *report) begun(size int) (n int, instead []byte) {
	text := r.fields["begun"]
	if n, err := strconv.Atoi(text); err == nil {
		return n, nil
	}
	if text == "" {
		return size / 3, nil
	}
	instead, err := file(text)
	testcase.Check(err)
	return 0, instead
}

// served returns the document that the client is to get: what the case says, or what the first server
// has under the name.
func (r *report) served(run *testcase.Run) []byte {
	if data, ok := r.octets("document", "want/document"); ok {
		return data
	}
	if len(run.Servers) == 0 {
		return nil
	}
	name, err := nameIn(run.Client.URL)
	testcase.Check(err)
	data, _ := fs.ReadFile(run.Servers[0].Files(), name)
	return data
}

// stored returns what a server has under the name in a URL.
func stored(srv *testserver.Server, text string) ([]byte, error) {
	name, err := nameIn(text)
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(srv.Files(), name)
}

// nameIn returns the name of the file of a URL as fs has it.
func nameIn(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", err
	}
	return strings.Trim(path.Clean(u.Path), "/"), nil
}

// localFiles returns what is in Dir at the beginning.
func (r *report) localFiles() map[string]control.File {
	all := make(map[string]control.File)
	r.decode("local", &all)
	for name, data := range r.files {
		if name, ok := strings.CutPrefix(name, "local/"); ok {
			all[name] = control.FileOf(data)
		}
	}
	return all
}

// writeAll writes files below a folder.
func writeAll(dir string, all map[string]control.File) {
	for name, f := range all {
		file := filepath.Join(dir, filepath.FromSlash(name))
		testcase.Check(os.MkdirAll(filepath.Dir(file), 0o700))
		testcase.Check(os.WriteFile(file, f.Octets(), 0o600))
		if !f.Modified.IsZero() {
			testcase.Check(os.Chtimes(file, time.Time{}, f.Modified))
		}
	}
}

// change changes the first server before the client does the task once more.
func (r *report) change(srv *testserver.Server) error {
	var then struct {
		Files  map[string]control.File `json:"files"`
		Remove []string                `json:"remove"`
		Faults []struct {
			Stage  string             `json:"stage"`
			N      int                `json:"n"`
			Faults []testserver.Named `json:"faults"`
		} `json:"faults"`
	}
	if err := json.Unmarshal([]byte(r.fields["then"]), &then); err != nil {
		return fmt.Errorf("then: %w", err)
	}
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
