package ftptest_test

import (
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/conversation"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
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
	testclient.Pinned(t, ftptest.Personalities(), func(t *testing.T, p testserver.Personality[*ftptest.Server], text string) (string, error) {
		time.Sleep(30 * 365 * 24 * time.Hour) // today
		srv := ftptest.New(t, p.Configure, func(s *ftptest.Server) {
			s.Content, s.InMemory = personalityFiles(), true
			s.Users = map[string]testserver.User{"lab": {Password: "secret"}}
		})
		player := &conversation.Client{Addr: srv.Addr, Dial: srv.Dial, Clean: conversation.CleanFTP}
		return player.FTP(t.Context(), text)
	})
}
