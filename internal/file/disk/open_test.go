package disk

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOpen checks that open does what os.OpenFile does.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	for _, path := range []string{dir, filepath.Join(dir, "missing", "file"), "a\x00b", ""} {
		_, got := open(path, flags, 0o666)
		if _, want := os.OpenFile(path, flags, 0o666); got == nil || got.Error() != want.Error() {
			t.Errorf("%q: %v, want %v", path, got, want)
		}
	}
	one, err := open(filepath.Join(dir, "one"), flags, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	other, err := os.OpenFile(filepath.Join(dir, "other"), flags, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	got, _ := one.Stat()
	want, _ := other.Stat()
	if got.Mode() != want.Mode() || one.Name() != filepath.Join(dir, "one") {
		t.Errorf("%s has the mode %v, want %v", one.Name(), got.Mode(), want.Mode())
	}
}
