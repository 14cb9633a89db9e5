package ftptest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/internal/replay"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// personalityFiles are the files that the conversations in testdata/personalities are about. The
// tests of interop create the same for the real servers.
func personalityFiles() fstest.MapFS {
	old, now := time.Date(1995, time.March, 4, 5, 6, 7, 0, time.UTC), time.Now().Add(-time.Hour)
	data := []byte("hello\nworld\n")
	return fstest.MapFS{
		".":          {Mode: fs.ModeDir | 0o755, ModTime: now},
		"hello.txt":  {Data: data, ModTime: old},
		"recent.txt": {Data: data, ModTime: now},
		"sub":        {Mode: fs.ModeDir | 0o755, ModTime: old},
		"sub/a.bin":  {Data: data, ModTime: old},
	}
}

// TestPersonalitiesAsPinned plays what was recorded with real servers.
func TestPersonalitiesAsPinned(t *testing.T) {
	pinned := 0
	for _, p := range ftptest.Personalities() {
		file := filepath.Join("testdata/personalities", p.Name+".txt")
		want, err := os.ReadFile(file)
		if err != nil {
			continue // a way, which has a test of its own
		}
		pinned++
		t.Run(p.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(30 * 365 * 24 * time.Hour) // today
				srv := ftptest.New(t, p.Configure, func(s *ftptest.Server) {
					s.Content, s.InMemory = personalityFiles(), true
					s.Users = map[string]testserver.User{"lab": {Password: "secret"}}
				})
				player := &replay.Server{Addr: srv.Addr, Dial: srv.Dial, Clean: replay.CleanFTP}
				got, err := player.FTP(t.Context(), string(want))
				if err != nil {
					t.Fatalf("%v after\n%s", err, got)
				}
				if d := replay.Compare(got, string(want)); d != "" {
					t.Errorf("%s: %s", file, d)
				}
			})
		})
	}
	if files, err := filepath.Glob("testdata/personalities/*.txt"); err != nil || len(files) != pinned {
		t.Errorf("%d files, but %d personalities have one: %v", len(files), pinned, err)
	}
}
