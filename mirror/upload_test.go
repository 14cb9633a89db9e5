package mirror_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/simdisk"
)

// upload returns a Mirror that brings files to url.
func upload(t *testing.T, url string, files map[string]string) *mirror.Mirror {
	t.Helper()
	m := start(t, url)
	write(t, m.Dir, files)
	m.Upload, m.Connections = new(mirror.Upload), 2
	return m
}

// stored returns the files of a server below a directory, and its empty directories with a slash.
func stored(t *testing.T, srv interface{ Files() fs.FS }, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := fs.WalkDir(srv.Files(), dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		below := strings.TrimPrefix(name, dir+"/")
		if dir == "." {
			below = name
		}
		if e.IsDir() {
			entries, err := fs.ReadDir(srv.Files(), name)
			if len(entries) == 0 {
				files[below+"/"] = ""
			}
			return err
		}
		b, err := fs.ReadFile(srv.Files(), name)
		files[below] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func hasFiles(t *testing.T, srv interface{ Files() fs.FS }, dir string, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, stored(t, srv, dir)); diff != "" {
		t.Errorf("the server differs (-want +got):\n%s", diff)
	}
}

// commands returns the commands with one of the verbs that clients have sent since the last call.
func commands(srv *ftptest.Server, verbs ...string) (lines []string) {
	for _, line := range srv.Transcript().From(testserver.FromClient) {
		if verb, _, _ := strings.Cut(line, " "); slices.Contains(verbs, verb) {
			lines = append(lines, line)
		}
	}
	srv.ResetTranscript()
	return lines
}

// events makes m record its events as "action file", but for the progress.
func events(m *mirror.Mirror) func() []string {
	var list []string
	m.Report = func(e mirror.Event) {
		switch e.Action {
		case mirror.Listed, mirror.Planned, mirror.Started, mirror.Progress:
		default:
			list = append(list, strings.TrimSpace(e.Action.String()+" "+e.File))
		}
	}
	return func() []string {
		all := list
		list = nil
		slices.Sort(all)
		return all
	}
}

// failure returns the error of the first Failed event of a run.
func failure(t *testing.T, m *mirror.Mirror) error {
	t.Helper()
	_, err := m.Run(t.Context())
	if err == nil {
		t.Error("the run succeeds")
	}
	return err
}

var site = map[string]string{"index.html": "<a href=a/b>", "a/b": "b", "a/c/d e": "d", "a/c/\u00f6": "latin", "empty": ""}

func TestUpload(t *testing.T) {
	srv := ftptest.New(t)
	m := upload(t, srv.URL+"/new/site", site)
	if err := os.Mkdir(filepath.Join(m.Dir, "nothing"), 0o777); err != nil {
		t.Fatal(err)
	}
	ran(t, m, mirror.Summary{New: 5})
	want := map[string]string{"nothing/": ""}
	for name, text := range site {
		want[name] = text
	}
	hasFiles(t, srv, "new/site", want)
	for _, line := range commands(srv, "STOR", "APPE") {
		if !strings.HasSuffix(line, ".part") {
			t.Errorf("%s: a file is visible before it is complete", line)
		}
	}
	info, err := fs.Stat(srv.Files(), "new/site/a/b")
	if err != nil || !info.ModTime().Equal(modified) {
		t.Errorf("%v, %v; want the time %v", info, err, modified)
	}

	ran(t, m, mirror.Summary{Unchanged: 5})
	if got := commands(srv, "STOR", "RETR", "RNTO", "DELE", "MKD", "MFMT"); got != nil {
		t.Errorf("an unchanged tree: %q", got)
	}

	write(t, m.Dir, map[string]string{"a/b": "B"}) // the same size and time
	if err := os.Chtimes(filepath.Join(m.Dir, "a/b"), modified, modified.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	ran(t, m, mirror.Summary{Changed: 1, Unchanged: 4})
	want["a/b"] = "B"
	hasFiles(t, srv, "new/site", want)

	if err := os.RemoveAll(filepath.Join(m.Dir, "a/c")); err != nil {
		t.Fatal(err)
	}
	ran(t, m, mirror.Summary{Unchanged: 3, Gone: 2})
	m.Delete = true
	ran(t, m, mirror.Summary{Unchanged: 3, Gone: 2})
	delete(want, "a/c/d e")
	delete(want, "a/c/\u00f6")
	hasFiles(t, srv, "new/site", want)
	ran(t, m, mirror.Summary{Unchanged: 3})
}

// The first run to a server that has files sends only those that differ, and leaves the rest alone.
func TestUploadToFull(t *testing.T) {
	then := modified.Add(-time.Hour)
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{
			"same":      {Data: []byte("same"), ModTime: modified},
			"sameold":   {Data: []byte("equal"), ModTime: then},
			"differs":   {Data: []byte("theirs"), ModTime: then},
			"longer":    {Data: []byte("longer"), ModTime: modified},
			"of others": {Data: []byte("x"), ModTime: then},
		}
	})
	m := upload(t, srv.URL, map[string]string{"same": "same", "sameold": "equal", "differs": "ours!!", "longer": "short", "new": "new"})
	m.Delete = true
	ran(t, m, mirror.Summary{New: 1, Changed: 2, Unchanged: 2})
	if got := commands(srv, "RETR"); !slices.Equal(got, []string{"RETR differs", "RETR sameold"}) && !slices.Equal(got, []string{"RETR sameold", "RETR differs"}) {
		t.Errorf("fetched to compare: %q", got)
	}
	hasFiles(t, srv, ".", map[string]string{"same": "same", "sameold": "equal", "differs": "ours!!", "longer": "short", "new": "new", "of others": "x"})
	ran(t, m, mirror.Summary{Unchanged: 5})
	if got := commands(srv, "RETR", "STOR"); got != nil {
		t.Errorf("the second run: %q", got)
	}
	for _, name := range []string{"same", "sameold", "differs"} { // no run has put the first two there
		if err := os.Remove(filepath.Join(m.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	ran(t, m, mirror.Summary{Unchanged: 2, Gone: 1})
	hasFiles(t, srv, ".", map[string]string{"same": "same", "sameold": "equal", "longer": "short", "new": "new", "of others": "x"})
}

// A dry run changes nothing, here or there.
func TestUploadDryRun(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a/b": {Data: []byte("x")}, "empty": {}}
	})
	m := upload(t, srv.URL, site)
	m.DryRun, m.Delete = true, true
	happened := events(m)
	if _, err := m.Run(t.Context()); err != nil {
		t.Error(err)
	}
	want := []string{"check a/b", "check empty", "new a/c/d e", "new a/c/\u00f6", "new index.html"}
	if got := happened(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := commands(srv, "STOR", "MKD", "RETR", "RNFR"); got != nil {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(m.Dir, mirror.Folder)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a state: %v", err)
	}
	m.Start = start(t, srv.URL+"/not/there/").Start
	if sum, err := m.Run(t.Context()); err != nil || sum.New != 5 {
		t.Errorf("a directory that does not exist: %+v, %v", sum, err)
	}
}

// --delete deletes only what a run has put there, and nobody has changed since.
func TestUploadDelete(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"theirs": {Data: []byte("t")}} })
	m := upload(t, srv.URL, map[string]string{"keep": "k", "old": "old", "changed": "mine", "dir/x": "x", "dir/y": "y", "hidden/z": "z", "deep/er/file": "f"})
	m.Delete = true
	ran(t, m, mirror.Summary{New: 7})
	if err := srv.PutModified("changed", []byte("ours"), modified.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"old", "changed", "dir", "hidden"} {
		if err := os.RemoveAll(filepath.Join(m.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	m.Exclude = []string{"hidden/"}
	m.MaxDelete = -1
	happened := events(m)
	if _, err := m.Run(t.Context()); err != nil {
		t.Error(err)
	}
	want := []string{"deleted dir/x", "deleted dir/y", "deleted old", "gone changed", "unchanged deep/er/file", "unchanged keep"}
	if got := happened(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	left := map[string]string{"keep": "k", "changed": "ours", "theirs": "t", "hidden/z": "z", "deep/er/file": "f"}
	hasFiles(t, srv, ".", left)
	m.Depth = 2 // what is not looked at here is not gone
	ran(t, m, mirror.Summary{Unchanged: 1, Gone: 1})
	hasFiles(t, srv, ".", left)
}

// A folder that has become empty is no reason to delete what was sent from it, nor are too many
// files.
func TestUploadMaxDelete(t *testing.T) {
	srv := ftptest.New(t)
	files := map[string]string{"top": "t", "dir/a": "a", "dir/b": "b"}
	for i := range 10 {
		files[fmt.Sprintf("many/%d", i)] = "x"
	}
	m := upload(t, srv.URL, files)
	m.Delete = true
	ran(t, m, mirror.Summary{New: 13})
	remove := func(pattern string) {
		names, err := filepath.Glob(filepath.Join(m.Dir, pattern))
		for _, name := range names {
			err = errors.Join(err, os.Remove(name))
		}
		if err != nil || names == nil {
			t.Fatal(names, err)
		}
	}
	remove("dir/?")
	ran(t, m, mirror.Summary{Unchanged: 11, Kept: 2, Failed: 1})
	if err := failure(t, m); !errors.Is(err, mirror.ErrMaxDelete) || !strings.Contains(err.Error(), "Mirror.MaxDelete 2") {
		t.Error(err)
	}
	remove("many/[0-6]") // with those of dir more than half, and without them, too
	happened := events(m)
	if err := failure(t, m); !errors.Is(err, mirror.ErrMaxDelete) || !strings.Contains(err.Error(), "9 of 13 files") {
		t.Error(err)
	}
	if all := happened(); slices.ContainsFunc(all, func(e string) bool { return strings.HasPrefix(e, "deleted") }) {
		t.Errorf("%q", all)
	}
	m.Report = nil
	hasFiles(t, srv, ".", files)
	m.MaxDelete = 8
	ran(t, m, mirror.Summary{Unchanged: 4, Kept: 9, Failed: 1})
	hasFiles(t, srv, ".", files)
	m.MaxDelete = 9
	ran(t, m, mirror.Summary{Unchanged: 4, Gone: 9})
	hasFiles(t, srv, ".", map[string]string{"top": "t", "many/7": "x", "many/8": "x", "many/9": "x", "dir/": ""})
	remove("many/[7-9]")
	remove("top")
	m.MaxDelete = 0
	ran(t, m, mirror.Summary{Kept: 4, Failed: 2})
}

// If something has failed, nothing is deleted.
func TestUploadDeletesNothingAfterFailure(t *testing.T) {
	srv := ftptest.New(t)
	m := upload(t, srv.URL, map[string]string{"a": "a", "b": "b", "c": "c"})
	ran(t, m, mirror.Summary{New: 3})
	if err := os.Remove(filepath.Join(m.Dir, "a")); err != nil {
		t.Fatal(err)
	}
	write(t, m.Dir, map[string]string{"b": "bbb"})
	srv.On("STOR", 1, testserver.Reply("552 No space."))
	m.Delete = true
	ran(t, m, mirror.Summary{Unchanged: 1, Kept: 1, Failed: 1, Missing: 1})
	hasFiles(t, srv, ".", map[string]string{"a": "a", "b": "b", "c": "c"})
	ran(t, m, mirror.Summary{Changed: 1, Unchanged: 1, Gone: 1})
	hasFiles(t, srv, ".", map[string]string{"b": "bbb", "c": "c"})
}

// A file that the server does not delete has failed, and a later run tries it again: also if the
// reply is the one for a file that does not exist, as that of vsftpd always is.
func TestUploadDeleteRefused(t *testing.T) {
	for _, reply := range []string{"550 Permission denied.", "550 Delete operation failed.", "450 Busy."} {
		t.Run(reply, func(t *testing.T) {
			srv := ftptest.New(t)
			m := upload(t, srv.URL, map[string]string{"a": "a", "b": "b", "dir/c": "c", "dir/d": "d"})
			ran(t, m, mirror.Summary{New: 4})
			for _, name := range []string{"b", "dir/c"} {
				if err := os.Remove(filepath.Join(m.Dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			m.Delete = true
			srv.On("DELE b", 1, testserver.Reply(reply))
			ran(t, m, mirror.Summary{Unchanged: 2, Gone: 1, Failed: 1})
			hasFiles(t, srv, ".", map[string]string{"a": "a", "b": "b", "dir/d": "d"})
			ran(t, m, mirror.Summary{Unchanged: 2, Gone: 1})
			hasFiles(t, srv, ".", map[string]string{"a": "a", "dir/d": "d"})
		})
	}
	srv := ftptest.New(t, ftptest.VSFTPD) // which does not list it
	m := upload(t, srv.URL, map[string]string{".a": "a", "b": "b"})
	ran(t, m, mirror.Summary{New: 2})
	if err := os.Remove(filepath.Join(m.Dir, ".a")); err != nil {
		t.Fatal(err)
	}
	m.Delete = true
	srv.On("DELE .a", 1, testserver.Reply("550 Delete operation failed."))
	ran(t, m, mirror.Summary{Unchanged: 1, Failed: 1})
	ran(t, m, mirror.Summary{Unchanged: 1, Gone: 1})
}

// What a listing with lines that are not understood does not list is not known to be gone: a later
// run deletes it.
func TestUploadUnreadListing(t *testing.T) {
	srv := ftptest.New(t)
	m := upload(t, srv.URL, map[string]string{"a": "a", "b": "b", "dir/c": "c"})
	ran(t, m, mirror.Summary{New: 3})
	for _, name := range []string{"b", "dir"} {
		if err := os.RemoveAll(filepath.Join(m.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	m.Delete, m.MaxDelete = true, -1
	srv.On("MLSD", 1, testserver.Data("type=file;size=1;modify="+modified.Format("20060102150405")+"; a\r\nwho knows what this is\r\n"))
	srv.On("CWD dir", 1, testserver.Reply("550 Not now."))
	_, _ = m.Run(t.Context())
	hasFiles(t, srv, ".", map[string]string{"a": "a", "b": "b", "dir/c": "c"})
	if err := srv.PendingFaults(); err != nil {
		t.Error(err)
	}
	ran(t, m, mirror.Summary{Unchanged: 1, Gone: 2})
	hasFiles(t, srv, ".", map[string]string{"a": "a"})
}

// What a server does not do is done in another way, and said once.
func TestUploadToOtherServers(t *testing.T) {
	for name, tc := range map[string]struct {
		configure func(*ftptest.Server)
		noted     string // a part of it
		hidden    bool   // no file is visible before it is complete
	}{
		"no MFMT":   {func(s *ftptest.Server) { s.Hide = []string{"MFMT", "SITE"} }, "times", true},
		"no SIZE":   {func(s *ftptest.Server) { s.Hide = []string{"SIZE"} }, "", true},
		"SIZE 550":  {func(s *ftptest.Server) { s.Replies = ftptest.Replies{"SIZE": "550 SIZE is not allowed."} }, "", true},
		"no MLSD":   {func(s *ftptest.Server) { s.Hide = []string{"MLSD", "MLST"} }, "", true},
		"no FEAT":   {func(s *ftptest.Server) { s.Hide = []string{"FEAT"} }, "times", true},
		"no EPSV":   {func(s *ftptest.Server) { s.Hide = []string{"EPSV"} }, "", true},
		"no RNFR":   {func(s *ftptest.Server) { s.Hide = []string{"RNFR", "RNTO"} }, "rename", false},
		"no RNTO":   {func(s *ftptest.Server) { s.Hide = []string{"RNTO"} }, "rename", false},
		"RNTO 550":  {ftptest.RenameRefused, "rename", false},
		"nodeftpd":  {ftptest.Nodeftpd, "times", true},
		"IIS":       {ftptest.IIS, "times", true},
		"vsftpd":    {ftptest.VSFTPD, "times", true},
		"ProFTPD":   {ftptest.ProFTPD, "", true},
		"Pure-FTPd": {ftptest.PureFTPd, "", true},
		"pyftpdlib": {ftptest.Pyftpdlib, "", true},
		"ftp-srv":   {ftptest.FtpSrv, "times", true},
		"Twisted":   {ftptest.Twisted, "times", true},
		"goftp":     {ftptest.GoFTP, "times", true},
	} {
		t.Run(name, func(t *testing.T) {
			srv := ftptest.New(t, tc.configure)
			m := upload(t, srv.URL, map[string]string{"a": "a", "b": "b", "dir/c": "c", "dir/d": "d"})
			notes := make(map[string]bool)
			m.Report = func(e mirror.Event) {
				if e.Action == mirror.Noted {
					if text := e.Err.Error(); notes[text] {
						t.Errorf("twice: %s", text)
					} else {
						notes[text] = true
					}
				}
			}
			ran(t, m, mirror.Summary{New: 4})
			first := keys(notes)
			clear(notes)
			write(t, m.Dir, map[string]string{"a": "aa", "dir/c": "cc"})
			ran(t, m, mirror.Summary{Changed: 2, Unchanged: 2})
			clear(notes)
			ran(t, m, mirror.Summary{Unchanged: 4})
			if err := os.Remove(filepath.Join(m.Dir, "dir/d")); err != nil {
				t.Fatal(err)
			}
			m.Delete = true
			ran(t, m, mirror.Summary{Unchanged: 3, Gone: 1})
			hasFiles(t, srv, ".", map[string]string{"a": "aa", "b": "b", "dir/c": "cc"})
			if tc.noted == "" && first != "" || !strings.Contains(first, tc.noted) {
				t.Errorf("noted %q, want %q", first, tc.noted)
			}
			for _, line := range commands(srv, "STOR") {
				if tc.hidden != strings.HasSuffix(line, ".part") && !strings.HasSuffix(line, ".part") {
					t.Error(line)
				}
			}
		})
	}
}

// A server that refuses to rename has the tree in the end, whatever its reply, what it had, and the
// order. The next run sends nothing.
func TestUploadToServerWithoutRename(t *testing.T) {
	local := map[string]string{"a": "new a", "b": "new b", "dir/c": "new c", "dir/d": "new d", "dir/e": "new e"}
	before := map[string]map[string]string{
		"new": {}, "changed": {"a": "old", "b": "old", "dir/c": "old", "dir/d": "old", "dir/e": "old"}, "both": {"b": "old", "dir/d": "old", "dir/other": "theirs"},
	}
	for _, reply := range []string{"550 Rename failed.", "550 Permission denied.", "553 Can't rename file.", "501 No.", "504 No.", "551 No."} {
		for has, files := range before {
			for _, way := range []string{"1 connection", "4 connections", "changed first", "no DELE", "no SIZE"} {
				t.Run(strings.Join([]string{reply, has, way}, " "), func(t *testing.T) {
					srv := ftptest.New(t, ftptest.RenameRefused, func(s *ftptest.Server) {
						s.Replies["RNTO"], s.Content = reply, contentOf(files)
						switch way {
						case "no DELE":
							s.Replies["DELE"] = "550 Permission denied."
						case "no SIZE":
							s.Hide = []string{"SIZE", "MLSD", "MLST"}
						}
					})
					m := upload(t, srv.URL, local)
					switch way {
					case "1 connection":
						m.Connections = 1
					case "4 connections":
						m.Connections = 4
					case "changed first":
						m.Upload.Order = []string{"a", "c", "e"} // which "both" does not have
					}
					want, changed := maps.Clone(local), 0
					for name, text := range files {
						if want[name] == "" {
							want[name] = text
						} else {
							changed++
						}
					}
					sum, err := m.Run(t.Context())
					got, left := stored(t, srv, "."), 0
					if way == "no DELE" { // what cannot be removed is a failure
						maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasSuffix(name, ".part") })
						left = len(stored(t, srv, ".")) - len(got)
					}
					if first := (mirror.Summary{New: len(local) - changed, Changed: changed, Failed: left}); counts(sum) != first || (err != nil) != (left > 0) {
						t.Errorf("%+v, %v; want %+v", counts(sum), err, first)
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("the server differs (-want +got):\n%s", diff)
					}
					srv.ResetTranscript()
					ran(t, m, mirror.Summary{Unchanged: len(local), Failed: left})
					if sent := commands(srv, "STOR", "RNFR"); sent != nil {
						t.Errorf("the second run: %q", sent)
					}
				})
			}
		}
	}
}

// contentOf returns files that were modified some time ago.
func contentOf(files map[string]string) fstest.MapFS {
	content := make(fstest.MapFS)
	for name, text := range files {
		content[name] = &fstest.MapFile{Data: []byte(text), ModTime: modified}
	}
	return content
}

// A name that the server refuses for another reason than that it does not rename fails, and the
// others are stored as on any server.
func TestUploadOfRefusedName(t *testing.T) {
	for _, reply := range []string{"550 Rename failed.", "553 Name not allowed.", "552 Quota exceeded.", "501 Invalid name.", "450 Busy."} {
		for _, name := range []string{"a", "c"} { // renamed before the others, and after them
			for _, connections := range []int{1, 4} {
				t.Run(fmt.Sprint(reply, name, connections), func(t *testing.T) {
					srv := ftptest.New(t)
					m := upload(t, srv.URL, map[string]string{"a": "a", "b": "b", "c": "c"})
					m.Connections = connections
					srv.On("RNTO "+name, 0, testserver.Reply(reply))
					if reply[0] == '5' {
						srv.On("STOR "+name, 0, testserver.Reply("553 Name not allowed."))
					}
					ran(t, m, mirror.Summary{New: 2, Failed: 1, Missing: 1})
					want := map[string]string{"a": "a", "b": "b", "c": "c"}
					delete(want, name)
					hasFiles(t, srv, ".", want)
					for _, line := range commands(srv, "STOR") {
						if line != "STOR "+name && !strings.HasSuffix(line, ".part") {
							t.Errorf("%s: a file is visible before it is complete", line)
						}
					}
				})
			}
		}
	}
}

// A name that can be stored, but not renamed to, does not keep the others from being renamed.
func TestUploadOfNameThatIsNotRenamed(t *testing.T) {
	srv := ftptest.New(t)
	files := map[string]string{"a/1": "1", "b/2": "2", "c/3": "3"} // three batches
	m := upload(t, srv.URL, files)
	m.Connections = 1
	srv.On("RNTO 2", 0, testserver.Reply("553 Name not allowed."))
	ran(t, m, mirror.Summary{New: 3})
	hasFiles(t, srv, ".", files)
	for _, line := range commands(srv, "STOR") {
		if line != "STOR 2" && !strings.HasSuffix(line, ".part") {
			t.Errorf("%s: a file is visible before it is complete", line)
		}
	}
	ran(t, m, mirror.Summary{Unchanged: 3})
}

// What breaks off while it is stored under its name is sent again by the next run, also if the
// folder has the file of before by then, and the listing does not show that it was replaced.
func TestUploadCutWithoutRename(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", 16<<10)
	for name, fault := range map[string]ftptest.Fault{"reset": testserver.Reset(1), "cut": testserver.Truncate(1), "kept": ftptest.Keep(1)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := ftptest.New(t, ftptest.RenameRefused, ftptest.NoMLSD, func(s *ftptest.Server) { s.InMemory = true })
				m := upload(t, srv.URL, map[string]string{"a": large, "b": "b"})
				r := &fetch1738.Resolver{Env: fetch.Env{Dial: srv.Dial}}
				defer r.Close()
				m.Fetcher, m.Connections = r, 1
				srv.On("STOR a", 1, fault)
				failure(t, m)
				if got := stored(t, srv, "."); len(got["a"]) == len(large) {
					t.Fatal("the fault has no effect")
				}
				ran(t, m, mirror.Summary{Changed: 1, Unchanged: 1})
				hasFiles(t, srv, ".", map[string]string{"a": large, "b": "b"})
				ran(t, m, mirror.Summary{Unchanged: 2})

				write(t, m.Dir, map[string]string{"b": "cc", "new": "new"}) // "new" shows that the server does not rename
				srv.On("STOR b", 1, fault)
				failure(t, m)
				write(t, m.Dir, map[string]string{"b": "b"})
				if _, err := m.Run(t.Context()); err != nil {
					t.Error(err)
				}
				hasFiles(t, srv, ".", map[string]string{"a": large, "b": "b", "new": "new"})
			})
		})
	}
}

// A message says that a file is stored under its name, or that the old one is deleted first, before
// half of it is there, or none. So the user knows it whatever happens then.
func TestUploadSaysFirst(t *testing.T) {
	const direct, deletes = "are stored under their names", "is deleted first"
	for name, tc := range map[string]struct {
		stage, reply string
		n            int    // 0: always
		direct       string // a file that is stored under its name
		said         []string
	}{
		"RNFR":             {"RNFR", "530 Not logged in.", 1, "a", []string{direct}},
		"RNTO":             {"RNTO a", "553 Name not allowed.", 1, "a", []string{direct}},
		"RNTO of all":      {"RNTO", "550 Permission denied.", 0, "a", []string{direct}},
		"RNTO unknown":     {"RNTO", "502 Unknown command.", 0, "a", []string{direct}},
		"RNTO over a file": {"RNTO b", "550 File exists.", 0, "b", []string{direct, deletes}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = contentOf(map[string]string{"b": "old"}) })
			srv.On(tc.stage, tc.n, testserver.Reply(tc.reply))
			srv.On("STOR "+tc.direct, 1, ftptest.Keep(1))
			files := map[string]string{"a": "text a", "b": "text b"}
			m := upload(t, srv.URL, files)
			f := &meddler{Resolver: m.Fetcher.(*fetch1738.Resolver)}
			var mu sync.Mutex
			var said string // all messages so far
			m.Report = func(e mirror.Event) {
				mu.Lock()
				defer mu.Unlock()
				if e.Action == mirror.Noted {
					said += e.Err.Error() + "\n"
				}
			}
			f.change = func(to locator.Locator) {
				mu.Lock()
				defer mu.Unlock()
				for _, text := range tc.said {
					if !strings.HasSuffix(to.String(), ".part") && !strings.Contains(said, text) {
						t.Errorf("%s is stored, and what was said is %q", to, said)
					}
				}
			}
			m.Fetcher = f
			if err := failure(t, m); !errors.Is(err, fetch.ErrTruncated) {
				t.Error(err)
			}
			if _, err := m.Run(t.Context()); err != nil {
				t.Error(err)
			}
			hasFiles(t, srv, ".", files)
		})
	}
}

