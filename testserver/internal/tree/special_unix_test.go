//go:build unix

package tree

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestSpecialFiles tests that files whose reading may not end are not there: opening a named pipe
// waits for a writer.
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir) // the name of a socket is short
	if err := syscall.Mkfifo("fifo", 0o644); err != nil {
		t.Skip("no named pipes here:", err)
	}
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for link, to := range map[string]string{"link": "fifo", "null": os.DevNull, "file": "real"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("real", []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	content := New(os.DirFS(dir), nil)
	for _, name := range []string{"fifo", "socket", "link", "null"} {
		_, statErr := content.Stat(name)
		_, _, openErr := content.Open(name)
		_, fsErr := content.FS().Open(name)
		for do, err := range map[string]error{"Stat": statErr, "Open": openErr, "FS": fsErr, "Rename": content.Rename(name, "new"), "Touch": content.Touch(name, Epoch), "Remove": content.Remove(name, false), "Delete": content.Delete(name)} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s %s: %v", do, name, err)
			}
		}
		if err := content.Write(name, 1, []byte("x")); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("the end of %s: %v", name, err)
		}
	}
	if list, err := content.List(""); err != nil || len(list) != 2 || list[0].Name != "file" || list[1].Name != "real" {
		t.Errorf("%v, %v", list, err)
	}
	if err := content.Write("fifo", 0, []byte("new")); err != nil {
		t.Error(err)
	}
	if got, err := fs.ReadFile(content.FS(), "fifo"); string(got) != "new" {
		t.Errorf("%q, %v", got, err)
	}
}
