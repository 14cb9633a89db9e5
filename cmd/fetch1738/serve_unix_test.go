//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestServePipe tests that a named pipe in place of a folder is an error, and is not waited for.
func TestServePipe(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Skip("no named pipes here:", err)
	}
	for _, args := range [][]string{{"--ftp", "0", "--root", pipe}, {"--control", "0", "--root", pipe}, {"--control", "0", "--store", pipe}} {
		got := runVerb(t, "serve", "", args...)
		if got.code != 26 || got.out != "" || !strings.Contains(got.err, "pipe/: not a directory") {
			t.Errorf("serve %q: %+v", args, got)
		}
		oneLine(t, got.err)
	}
}