// keys returns the keys of a set in order, as one text.
func keys(m map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(m)), "; ") }

// A file that a server stores in part is not renamed, and its next upload is whole.
func TestUploadIsChecked(t *testing.T) {
	refused := ftptest.Replies{"SIZE": "550 SIZE is not allowed."}
	for name, hide := range map[string][]string{"SIZE": nil, "listing": {"SIZE"}, "content": {"SIZE", "MLSD", "MLST", "LIST"}, "SIZE 550": nil} {
		t.Run(name, func(t *testing.T) {
			srv := ftptest.New(t, func(s *ftptest.Server) {
				s.Content, s.Hide = fstest.MapFS{"b": {Data: []byte("old")}}, hide
				if name == "SIZE 550" {
					s.Replies = refused
				}
			})
			m := upload(t, srv.URL, map[string]string{"a": "new text", "b": "changed text"})
			srv.On("STOR", 1, ftptest.Keep(3))
			srv.On("STOR", 2, ftptest.Keep(0))
			if err := failure(t, m); !errors.Is(err, fetch.ErrTruncated) {
				t.Error(err)
			}
			hasFiles(t, srv, ".", map[string]string{"b": "old"})
			ran(t, m, mirror.Summary{New: 1, Changed: 1})
			hasFiles(t, srv, ".", map[string]string{"a": "new text", "b": "changed text"})
		})
	}
}

