package deploy_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/deploy"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// A state that is kept for the user decides what is deleted, and leaves nothing in the folder, also
// if the folder is the one in which the user's states are.
func TestUploadStateDir(t *testing.T) {
	for _, where := range []string{"elsewhere", "in the folder"} {
		t.Run(where, func(t *testing.T) {
			srv := ftptest.New(t)
			m := upload(t, srv.URL+"/site/", map[string]string{"index.html": "index", "old": "old"})
			states := t.TempDir()
			if where != "elsewhere" {
				states = filepath.Join(m.Dir, "states")
			}
			m.StateDir, m.Delete = states, true
			ran(t, m, deploy.Summary{New: 2})
			if err := os.Remove(filepath.Join(m.Dir, "old")); err != nil {
				t.Fatal(err)
			}
			ran(t, m, deploy.Summary{Unchanged: 1, Gone: 1})
			hasFiles(t, srv, "site", map[string]string{"index.html": "index"})
			if _, err := os.Stat(filepath.Join(m.Dir, deploy.Folder)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a state in the folder: %v", err)
			}
			entries, err := os.ReadDir(states)
			if err != nil || len(entries) != 1 {
				t.Errorf("%v, %v", entries, err)
			}

			// Another URL has another state, and another folder too.
			m.Start = locate(t, srv.URL+"/two/")
			ran(t, m, deploy.Summary{New: 1})
			other := upload(t, srv.URL+"/site/", map[string]string{"more": "more"})
			other.StateDir, other.Delete = states, true
			ran(t, other, deploy.Summary{New: 1})
			hasFiles(t, srv, "site", map[string]string{"index.html": "index", "more": "more"})

			// A file that is named is used, and is not sent.
			m.State = filepath.Join(m.Dir, "mine.jsonl")
			ran(t, m, deploy.Summary{Unchanged: 1})
			ran(t, m, deploy.Summary{Unchanged: 1})
		})
	}
}

// The state in a folder stays in use: what it knows can be deleted.
func TestUploadStateStaysInTheFolder(t *testing.T) {
	srv := ftptest.New(t)
	m := upload(t, srv.URL+"/site/", map[string]string{"index.html": "index", "old": "old"})
	m.Delete = true
	ran(t, m, deploy.Summary{New: 2})
	m.StateDir = filepath.Join(t.TempDir(), "states")
	if err := os.Remove(filepath.Join(m.Dir, "old")); err != nil {
		t.Fatal(err)
	}
	ran(t, m, deploy.Summary{Unchanged: 1, Gone: 1})
	if entries, err := os.ReadDir(m.StateDir); err == nil && len(entries) > 0 {
		t.Errorf("a second state: %v", entries)
	}
}

// A folder that has been moved is compared, and the old state is named. Nothing is deleted until the
// user has said that it is that of this folder.
func TestUploadOfMovedFolder(t *testing.T) {
	srv := ftptest.New(t)
	m := upload(t, srv.URL+"/site/", map[string]string{"index.html": "index", "old": "old"})
	m.Dir = filepath.Join(m.Dir, "before")
	write(t, m.Dir, map[string]string{"index.html": "index", "old": "old"})
	m.StateDir, m.Delete = t.TempDir(), true
	ran(t, m, deploy.Summary{New: 2})
	after := filepath.Join(t.TempDir(), "after")
	if err := errors.Join(os.Rename(m.Dir, after), os.Remove(filepath.Join(after, "old"))); err != nil {
		t.Fatal(err)
	}
	m.Dir = after
	var from, to string
	m.Report = func(e deploy.Event) {
		if e.Action != deploy.Noted {
			return
		}
		text := strings.TrimPrefix(e.Err.Error(), "this folder has no state yet; ")
		from, _, _ = strings.Cut(text, " is that of ")
		_, to, _ = strings.Cut(text, "rename that file to ")
	}
	ran(t, m, deploy.Summary{Unchanged: 1})
	hasFiles(t, srv, "site", map[string]string{"index.html": "index", "old": "old"})
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
	ran(t, m, deploy.Summary{Unchanged: 1, Gone: 1})
	hasFiles(t, srv, "site", map[string]string{"index.html": "index"})
}

