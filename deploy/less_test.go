package deploy_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/fetch1738/fetch1738/deploy"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// An upload that sends less of the folder than an earlier one deletes nothing that the folder still has.
func TestUploadDeleteWithLess(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	for name, less := range map[string]func(*deploy.Upload){
		"links skipped": func(m *deploy.Upload) { m.Links = deploy.SkipLinks },
		"links copied":  func(m *deploy.Upload) { m.Links = deploy.CopyLinks },
		"exclude":       func(m *deploy.Upload) { m.Exclude = []string{"deep/", "to*"} },
		"include":       func(m *deploy.Upload) { m.Include = []string{"a"} },
		"depth":         func(m *deploy.Upload) { m.Depth = 1 },
		"max-entries":   func(m *deploy.Upload) { m.MaxEntries = 1 },
		"ignored":       func(m *deploy.Upload) { write(t, m.Dir, map[string]string{".fetch1738ignore": "deep/\nto*\n"}) },
	} {
		t.Run(name, func(t *testing.T) {
			srv := ftptest.New(t)
			m := upload(t, srv.URL, map[string]string{"a": "a", "c": "c", "deep/er/b": "b", "deep/er/c": "c"})
			for name, target := range map[string]string{"to file": "a", "to folder": "deep"} {
				if err := os.Symlink(target, filepath.Join(m.Dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			m.Delete, m.MaxDelete, m.Links = true, -1, deploy.FollowLinks
			ran(t, m, deploy.Summary{New: 7})
			less(m)
			if err := os.Remove(filepath.Join(m.Dir, "c")); err != nil {
				t.Fatal(err)
			}
			_, err := m.Run(t.Context())
			all := map[string]string{"a": "a", "deep/er/b": "b", "deep/er/c": "c", "to file": "a", "to folder/er/b": "b", "to folder/er/c": "c"}
			if err != nil || name == "include" {
				all["c"] = "c"
			}
			hasFiles(t, srv, ".", all)
		})
	}
}