// A file that is listed with another size after it has got its name has failed.
func TestUploadIsListed(t *testing.T) {
	srv := ftptest.New(t)
	m := upload(t, srv.URL, map[string]string{"a": "text"})
	srv.On("MLSD", 2, testserver.Data("type=file;size=3;modify="+modified.Format("20060102150405")+"; a\r\n"))
	if err := failure(t, m); !errors.Is(err, fetch.ErrTruncated) {
		t.Error(err)
	}
	ran(t, m, mirror.Summary{Unchanged: 1})
}

// A meddler does something before each transfer, while it is set.
type meddler struct {
	*fetch1738.Resolver
	change func(to locator.Locator)
}

func (m *meddler) Replace(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	if m.change != nil {
		m.change(req.Locator)
	}
	return m.Resolver.Replace(ctx, req, body)
}

// A file that changes while it is sent does not get its name. What was sent of it is not continued,
// also if the file is as before again.
func TestUploadOfChangingFile(t *testing.T) {
	for name, n := range map[string]int{"small": 1, "resumable": 100_000, "large": 2 << 20} {
		t.Run(name, func(t *testing.T) {
			srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"a": {Data: []byte("old")}} })
			before, then := strings.Repeat("1", n)+strings.Repeat("end", 4<<10), strings.Repeat("2", n)+strings.Repeat("end", 4<<10)
			m := upload(t, srv.URL, map[string]string{"a": before})
			f := &meddler{Resolver: m.Fetcher.(*fetch1738.Resolver)}
			changeTo := func(text string, at time.Time) {
				write(t, m.Dir, map[string]string{"a": text})
				if err := os.Chtimes(filepath.Join(m.Dir, "a"), at, at); err != nil {
					t.Error(err)
				}
			}
			f.change = func(locator.Locator) { changeTo(then, modified.Add(time.Hour)) }
			m.Fetcher = f
			ran(t, m, mirror.Summary{Failed: 1, Missing: 1})
			if got := stored(t, srv, ".")["a"]; got != "old" {
				t.Errorf("%.10q has the name of the file", got)
			}
			f.change = nil
			changeTo(before, modified.Add(2*time.Hour))
			ran(t, m, mirror.Summary{Changed: 1})
			if got := stored(t, srv, "."); got["a"] != before || len(got) > 1 {
				t.Errorf("%d files; that of %d bytes begins with %.10q", len(got), len(got["a"]), got["a"])
			}
		})
	}
}

