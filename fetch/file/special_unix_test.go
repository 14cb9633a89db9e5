//go:build unix

package file

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fetch1738/fetch1738/fetch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func mkfifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPipe reads a named pipe until its writer closes it.
func TestPipe(t *testing.T) {
	path := mkfifo(t)
	written := make(chan error)
	go func() { written <- os.WriteFile(path, []byte("through a pipe"), 0o600) }()
	res, err := (&Fetcher{Special: true}).Fetch(t.Context(), &fetch.Request{Locator: locate(path)})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	if got, err := io.ReadAll(res.Body); string(got) != "through a pipe" || err != nil || res.Size != -1 {
		t.Errorf("%q, %v, size %d", got, err, res.Size)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// TestPipeContext checks that the context ends the wait for a writer, and the wait for data.
func TestPipeContext(t *testing.T) {
	path := mkfifo(t)
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if res, err := (&Fetcher{Special: true}).Fetch(ctx, &fetch.Request{Locator: locate(path)}); res != nil || !errors.Is(err, fetch.ErrTimeout) {
			t.Errorf("without a writer: %v, %v", res, err)
		}
		cancel()
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opened := make(chan *os.File)
	go func() {
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, err = w.WriteString("some")
		}
		if err != nil {
			t.Error(err)
		}
		opened <- w
	}()
	res, err := (&Fetcher{Special: true}).Fetch(ctx, &fetch.Request{Locator: locate(path)})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	defer (<-opened).Close()
	if _, err := io.ReadFull(res.Body, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(time.Millisecond, cancel)
	if n, err := res.Body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, fetch.ErrCanceled) {
		t.Errorf("a silent writer: %d, %v", n, err)
	}
}

// TestSwappedForPipe checks that open does not block if a file is replaced by a pipe after its kind
// was checked.
func TestSwappedForPipe(t *testing.T) {
	path := mkfifo(t)
	a, err := new(Fetcher).locate(&fetch.Request{Locator: locate(path)})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(a.path, os.O_RDONLY|nonBlocking, 0) // as open does
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || a.checkKind(info) == nil {
		t.Errorf("an open pipe is accepted as a file: %v, %v", info, err)
	}
}

// TestEndless checks that Length and Limits.Body end the read of a device.
func TestEndless(t *testing.T) {
	zero := locate("/dev/zero")
	for _, tc := range []struct {
		length, limit, want int64
		kind                error
	}{{5, 0, 5, nil}, {0, 1000, 1000, fetch.ErrTooLarge}, {5, 5, 5, nil}} {
		f := &Fetcher{Special: true, Env: &fetch.Env{Limits: fetch.Limits{Body: tc.limit}}}
		for name, read := range map[string]func(res *fetch.Resource) (int64, error){
			"WriteTo": func(res *fetch.Resource) (int64, error) { return res.Body.(io.WriterTo).WriteTo(new(bytes.Buffer)) },
			"Read":    func(res *fetch.Resource) (int64, error) { return io.Copy(io.Discard, struct{ io.Reader }{res.Body}) },
		} {
			res, err := f.Fetch(t.Context(), &fetch.Request{Locator: zero, Length: tc.length})
			if errors.Is(err, fetch.ErrTooLarge) && tc.kind != nil {
				continue
			}
			if err != nil {
				t.Error(err)
				continue
			}
			if n, err := read(res); n != tc.want || !errors.Is(err, tc.kind) {
				t.Errorf("%+v, %s: %d bytes, %v", tc, name, n, err)
			}
			res.Close()
		}
	}
	if _, err := (&Fetcher{Special: true}).Fetch(t.Context(), &fetch.Request{Locator: zero, Offset: 1}); !errors.Is(err, fetch.ErrBadRange) {
		t.Errorf("an offset into a device: %v", err)
	}
}

// TestReplaceReadOnly checks that a read-only file in a writable directory is not replaced.
func TestReplaceReadOnly(t *testing.T) {
	if os.Geteuid() == 0 {
		// Permissions do not stop root, but nobody can write to a running program.
		testReplaceBusy(t)
		return
	}
	path := write(t, filepath.Join(t.TempDir(), "x"), "old")
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := new(Fetcher).Replace(t.Context(), &fetch.Request{Locator: locate(path)}, strings.NewReader("new")); !errors.Is(err, fetch.ErrPermission) || read(t, path) != "old" {
		t.Errorf("%v; %q", err, read(t, path))
	}
}

func testReplaceBusy(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	_, err = new(Fetcher).Replace(t.Context(), &fetch.Request{Locator: locate(program)}, strings.NewReader("new"))
	if after, statErr := os.Stat(program); !errors.Is(err, syscall.ETXTBSY) || statErr != nil || !os.SameFile(before, after) {
		t.Errorf("replacing a running program: %v", err)
	}
}

// TestNoDirectory checks that the error names the missing directory.
func TestNoDirectory(t *testing.T) {
	dir := t.TempDir()
	req := &fetch.Request{Locator: locate(dir + "/no/x")}
	for name, op := range map[string]func() error{
		"replace": func() error { _, err := new(Fetcher).Replace(t.Context(), req, strings.NewReader("new")); return err },
		"update":  func() error { _, err := new(Fetcher).Update(t.Context(), req, strings.NewReader("new")); return err },
	} {
		if err := op(); !errors.Is(err, fetch.ErrNotFound) || !strings.Contains(err.Error(), "the directory "+dir+"/no does not exist") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
