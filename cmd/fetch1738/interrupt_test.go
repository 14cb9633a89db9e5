package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
)

// A signal ends a transfer at once; what came stays, and the exit code is what a
// shell makes of the signal.
func TestSignals(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		signal syscall.Signal
		option string
		want   int
	}{
		{syscall.SIGINT, "--no-parallel", 130},
		{syscall.SIGTERM, "--no-parallel", 143},
		{syscall.SIGINT, "--parallel", 130},
		{syscall.SIGTERM, "--parallel", 143},
	} {
		t.Run(fmt.Sprint(tc.signal, " ", tc.option), func(t *testing.T) {
			srv := testserver.NewFTP(t, func(s *testserver.FTP) {
				s.Content = fstest.MapFS{"file": {Data: []byte(strings.Repeat("x", 1000))}}
			})
			srv.On("RETR", 0, testserver.Drip(400, time.Hour))
			path := filepath.Join(t.TempDir(), "file")
			args := []string{tc.option, "-C", "-", "-o", path, srv.URL + "/file"}
			cmd := program(t, append(args, "-v")...)
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(stderr)
			for lines.Scan() && !strings.HasPrefix(lines.Text(), "{ [400 bytes") {
			}
			waitForSize(t, path, 400)
			if err := cmd.Process.Signal(tc.signal); err != nil {
				t.Fatal(err)
			}
			var rest []string
			for lines.Scan() {
				rest = append(rest, lines.Text())
			}
			_ = cmd.Wait() // the code is what counts
			if got := cmd.ProcessState.ExitCode(); got != tc.want {
				t.Errorf("exit code %d, want %d", got, tc.want)
			}
			if len(rest) > 0 {
				t.Errorf("said after the signal: %q", rest)
			}
			if b, err := os.ReadFile(path); err != nil || len(b) != 400 {
				t.Errorf("%d octets are left, %v; want the 400 that came", len(b), err)
			}
			srv.ResetFaults()
			if out, err := program(t, args...).CombinedOutput(); err != nil {
				t.Errorf("going on: %v: %s", err, out)
			}
			if b, err := os.ReadFile(path); err != nil || len(b) != 1000 {
				t.Errorf("%d octets after going on, %v; want 1000", len(b), err)
			}
		})
	}
}

// program is fetch1738 as a process of its own.
func program(t *testing.T, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Args[0] = "fetch1738" // see testscript.Main
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_CONFIG_HOME=")
	return cmd
}

func waitForSize(t *testing.T, path string, size int64) {
	t.Helper()
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	for {
		if info, err := os.Stat(path); err == nil && info.Size() >= size {
			return
		}
		<-ticks.C
	}
}