// A file that may have changed without another time is read by the next run, until it was read late
// enough.
func TestUploadPrecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, func(s *ftptest.Server) { s.InMemory = true })
		m := start(t, srv.URL)
		r := &fetch1738.Resolver{Env: fetch.Env{Dial: srv.Dial}}
		defer r.Close()
		d := simdisk.New(simdisk.Options{})
		m.Fetcher, m.Dir, m.Upload = r, "/dir", new(mirror.Upload)
		then := time.Now()
		for _, step := range []struct {
			text  string
			reads bool
			want  mirror.Summary
		}{
			{"one", true, mirror.Summary{New: 1}},
			{"two", true, mirror.Summary{Changed: 1}},
			{"two", true, mirror.Summary{Unchanged: 1}},
			{"two", true, mirror.Summary{Unchanged: 1}}, // long after
			{"two", false, mirror.Summary{Unchanged: 1}},
			{"two", false, mirror.Summary{Unchanged: 1}},
		} {
			d.Put("/dir/a", []byte(step.text), then)
			reads := false
			p := d.Process(func(c *simdisk.Call) error {
				reads = reads || c.Op == "read" && c.Name == "/dir/a"
				return nil
			})
			if got, err := m.Run(disk.With(t.Context(), p)); err != nil || counts(got) != step.want {
				t.Errorf("%v: %+v, %v", step, got, err)
			}
			if reads != step.reads {
				t.Errorf("%v: the file was read: %v", step, reads)
			}
			p.Kill()
			if step.want.Unchanged > 0 {
				time.Sleep(time.Hour)
			}
		}
		hasFiles(t, srv, ".", map[string]string{"a": "two"})
	})
}