// A temporary file that a server lists, and does not delete, is not forgotten, although the server refuses
// SIZE for all files by the reply for one that does not exist.
func TestUploadKeepsRecordOfPart(t *testing.T) {
	const part = "fetch1738-000000000000000000000000.part"
	srv := ftptest.New(t)
	m := upload(t, srv.URL, map[string]string{"a": "a"})
	m.State = filepath.Join(t.TempDir(), "state")
	ran(t, m, deploy.Summary{New: 1})
	text, err := os.ReadFile(m.State)
	if err != nil {
		t.Fatal(err)
	}
	line := `{"url":"` + srv.URL + `/gone","file":"gone","size":1,"part":"` + part + `","time":"2020-01-01T00:00:00Z"}` + "\n"
	err = os.WriteFile(m.State, append(text, line...), 0o666)
	if err = errors.Join(err, srv.Put(part, []byte("x"))); err != nil {
		t.Fatal(err)
	}
	srv.On("DELE", 0, testserver.Reply("550 Permission denied."))
	srv.On("SIZE", 0, testserver.Reply("550 Permission denied."))
	if sum, err := m.Run(t.Context()); err == nil || sum.Failed != 1 {
		t.Errorf("%v, %+v", err, sum)
	}
	srv.ResetFaults()
	ran(t, m, deploy.Summary{Unchanged: 1})
	hasFiles(t, srv, ".", map[string]string{"a": "a"})
}

// The state is that of a user of the server, with or without the password in the URL. Another user has
// another one, and deletes nothing that the first one has sent.
func TestStateOfUser(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Users = map[string]testserver.User{"ann": {Password: "a"}, "bob": {Password: "b"}}
	})
	m := upload(t, srv.URL, map[string]string{"a": "a", "b": "b"})
	m.StateDir = filepath.Join(t.TempDir(), "states")
	r := m.Fetcher.(*fetch1738.Resolver)
	r.Env.Credentials = func(context.Context, fetch.Challenge) (locator.Login, error) {
		return locator.Login{User: "ann", Password: "a", HasPassword: true}, nil
	}
	as := func(login *locator.Login, want deploy.Summary) {
		t.Helper()
		m.Start, _ = locator.WithLogin(m.Start, login)
		ran(t, m, want)
	}
	as(&locator.Login{User: "ann", Password: "a", HasPassword: true}, deploy.Summary{New: 2})
	as(&locator.Login{User: "ann"}, deploy.Summary{Unchanged: 2})
	if err := os.Remove(filepath.Join(m.Dir, "b")); err != nil {
		t.Fatal(err)
	}
	m.Delete = true
	as(&locator.Login{User: "bob", Password: "b", HasPassword: true}, deploy.Summary{Unchanged: 1})
	as(&locator.Login{User: "ann"}, deploy.Summary{Unchanged: 1, Gone: 1})
}

// What is wrong is found in this order: the patterns, the folder, the state, the ignore file.
func TestUploadOrderOfErrors(t *testing.T) {
	m := upload(t, "file:///nowhere/", map[string]string{deploy.IgnoreFile: "[\n"})
	site, state := m.Dir, filepath.Join(t.TempDir(), "no", "state")
	m.Dir, m.State, m.Exclude = filepath.Join(site, "missing"), state, []string{"["}
	for _, step := range []struct {
		want string
		mend func()
	}{
		{`"["`, func() { m.Exclude = nil }},
		{"missing", func() { m.Dir = site }},
		{state, func() { m.State = filepath.Join(t.TempDir(), "state") }},
		{deploy.IgnoreFile, func() {}},
	} {
		if _, err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), step.want) {
			t.Errorf("%v, want one about %s", err, step.want)
		}
		step.mend()
	}
}
