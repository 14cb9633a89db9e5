package disk

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A late is a Disk on which another program acts before a rename.
type late struct {
	Disk
	before func() error
}

func (d *late) Rename(from, to string) error {
	if d.before != nil {
		if err := d.before(); err != nil {
			return err
		}
	}
	return d.Disk.Rename(from, to)
}

// A rename fails if the old name leads to something else than the file that was written.
func TestRename(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	for name, replace := range map[string]func(path string) error{
		"":         func(string) error { return nil },
		"a link":   func(path string) error { return os.Symlink("elsewhere", path) },
		"a file":   func(path string) error { return os.WriteFile(path, []byte("other"), 0o600) },
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		dir := t.TempDir()
		part, final := filepath.Join(dir, "a.part"), filepath.Join(dir, "a")
		if err := os.WriteFile(part, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(part)
		if err != nil {
			t.Fatal(err)
		}
		in := &late{System(), nil}
		if name != "" {
			in.before = func() error { return errors.Join(os.Rename(part, filepath.Join(dir, "moved")), replace(part)) }
		}
		err = Rename(in, part, final, info)
		if (name != "") != errors.Is(err, ErrReplaced) || name == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