// A server that lists a file under another name, or not at all, has not taken it.
func TestUploadOfNames(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Hide = []string{"MLSD", "MLST"}
		s.Listing = func(l ftptest.Listing) []string {
			var lines []string
			for _, e := range l.Entries {
				name := strings.ReplaceAll(e.Name(), " ", "_")
				if name != "lost" && name[0] != '.' {
					lines = append(lines, fmt.Sprintf("-rw-r--r-- 1 ftp ftp %d Jan 01 2020 %s", e.Size(), name))
				}
			}
			return lines
		}
	})
	m := upload(t, srv.URL, map[string]string{"good": "g", "a b": "ab", "lost": "l", ".htaccess": "deny"})
	var texts []string
	m.Report = func(e mirror.Event) {
		if e.Action == mirror.Failed {
			texts = append(texts, e.File+": "+e.Err.Error())
		}
	}
	ran(t, m, mirror.Summary{New: 4, Failed: 2, Missing: 2})
	if all := strings.Join(texts, "\n"); !strings.Contains(all, `lists it as "a_b"`) || !strings.Contains(all, "does not list it") {
		t.Error(all)
	}
	if runtime.GOOS != "windows" {
		write(t, m.Dir, map[string]string{"a\rb": "x"})
		srv.ResetTranscript()
		m.Include = []string{"a?b"}
		m.Exclude = []string{"a b"}
		if err := failure(t, m); !errors.Is(err, fetch.ErrBadURL) {
			t.Error(err)
		}
		if got := commands(srv, "STOR"); got != nil {
			t.Error(got)
		}
	}
}

// A directory with files of others is not deleted, nor does the server have to decide that: some delete all
// that is in it. If a listing may leave out files whose names begin with a dot, no directory counts as empty.
func TestUploadKeepsDirectories(t *testing.T) {
	t.Run("hidden files", func(t *testing.T) {
		srv := ftptest.New(t, func(s *ftptest.Server) { s.Hide = []string{"MLSD", "MLST"} })
		srv.On("LIST -a", 0, testserver.Reply("550 no such file"))
		m := upload(t, srv.URL+"/site", map[string]string{"x": "x", "a/y": "y"})
		m.Delete, m.MaxDelete = true, -1
		ran(t, m, mirror.Summary{New: 2})
		if err := os.RemoveAll(filepath.Join(m.Dir, "a")); err != nil {
			t.Fatal(err)
		}
		ran(t, m, mirror.Summary{Unchanged: 1, Gone: 1})
		if got := commands(srv, "RMD"); len(got) > 0 {
			t.Error(got)
		}
	})
	srv := ftptest.New(t)
	m := upload(t, srv.URL+"/site", map[string]string{"x": "x", "a/y": "y", "b/z": "z"})
	m.Delete, m.MaxDelete = true, -1
	ran(t, m, mirror.Summary{New: 3})
	if err := srv.Put("site/a/theirs", []byte("not ours")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a", "b"} {
		if err := os.RemoveAll(filepath.Join(m.Dir, dir)); err != nil {
			t.Fatal(err)
		}
	}
	srv.ResetTranscript()
	ran(t, m, mirror.Summary{Unchanged: 1, Gone: 2})
	if got := commands(srv, "RMD"); !slices.Equal(got, []string{"RMD b"}) {
		t.Error(got)
	}
}

// A server that refuses the names of temporary files gets the files under their names. If it may mean that it
// has no room, the old file stays.
func TestUploadPartsRefused(t *testing.T) {
	for reply, want := range map[string]string{"553 Prohibited file name.": "new", "553 Quota exceeded.": "old", "553 Disk limit reached.": "old", "550 No room left.": "old", "451 Try again.": "old", "553 Could not create file.": "old"} {
		srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"a": {Data: []byte("old")}} })
		srv.On("STOR", 0, testserver.Matching("*.part"), testserver.Reply(reply))
		m := upload(t, srv.URL, map[string]string{"a": "new"})
		if _, err := m.Run(t.Context()); (err == nil) != (want == "new") {
			t.Errorf("%s: %v", reply, err)
		}
		hasFiles(t, srv, ".", map[string]string{"a": want})
	}
}

// On a server that ignores case, two files have one name, and the content of either: both have failed, and the
// one that is listed is compared in the next run.
func TestUploadOfTwins(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Listing = func(l ftptest.Listing) []string {
			return slices.DeleteFunc(l.Usual(), func(line string) bool { return strings.HasSuffix(line, "README") })
		}
	})
	m := upload(t, srv.URL+"/site", map[string]string{"README": "one", "readme": "two"})
	for range 2 {
		var failed []string
		m.Report = func(e mirror.Event) {
			if e.Action == mirror.Failed {
				failed = append(failed, e.File)
			}
		}
		_ = failure(t, m)
		if slices.Sort(failed); !slices.Equal(failed, []string{"README", "readme"}) {
			t.Errorf("%q", failed)
		}
	}
	if err := os.Remove(filepath.Join(m.Dir, "README")); err != nil {
		t.Fatal(err)
	}
	m.Report = nil
	srv.ResetTranscript()
	if _, err := m.Run(t.Context()); err != nil {
		t.Error(err)
	}
	if got := commands(srv, "RETR", "STOR"); len(got) == 0 {
		t.Error("the file is neither compared nor sent")
	}
}

// A server that lists a directory under another name has not taken it, nor what is below it.
func TestUploadOfNamesOfDirectories(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Hide = []string{"MLSD", "MLST"}
		s.Listing = func(l ftptest.Listing) []string {
			var lines []string
			for _, e := range l.Entries {
				if name := strings.ReplaceAll(e.Name(), " ", "_"); name[0] != '.' {
					lines = append(lines, fmt.Sprintf("%s 1 ftp ftp %d Jan 01 2020 %s", e.Mode(), e.Size(), name))
				}
			}
			return lines
		}
	})
	m := upload(t, srv.URL+"/site", map[string]string{"good/sub/x": "x", "a b/sub/y": "y", "a b/z": "z", ".well-known/w": "w"})
	if err := os.MkdirAll(filepath.Join(m.Dir, "good/e f"), 0o777); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var failed, missing []string
		m.Report = func(e mirror.Event) {
			switch e.Action {
			case mirror.Failed:
				failed = append(failed, e.File)
			case mirror.Missing:
				missing = append(missing, e.File)
			}
		}
		if err := failure(t, m); !errors.Is(err, fetch.ErrNotFound) && !errors.Is(err, fetch.ErrPermission) {
			t.Error(err)
		}
		slices.Sort(failed)
		if want := []string{"a b", "good/e f"}; !slices.Equal(failed, want) {
			t.Errorf("failed: %q, want %q", failed, want)
		}
		if want := []string{"a b/sub/y", "a b/z"}; !slices.Equal(missing, want) {
			t.Errorf("missing: %q, want %q", missing, want)
		}
	}
}

// Files are placed in the groups of Order, the new ones first. What refers to a file that has
// failed is not sent.
func TestUploadOrder(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a.css": {Data: []byte("old css")}, "p.html": {Data: []byte("old page")}}
	})
	m := upload(t, srv.URL, map[string]string{"a.css": "a", "b.css": "b", "p.html": "p", "n.html": "n", "index.html": "i"})
	m.Upload.Order, m.Connections = []string{"*.html", "index.*"}, 4
	srv.On("STOR", 2, testserver.Reply("452 Not now."))
	ran(t, m, mirror.Summary{New: 1, Failed: 1, Missing: 4})
	ran(t, m, mirror.Summary{New: 2, Changed: 2, Unchanged: 1})
	var placed []string
	for _, line := range commands(srv, "RNTO") {
		placed = append(placed, strings.TrimPrefix(line, "RNTO "))
	}
	if want := []string{"b.css", "a.css", "n.html", "p.html", "index.html"}; !slices.Equal(placed, want) {
		t.Errorf("%q, want %q", placed, want)
	}
}

func TestUploadLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	srv := ftptest.New(t)
	m := upload(t, srv.URL, map[string]string{"dir/a": "a"})
	for name, target := range map[string]string{"to file": "dir/a", "to folder": "dir", "loop": ".", "out": os.TempDir(), "dangling": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(m.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	ran(t, m, mirror.Summary{New: 1, Skipped: 5})
	m.Upload.Links = mirror.FollowLinks
	happened := events(m)
	failure(t, m)
	want := []string{"failed dangling", "failed out", "new to file", "new to folder/a", "skipped loop", "unchanged dir/a"}
	if got := happened(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	hasFiles(t, srv, ".", map[string]string{"dir/a": "a", "to file": "a", "to folder/a": "a"})

	m.Upload.Links = mirror.CopyLinks
	m.Dir, m.Report = filepath.Join(t.TempDir(), "copy"), nil
	write(t, m.Dir, map[string]string{"x": "x"})
	if err := os.Symlink("x", filepath.Join(m.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	ran(t, m, mirror.Summary{New: 1, Failed: 1, Missing: 1}) // the test server has no SITE SYMLINK
	to := filepath.Join(t.TempDir(), "to")
	m.Start = &locator.File{Segments: strings.Split(strings.TrimPrefix(filepath.ToSlash(to), "/"), "/")}
	ran(t, m, mirror.Summary{New: 2})
	if target, err := os.Readlink(filepath.Join(to, "link")); err != nil || target != "x" {
		t.Error(target, err)
	}
	ran(t, m, mirror.Summary{Unchanged: 2})
}

// A large file is continued where it was cut, if what is there is its beginning.
func TestUploadResumes(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 40<<10) // 640 KiB
	for name, tc := range map[string]struct {
		hide    []string
		spoil   bool
		resumed string // the verb
		refused string // the reply to it
	}{
		"APPE":         {nil, false, "APPE", ""},
		"REST":         {[]string{"APPE"}, false, "REST", ""},
		"other bytes":  {nil, true, "", ""},
		"APPE refused": {nil, false, "APPE", "451 Append/Restart not permitted, try again"}, // ProFTPD
		"APPE denied":  {nil, false, "APPE", "550 Permission denied."},
		"REST refused": {[]string{"APPE"}, false, "REST", "451 Append/Restart not permitted, try again"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := ftptest.New(t, func(s *ftptest.Server) { s.Hide = tc.hide })
			m := upload(t, srv.URL, map[string]string{"big": big})
			srv.On("STOR", 1, ftptest.Keep(300_000))
			srv.On("END", 2, testserver.Reply("426 The connection broke."))
			ran(t, m, mirror.Summary{Failed: 1, Missing: 1})
			var part string
			for file, text := range stored(t, srv, ".") {
				if part = file; tc.spoil {
					if err := srv.Put(file, bytes.Repeat([]byte("x"), len(text))); err != nil {
						t.Fatal(err)
					}
				}
			}
			if !strings.HasPrefix(part, "fetch1738-") {
				t.Fatalf("no part: %q", part)
			}
			srv.ResetTranscript()
			if tc.refused != "" && tc.resumed == "REST" {
				srv.On("STOR", 1, testserver.Reply(tc.refused))
			} else if tc.refused != "" {
				srv.On(tc.resumed, 0, testserver.Reply(tc.refused))
			}
			ran(t, m, mirror.Summary{New: 1})
			hasFiles(t, srv, ".", map[string]string{"big": big})
			got := commands(srv, "APPE", "REST")
			if resumed := slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, tc.resumed) }); tc.resumed != "" && !resumed || tc.resumed == "" && slices.ContainsFunc(got, func(l string) bool { return strings.HasPrefix(l, "APPE") }) {
				t.Errorf("%q, want %s", got, tc.resumed)
			}
		})
	}
}

// A part is deleted if no later run continues it: the file has changed, or is no more.
func TestUploadRemovesParts(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"fetch1738-0123456789abcdef01234567.part": {Data: []byte("of another")}}
	})
	m := upload(t, srv.URL, map[string]string{"a": strings.Repeat("a", 100_000), "b": strings.Repeat("b", 100_000), "c": "c"})
	m.Connections = 1
	for n := range 2 { // END 1 is the listing
		srv.On("STOR", n+1, ftptest.Keep(50_000))
		srv.On("END", n+2, testserver.Reply("426 The connection broke."))
	}
	if failure(t, m); len(stored(t, srv, ".")) < 3 {
		t.Fatal(stored(t, srv, "."))
	}
	write(t, m.Dir, map[string]string{"a": "other"})
	if err := os.Remove(filepath.Join(m.Dir, "b")); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(t.Context()); err != nil {
		t.Error(err)
	}
	hasFiles(t, srv, ".", map[string]string{"a": "other", "c": "c", "fetch1738-0123456789abcdef01234567.part": "of another"})
}

// Two folders share what is known about the server by a file there.
func TestUploadRemoteState(t *testing.T) {
	srv := ftptest.New(t)
	files := map[string]string{"a": "a", "b": "b", "c": "c"}
	one, two := upload(t, srv.URL, files), upload(t, srv.URL, files)
	one.Upload.RemoteState, two.Upload.RemoteState = "known.state", "known.state"
	ran(t, one, mirror.Summary{New: 3})
	srv.ResetTranscript()
	if err := os.Remove(filepath.Join(two.Dir, "a")); err != nil {
		t.Fatal(err)
	}
	two.Delete = true
	ran(t, two, mirror.Summary{Unchanged: 2, Gone: 1})
	got := stored(t, srv, ".")
	delete(got, "known.state")
	if diff := cmp.Diff(map[string]string{"b": "b", "c": "c"}, got); diff != "" {
		t.Error(diff)
	}
	srv.ResetTranscript()
	ran(t, two, mirror.Summary{Unchanged: 2})
	if got := commands(srv, "STOR"); got != nil {
		t.Errorf("the state has not changed: %q", got)
	}
	ran(t, one, mirror.Summary{New: 1, Unchanged: 2}) // it still has the file
}

// The name of the remote state is that of no other file: of none in the tree, and of none at the
// server that is no state.
func TestUploadRemoteStateReplacesNothing(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"a file":   {"known.state": "mine", "a": "a"},
		"a folder": {"known.state/b": "mine", "a": "a"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := ftptest.New(t)
			m := upload(t, srv.URL, files)
			m.Upload.RemoteState = "known.state"
			if err := failure(t, m); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "known.state: ") {
				t.Error(err)
			}
			if got := srv.Uploads(); len(got) > 0 {
				t.Errorf("%q were sent", got)
			}
			m.Exclude = []string{"/known.state"}
			ran(t, m, mirror.Summary{New: 1})
			if got := stored(t, srv, "."); got["a"] != "a" || !strings.Contains(got["known.state"], `"start":true`) {
				t.Errorf("%q", got)
			}
		})
	}
	for name, theirs := range map[string]string{"text": "theirs\n", "lines of JSON": `{"file":"a"}` + "\n", "one long line": strings.Repeat("x", 2<<20)} {
		t.Run(name, func(t *testing.T) {
			srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"known.state": {Data: []byte(theirs)}} })
			m := upload(t, srv.URL, map[string]string{"a": "a"})
			m.Upload.RemoteState = "known.state"
			if err := failure(t, m); !errors.Is(err, fs.ErrExist) {
				t.Error(err)
			}
			hasFiles(t, srv, ".", map[string]string{"known.state": theirs})
		})
	}
}

// A line of the remote state that nobody can have written does not keep files from being sent.
func TestUploadRemoteStateWithLongLine(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"known.state": {Data: []byte(`{"start":true,"size":-1}` + "\n" + `{"file":"` + strings.Repeat("x", 3<<20) + "\"}\n")}}
	})
	m := upload(t, srv.URL, map[string]string{"a": "a"})
	m.Upload.RemoteState = "known.state"
	ran(t, m, mirror.Summary{New: 1})
	if got := stored(t, srv, "."); got["a"] != "a" || len(got["known.state"]) > 4000 {
		t.Errorf("the state has %d bytes", len(got["known.state"]))
	}
}

// A falsifier replaces the bytes of the files that are sent with a suffix, while it is on.
type falsifier struct {
	*fetch1738.Resolver
	of string // what bodies begin with that are replaced
}

func (f *falsifier) Replace(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	if f.of != "" && bytes.HasPrefix(text, []byte(f.of)) {
		text = bytes.Repeat([]byte("Z"), len(text))
	}
	return f.Resolver.Replace(ctx, req, bytes.NewReader(text))
}

