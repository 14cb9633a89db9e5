//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// TestAtOnce starts several programs at once that fetch one document to one file. Each of them
// succeeds, or says that it is not alone; at least one succeeds. A reader of the file sees a
// complete one at any time, or, where the document is written in place, its beginning.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	document := make([]byte, 3<<20) // enough for --segments
	random := rand.New(rand.NewPCG(17, 38))
	for i := range document {
		document[i] = byte(random.Uint32())
	}
	begun := document[:1<<20]
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"file": {Data: document, ModTime: time.Date(1994, 12, 1, 0, 0, 0, 0, time.UTC)}}
	})
	for _, tc := range []struct {
		name    string
		args    []string
		at      int // the size of the file before
		inPlace bool
	}{
		{"-o", []string{"-R", "-o", "file", srv.URL + "/file"}, 0, true},
		{"-O", []string{"--remove-on-error", "-O", srv.URL + "/file"}, len(begun), true},
		{"wildcard", []string{"--clobber", "-O", srv.URL + "/fil*"}, len(begun), true},
		{"-C -", []string{"-C", "-", "-o", "file", srv.URL + "/file"}, len(begun), true},
		{"--segments", []string{"--segments", "3", "-O", srv.URL + "/file"}, 0, false},
		{"--segments, again", []string{"--segments", "3", "-O", srv.URL + "/file"}, len(document), false},
		{"upload", nil, len(document), false},
		{"mirror", []string{"mirror", srv.URL + "/", "."}, 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			if tc.args == nil {
				source := filepath.Join(t.TempDir(), "source")
				if err := os.WriteFile(source, document, 0o600); err != nil {
					t.Fatal(err)
				}
				tc.args = []string{"-T", source, "file://" + filepath.ToSlash(path)}
			}
			for range 2 {
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
				if tc.at > 0 {
					if err := os.WriteFile(path, document[:tc.at], 0o600); err != nil {
						t.Fatal(err)
					}
				}
				done := startAtOnce(t, dir, tc.args)
				looks, wrong := 0, 0
				for running := true; running; looks++ {
					select {
					case <-done:
						running = false
					default:
					}
					got, err := os.ReadFile(path)
					whole := len(got) == len(document) || tc.inPlace && running
					if !errors.Is(err, fs.ErrNotExist) && !(whole && bytes.HasPrefix(document, got)) {
						wrong++
					}
				}
				if got, err := os.ReadFile(path); wrong > 0 || !bytes.Equal(got, document) {
					t.Errorf("%d of %d looks were wrong; %d bytes, %v, want %d", wrong, looks, len(got), err, len(document))
				}
			}
			if left, err := filepath.Glob(filepath.Join(dir, "file?*")); len(left) > 0 || err != nil {
				t.Errorf("left: %q, %v", left, err)
			}
		})
	}
}

// startAtOnce starts several programs, and returns a channel that is closed when all have ended.
func startAtOnce(t *testing.T, dir string, args []string) <-chan struct{} {
	t.Helper()
	programs := make([]*exec.Cmd, 4)
	said := make([]bytes.Buffer, len(programs))
	for i := range programs {
		programs[i] = program(t, append([]string{"-sS"}, args...)...)
		if args[0] == "mirror" {
			programs[i] = program(t, args...)
		}
		programs[i].Dir, programs[i].Stderr = dir, &said[i]
		if err := programs[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		succeeded := 0
		for i, p := range programs {
			text := ""
			if err := p.Wait(); err == nil {
				succeeded++
			} else if text = said[i].String(); !strings.Contains(text, "another process") && !strings.Contains(text, "another mirror") {
				t.Errorf("%v: %s", err, text)
			}
		}
		if succeeded == 0 {
			t.Error("none has succeeded")
		}
	}()
	return done
}
