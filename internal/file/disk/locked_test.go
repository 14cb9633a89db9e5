//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// opening opens the file at path as a program does.
func opening(path string) (func() (File, error), func() (fs.FileInfo, error)) {
	return func() (File, error) { return System().OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) },
		func() (fs.FileInfo, error) { return os.Lstat(path) }
}

// A file is for one Locked at a time, until that is closed.
func TestOneAtATime(t *testing.T) {
	open, stat := opening(filepath.Join(t.TempDir(), "file"))
	first, err := Lock(open, stat)
	if err != nil {
		t.Fatal(err)
	}
	busy := func(when string) {
		t.Helper()
		if _, err := Lock(open, stat); !errors.Is(err, ErrBusy) {
			t.Errorf("%s: %v", when, err)
		}
	}
	busy("open")
	if err := errors.Join(first.Verify(), first.Flush()); err != nil {
		t.Fatal(err)
	}
	busy("after Flush")
	if err := errors.Join(first.Close(), first.Close()); err != nil {
		t.Fatal(err)
	}
	again, err := Lock(open, stat)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// A lock ends with Close, also while a child process that was forked has not begun its program.
func TestForked(t *testing.T) {
	open, stat := opening(filepath.Join(t.TempDir(), "file"))
	first, err := Lock(open, stat)
	if err != nil {
		t.Fatal(err)
	}
	duplicate, err := syscall.Dup(int(first.File.(*os.File).Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(duplicate)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Lock(open, stat)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// A process that opens a file just before another one renames or removes it, and locks it just
// after, gets a new file.
func TestRenamedMeanwhile(t *testing.T) {
	for name, away := range map[string]func(path string) error{
		"renamed": func(path string) error { return os.Rename(path, path+".done") },
		"removed": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".done"), os.WriteFile(path, nil, 0o600))
		},
	} {
		path := filepath.Join(t.TempDir(), "file")
		open, stat := opening(path)
		first, err := Lock(open, stat)
		if err != nil {
			t.Fatal(err)
		}
		opened := 0
		second, err := Lock(func() (File, error) {
			file, err := open()
			if opened++; opened == 1 {
				if err := errors.Join(first.Verify(), away(path), first.Close()); err != nil {
					t.Fatal(err)
				}
			}
			return file, err
		}, stat)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := second.Verify(); err != nil || opened != 2 {
			t.Errorf("%s: opened %d times: %v", name, opened, err)
		}
		if err := away(path); err != nil {
			t.Fatal(err)
		}
		if second.Verify() == nil {
			t.Errorf("%s: not noticed", name)
		}
		second.Close()
	}
}

// Info is what the file was once it was locked, not when it was opened.
func TestInfo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	open, stat := opening(path)
	f, err := Lock(open, func() (fs.FileInfo, error) {
		if err := os.WriteFile(path, []byte("content"), 0o600); err != nil {
			t.Fatal(err)
		}
		return stat()
	})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n := f.Info.Size(); n != 7 {
		t.Errorf("%d bytes", n)
	}
}

// A name that always leads elsewhere, and one that a link replaced, are errors.
func TestNeverTheFile(t *testing.T) {
	dir := t.TempDir()
	open, _ := opening(filepath.Join(dir, "file"))
	_, stat := opening(dir)
	if _, err := Lock(open, stat); !errors.Is(err, ErrBusy) {
		t.Errorf("another file: %v", err)
	}
	open, stat = opening(filepath.Join(dir, "missing", "file"))
	if _, err := Lock(open, stat); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// What several processes may write to at once is not locked.
func TestDevice(t *testing.T) {
	for range 2 {
		f, err := Lock(opening(os.DevNull))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Flush(); err != nil {
			t.Error(err)
		}
	}
}