// With Checksums the content is compared after each upload, also where the server computes none,
// and where a file has its name at once. What differs is sent again by any later run.
func TestUploadComparesContent(t *testing.T) {
	for name, hide := range map[string][]string{"renamed": nil, "no sizes": {"SIZE", "MLSD", "MLST"}, "stored directly": {"RNFR", "RNTO"}, "web": nil} {
		t.Run(name, func(t *testing.T) {
			var url string
			web := &store{files: map[string]string{}}
			if name == "web" {
				srv := httptest.NewServer(web)
				t.Cleanup(srv.Close)
				url = srv.URL + "/site/"
			} else {
				url = ftptest.New(t, func(s *ftptest.Server) { s.Hide = hide }).URL + "/site/"
			}
			m := upload(t, url, nil)
			f := &falsifier{Resolver: m.Fetcher.(*fetch1738.Resolver)}
			m.Fetcher, m.Upload.Checksums = f, true
			for file, text := range map[string]string{"a": "text", "b": strings.Repeat("large", 300_000)} {
				write(t, m.Dir, map[string]string{file: text})
				f.of = text[:4]
				if err := failure(t, m); !errors.Is(err, fetch.ErrTruncated) {
					t.Error(err)
				}
			}
			f.of, m.Upload.Checksums = "", false
			if _, err := m.Run(t.Context()); err != nil {
				t.Error(err)
			}
			down := start(t, url)
			down.Upload = nil
			if name == "web" {
				if web.files["a"] != "text" || !strings.HasPrefix(web.files["b"], "large") {
					t.Errorf("the server has %.20q", web.files)
				}
				return
			}
			if _, err := down.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			for file, want := range map[string]string{"a": "text", "b": "large"} {
				if got, err := os.ReadFile(filepath.Join(down.Dir, file)); err != nil || !bytes.HasPrefix(got, []byte(want)) {
					t.Errorf("%s: %.20q, %v", file, got, err)
				}
			}
			m.Upload.RemoteState, m.Upload.Checksums, f.of = "known.state", true, `{"url"`
			if err := failure(t, m); !errors.Is(err, fetch.ErrTruncated) {
				t.Error("the remote state:", err)
			}
		})
	}
}

// A file name need not be UTF-8, and a line end in one is refused.
func TestUploadOfOctets(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("file names are UTF-8")
	}
	srv := ftptest.New(t)
	m := upload(t, srv.URL, map[string]string{"a\xf6": "latin", "d\xe4/x\xff": "iac", "u": "u"})
	m.Delete = true
	ran(t, m, mirror.Summary{New: 3})
	got := make(map[string]string)
	for name, data := range srv.Uploads() {
		got[name] = string(data)
	}
	if diff := cmp.Diff(map[string]string{"a\xf6": "latin", "d\xe4/x\xff": "iac", "u": "u"}, got); diff != "" {
		t.Error(diff)
	}
	ran(t, m, mirror.Summary{Unchanged: 3})
	if err := os.Remove(filepath.Join(m.Dir, "a\xf6")); err != nil {
		t.Fatal(err)
	}
	ran(t, m, mirror.Summary{Unchanged: 2, Gone: 1})
	if got := len(srv.Uploads()); got != 2 {
		t.Errorf("%d files are left", got)
	}
}

// A state belongs to one server.
func TestUploadState(t *testing.T) {
	srv := ftptest.New(t)
	m := upload(t, srv.URL+"/one/", map[string]string{"a": "a"})
	m.Upload.State = filepath.Join(t.TempDir(), "state.jsonl")
	ran(t, m, mirror.Summary{New: 1})
	if _, err := os.Stat(filepath.Join(m.Dir, mirror.Folder)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a second state: %v", err)
	}
	f, err := os.Open(m.Upload.State)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for line, err := range mirror.ReadManifest(f) {
		if err != nil || line.File == "a" && (line.SHA256 == "" || line.Stored.IsZero()) {
			t.Errorf("%+v, %v", line, err)
		}
	}
	m.Start = start(t, srv.URL+"/two/").Start
	if err := failure(t, m); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	m.Upload.State = ""
	ran(t, m, mirror.Summary{New: 1})
	m.Start = start(t, srv.URL+"/one/").Start
	ran(t, m, mirror.Summary{Unchanged: 1})
}

// Requests are retried as Retry decides. A connection that breaks while files are renamed leaves
// them under one name or the other, and the run finds out under which.
func TestUploadRetries(t *testing.T) {
	for _, tc := range []struct {
		stage string
		n     int
		fault testserver.Fault
	}{
		{"STOR", 1, testserver.Reply("450 Busy.")}, {"STOR", 3, testserver.Close()}, {"RNFR", 2, testserver.Close()}, {"RNTO", 1, testserver.Close()},
		{"RNTO", 4, testserver.Close()}, {"SIZE", 2, testserver.Close()}, {"MKD", 1, testserver.Close()}, {"MLSD", 2, testserver.Close()}, {"CONNECT", 2, testserver.Close()},
	} {
		t.Run(fmt.Sprint(tc.stage, " ", tc.n), func(t *testing.T) {
			srv := ftptest.New(t)
			files := map[string]string{"a": "a", "b": "b", "c": "c", "dir/d": "d", "dir/e": "e"}
			m := upload(t, srv.URL, files)
			m.Retry = func(_ context.Context, n int, _ error) bool { return n < 2 }
			if err := srv.Arm(tc.stage, tc.n, tc.fault); err != nil {
				t.Fatal(err)
			}
			if tc.stage == "CONNECT" { // one session may be quick enough for all files, unless it breaks
				srv.On("STOR", 1, testserver.Close())
			}
			ran(t, m, mirror.Summary{New: 5})
			hasFiles(t, srv, ".", files)
			if err := srv.PendingFaults(); err != nil {
				t.Error(err)
			}
			ran(t, m, mirror.Summary{Unchanged: 5})
		})
	}
}

// A server that is busy when a file gets its name may still rename: the file fails, and nothing is
// stored under its name.
func TestUploadNotRenamed(t *testing.T) {
	for _, stage := range []string{"RNFR", "RNTO"} {
		t.Run(stage, func(t *testing.T) {
			srv := ftptest.New(t)
			m := upload(t, srv.URL, map[string]string{"a": "a"})
			m.Retry = func(context.Context, int, error) bool { return false }
			if err := srv.Arm(stage, 1, testserver.Reply("450 Busy.")); err != nil {
				t.Fatal(err)
			}
			if sum, err := m.Run(t.Context()); err == nil || sum.Failed != 1 || sum.New != 0 {
				t.Errorf("%+v, %v", sum, err)
			}
			for _, line := range commands(srv, "STOR") {
				if !strings.HasSuffix(line, ".part") {
					t.Error(line)
				}
			}
			ran(t, m, mirror.Summary{New: 1})
			hasFiles(t, srv, ".", map[string]string{"a": "a"})
		})
	}
}

