//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package output

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// sinks returns Sinks for one file, one whose name the user typed and one whose name a
// server chose.
func sinks(t *testing.T) map[string]func() *Sink {
	dir := t.TempDir()
	inDir := &Place{Op: &plan.Operation{Output: plan.Output{Dir: dir}}}
	return map[string]func() *Sink{
		"typed":  func() *Sink { return At(filepath.Join(dir, "typed")) },
		"served": func() *Sink { return inDir.ToFolder("served") },
	}
}

func checkFile(t *testing.T, what, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s: %q, %v, want %q", what, got, err, want)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A file is for one transfer at a time. The one that fails leaves it alone, also with
// --remove-on-error.
func TestOneAtATime(t *testing.T) {
	for name, sink := range sinks(t) {
		first, second := sink(), sink()
		write(t, first.Path, "longer than the new one")
		if err := first.Take(strings.NewReader("first")); err != nil {
			t.Fatal(err)
		}
		for _, step := range []func() error{first.Flush, first.Close} {
			if err := second.Take(strings.NewReader("2")); !errors.Is(err, disk.ErrBusy) {
				t.Errorf("%s: %v", name, err)
			}
			if err := errors.Join(second.Flush(), second.Remove(), second.Close(), step()); err != nil {
				t.Error(err)
			}
			checkFile(t, name, first.Path, "first")
		}
		if err := errors.Join(second.Take(strings.NewReader("2")), second.Close()); err != nil {
			t.Errorf("%s: afterwards: %v", name, err)
		}
		checkFile(t, name, first.Path, "2")
	}
}

// The rest of a document is not appended to a file that another process has completed.
func TestResumedMeanwhile(t *testing.T) {
	for name, sink := range sinks(t) {
		first, second := sink(), sink()
		write(t, first.Path, "begin")
		for _, s := range []*Sink{first, second} {
			s.existing.append = true
			if at := s.Resume(); at != 5 {
				t.Errorf("%s: resumes at %d", name, at)
			}
		}
		if err := errors.Join(first.Take(strings.NewReader("-end")), first.Close()); err != nil {
			t.Fatal(err)
		}
		err := second.Take(strings.NewReader("-end"))
		if localerr.KindOf(err) != localerr.Resume || !strings.Contains(err.Error(), "has changed the size of "+first.Path+" from 5 to 9 bytes") {
			t.Errorf("%s: %v", name, err)
		}
		if err := errors.Join(second.Remove(), second.Close()); err != nil {
			t.Error(err)
		}
		checkFile(t, name, first.Path, "begin-end")
	}
}

// The file of --segments is for one transfer at a time, and then the lock is that of the
// complete file. It gets its name in one step.
func TestSegmentsAtOnce(t *testing.T) {
	for name, sink := range sinks(t) {
		for _, clobber := range []plan.Clobber{plan.ClobberAlways, plan.ClobberNever, plan.ClobberTyped} {
			first, second := sink(), sink()
			first.existing.clobber, second.existing.clobber = clobber, clobber
			path := first.Path
			if clobber == plan.ClobberNever {
				write(t, path, "old")
			}
			if _, err := openPart(first); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(first.part.file, "complete"); err != nil {
				t.Fatal(err)
			}
			part := PartPath(first)
			if _, err := openPart(second); !errors.Is(err, disk.ErrBusy) {
				t.Errorf("%s: the part: %v", name, err)
			}
			if err := second.Remove(); err != nil || PartPath(second) != "" {
				t.Errorf("%s: %v, %s", name, err, PartPath(second))
			}
			checkFile(t, name, part, "complete")
			if err := errors.Join(first.part.Flush(), adopt(first)); err != nil {
				t.Fatal(err)
			}
			checkFile(t, name, first.Path, "complete")
			if (first.Path == path) != (clobber != plan.ClobberNever) {
				t.Errorf("%s: the name is %s", name, first.Path)
			}
			if _, err := os.Lstat(part); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: the part is left: %v", name, err)
			}
			if _, err := openLocked(At(first.Path), os.O_WRONLY); !errors.Is(err, disk.ErrBusy) {
				t.Errorf("%s: the file: %v", name, err)
			}
			if err := errors.Join(first.Flush(), first.Remove(), first.Close(), os.RemoveAll(path)); err != nil {
				t.Error(err)
			}
		}
	}
}

// A file that appears under the name that a server chose is not replaced.
func TestSegmentsKeep(t *testing.T) {
	s := sinks(t)["served"]()
	s.existing.clobber = plan.ClobberTyped
	if _, err := openPart(s); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	write(t, s.Path, "of another process")
	if err := adopt(s); err == nil || !strings.Contains(err.Error(), "exists, and the server chose this name") {
		t.Errorf("%v", err)
	}
	checkFile(t, "the file", s.Path, "of another process")
}

// Processes that create, rename and remove a file at any time do not make each other fail
// otherwise.
func TestManyAtOnce(t *testing.T) {
	for name, sink := range sinks(t) {
		var opened atomic.Int64
		var workers sync.WaitGroup
		for range 3 {
			workers.Go(func() {
				for opened.Load() < 1000 {
					s := sink()
					file, err := openLocked(s, os.O_RDWR|os.O_CREATE)
					if err != nil {
						if !errors.Is(err, disk.ErrBusy) {
							t.Errorf("%s: %v", name, err)
							return
						}
						continue
					}
					opened.Add(1)
					if err := errors.Join(file.Verify(), os.Rename(s.Path, s.Path+".done"), file.Close()); err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
				}
			})
		}
		workers.Wait()
	}
}
