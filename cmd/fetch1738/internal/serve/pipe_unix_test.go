//go:build unix

package serve

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/verbtest"
)

// TestServePipe tests that a named pipe in place of a folder is an error, and is not waited for.
func TestServePipe(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Skip("no named pipes here:", err)
	}
	for _, args := range [][]string{{"--ftp", "0", "--root", pipe}, {"--control", "0", "--root", pipe}, {"--control", "0", "--store", pipe}} {
		got := verbtest.Run(t, Command(), "", args...)
		if got.Code != 26 || got.Out != "" || !strings.Contains(got.Err, "pipe/: not a directory") {
			t.Errorf("serve %q: %+v", args, got)
		}
		verbtest.OneLine(t, got.Err)
	}
}