// A server may close the connection after the last reply to each transfer, or when the next command
// comes. Nothing fails, in either direction, although no request is retried.
func TestClosedAfterTransfers(t *testing.T) {
	files := map[string]string{"a": "a", "b": "b", "c": "c", "dir/d": "d", "dir/e": "e", "dir/sub/f": "f"}
	for _, connections := range []int{1, 4} {
		for range 5 {
			srv := ftptest.New(t, func(s *ftptest.Server) { s.Replies = ftptest.Replies{"226": "226 is done"} })
			srv.On("END", 0, testserver.Truncate(int64(len("226 is done\r\n"))))
			m := upload(t, srv.URL, files)
			m.Connections = connections
			ran(t, m, mirror.Summary{New: 6})
			hasFiles(t, srv, ".", files)
			if info, err := fs.Stat(srv.Files(), "dir/d"); err != nil || !info.ModTime().Equal(modified) {
				t.Errorf("%v, %v; want the time %v", info, err, modified)
			}
			down := start(t, srv.URL)
			down.Connections = connections
			ran(t, down, mirror.Summary{New: 6})
			sameFiles(t, down.Dir, files)
			for _, name := range []string{"a", "dir/e"} {
				if err := os.Remove(filepath.Join(m.Dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			m.Delete = true
			ran(t, m, mirror.Summary{Unchanged: 4, Gone: 2})
		}
	}
	for _, verb := range []string{"FEAT", "SIZE", "MFMT", "RNFR", "RNTO"} {
		srv := ftptest.New(t)
		m := upload(t, srv.URL, files)
		if err := srv.Arm(verb, 1, testserver.Close()); err != nil {
			t.Fatal(err)
		}
		ran(t, m, mirror.Summary{New: 6})
		hasFiles(t, srv, ".", files)
	}
}

// A directory that cannot be listed, or created, fails, and its files are missing; the others are sent.
func TestUploadToForbidden(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"shut/x": {Data: []byte("x")}, "file": {Data: []byte("not a directory")}}
		s.Forbidden = []string{"shut"}
	})
	m := upload(t, srv.URL, map[string]string{"shut/a": "a", "shut/sub/b": "b", "file/c": "c", "open/d": "d"})
	happened := events(m)
	m.Delete = true
	failure(t, m)
	want := []string{
		"failed file", "failed shut", "missing file/c", "missing shut/a", "missing shut/sub/b", "new open/d",
	}
	if got := happened(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A folder is brought to another folder.
func TestUploadToFile(t *testing.T) {
	to := filepath.Join(t.TempDir(), "deep", "to")
	l := &locator.File{Segments: strings.Split(strings.TrimPrefix(filepath.ToSlash(to), "/"), "/")}
	m := start(t, l.String())
	files := map[string]string{"a": "a", "dir/b": "b"}
	write(t, m.Dir, files)
	m.Upload = new(mirror.Upload)
	ran(t, m, mirror.Summary{New: 2})
	if diff := cmp.Diff(files, read(t, to)); diff != "" {
		t.Error(diff)
	}
	write(t, m.Dir, map[string]string{"a": "aa"})
	if err := os.RemoveAll(filepath.Join(m.Dir, "dir")); err != nil {
		t.Fatal(err)
	}
	m.Delete = true
	ran(t, m, mirror.Summary{Changed: 1, Gone: 1})
	if diff := cmp.Diff(map[string]string{"a": "aa"}, read(t, to)); diff != "" {
		t.Error(diff)
	}
	ran(t, m, mirror.Summary{Unchanged: 1})
}

// store is a web server that takes PUT and DELETE.
type store struct {
	mu    sync.Mutex
	files map[string]string
	puts  int

	refuse bool // PUT
	forget bool // what is put
}

func (s *store) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := strings.TrimPrefix(path.Clean(req.URL.Path), "/site/")
	text, ok := s.files[name]
	switch {
	case req.Method == http.MethodPut && s.refuse:
		http.Error(w, "no", http.StatusForbidden)
	case req.Method == http.MethodPut:
		b, _ := io.ReadAll(req.Body)
		if s.files[name] = string(b); s.forget {
			delete(s.files, name)
		}
		s.puts++
		w.WriteHeader(http.StatusCreated)
	case !ok:
		http.NotFound(w, req)
	case req.Method == http.MethodDelete:
		delete(s.files, name)
		w.WriteHeader(http.StatusNoContent)
	default:
		http.ServeContent(w, req, name, modified, strings.NewReader(text))
	}
}

func TestUploadToWeb(t *testing.T) {
	s := &store{files: map[string]string{"theirs": "t", "same": "same"}}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	files := map[string]string{"a b": "ab", "dir/c": "c", "same": "same"}
	m := upload(t, srv.URL+"/site/", files)
	m.Options = &fetchhttp.Options{AnyStatus: true, Method: "GET"} // a refusal is an error nevertheless
	ran(t, m, mirror.Summary{New: 2, Unchanged: 1})
	ran(t, m, mirror.Summary{Unchanged: 3})
	if s.puts != 2 {
		t.Errorf("%d files were sent", s.puts)
	}
	write(t, m.Dir, map[string]string{"a b": "other"})
	if err := os.Remove(filepath.Join(m.Dir, "dir/c")); err != nil {
		t.Fatal(err)
	}
	m.Delete, m.MaxDelete = true, -1
	ran(t, m, mirror.Summary{Changed: 1, Unchanged: 1, Gone: 1})
	if diff := cmp.Diff(map[string]string{"theirs": "t", "same": "same", "a b": "other"}, s.files); diff != "" {
		t.Error(diff)
	}
	write(t, m.Dir, map[string]string{"a b": "refused"})
	s.refuse = true
	ran(t, m, mirror.Summary{Unchanged: 1, Failed: 1, Missing: 1})
	s.refuse, s.forget = false, true
	ran(t, m, mirror.Summary{Changed: 1, Unchanged: 1, Failed: 1, Missing: 1})
}

// What cannot be uploaded to is refused before anything is dialled.
func TestUploadRefused(t *testing.T) {
	for _, url := range []string{"gopher://127.0.0.1:1/", "news:x", "ftp://127.0.0.1:1/x;type=a", "http://127.0.0.1:1/?q"} {
		m := upload(t, url, map[string]string{"a": "a"})
		if err := failure(t, m); !errors.Is(err, fetch.ErrUnsupported) {
			t.Errorf("%s: %v", url, err)
		}
	}
	m := upload(t, "ftp://127.0.0.1:1/", nil)
	if err := failure(t, m); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// A run that was killed between the renaming of a file and its record has put the file there: a
// later run deletes it, if its content is still that, and not another one of the same name and
// size.
func TestUploadKilledAfterRename(t *testing.T) {
	srv := ftptest.New(t)
	m := upload(t, srv.URL, map[string]string{"a": "a", "b": "b", "keep": "k"})
	m.Upload.State = filepath.Join(t.TempDir(), "state")
	ran(t, m, mirror.Summary{New: 3})
	text, err := os.ReadFile(m.Upload.State)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) { // as they were before the files had their names
		for _, name := range []string{"a", "b"} {
			if strings.Contains(line, `"file":"`+name+`"`) {
				line = strings.Replace(line, `"sha256"`, `"part":"fetch1738-00000000000000000000000`+name+`.part","sha256"`, 1)
			}
		}
		lines = append(lines, line)
	}
	if err := os.WriteFile(m.Upload.State, []byte(strings.Join(lines, "")), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := srv.PutModified("b", []byte("B"), modified); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if err := os.Remove(filepath.Join(m.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	m.Delete = true
	ran(t, m, mirror.Summary{Unchanged: 1, Gone: 1})
	hasFiles(t, srv, ".", map[string]string{"b": "B", "keep": "k"})

	// The file has its earlier content again, and the server that of the run that was killed, with the
	// same size and time.
	text, err = os.ReadFile(m.Upload.State)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, `"file":"keep"`) {
			text = append(text, strings.Replace(line, `"sha256":"`, `"part":"fetch1738-000000000000000000000000.part","sha256":"0`, 1)...)
		}
	}
	err = os.WriteFile(m.Upload.State, text, 0o666)
	if err = errors.Join(err, srv.PutModified("keep", []byte("K"), modified)); err != nil {
		t.Fatal(err)
	}
	ran(t, m, mirror.Summary{Changed: 1})
	hasFiles(t, srv, ".", map[string]string{"b": "B", "keep": "k"})
}

// TestNamesOfIIS brings names beyond ASCII to a server that needs OPTS UTF8 ON for them, and back.
func TestNamesOfIIS(t *testing.T) {
	srv := ftptest.New(t, ftptest.IIS, func(s *ftptest.Server) { s.Content = fstest.MapFS{} })
	want := map[string]string{"Müller.html": "miller", "Ordner ä/日本.txt": "japan", "plain": "plain"}
	ran(t, upload(t, srv.URL, want), mirror.Summary{New: 3})
	hasFiles(t, srv, ".", want)
	m := start(t, srv.URL)
	ran(t, m, mirror.Summary{New: 3})
	for name, text := range want {
		if got, err := os.ReadFile(filepath.Join(m.Dir, name)); err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
