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
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// TestSignals tests that a signal ends a transfer at once, that the bytes received are
// kept, that a message says so, and that the exit code is that of a shell for the signal.
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
			srv := ftptest.New(t, func(s *ftptest.Server) {
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
			want := fmt.Sprintf("fetch1738: interrupted: 400 bytes are kept in %s; run the same command again to resume", path)
			if len(rest) != 1 || rest[0] != want {
				t.Errorf("after the signal:\ngot  %q\nwant %q", rest, want)
			}
			if b, err := os.ReadFile(path); err != nil || len(b) != 400 {
				t.Errorf("%d bytes are left, %v; want the 400 that were received", len(b), err)
			}
			srv.ResetFaults()
			if out, err := program(t, args...).CombinedOutput(); err != nil {
				t.Errorf("the same command again: %v: %s", err, out)
			}
			if b, err := os.ReadFile(path); err != nil || len(b) != 1000 {
				t.Errorf("%d bytes after the second run, %v; want 1000", len(b), err)
			}
		})
	}
}

// TestInterruptedSegments tests that the file of --segments is named after a signal, and
// that the same command resumes it.
func TestInterruptedSegments(t *testing.T) {
	t.Parallel()
	content := []byte(strings.Repeat("0123456789abcdef", 4<<16)) // 4 MiB
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"file": {Data: content, ModTime: time.Date(1994, 12, 1, 0, 0, 0, 0, time.UTC)}}
	})
	srv.On("RETR", 0, testserver.Drip(64<<10, time.Hour))
	path := filepath.Join(t.TempDir(), "file")
	args := []string{"--segments", "2", "-o", path, srv.URL + "/file"}
	cmd := program(t, append(args, "-v")...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "{ [") {
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	last := ""
	for lines.Scan() {
		last = lines.Text()
	}
	_ = cmd.Wait() // the message is what counts
	if want := fmt.Sprintf("fetch1738: interrupted: the parts received are kept in %s.segments; run the same command again to resume", path); last != want {
		t.Errorf("got  %q\nwant %q", last, want)
	}
	srv.ResetFaults()
	if out, err := program(t, args...).CombinedOutput(); err != nil {
		t.Errorf("the same command again: %v: %s", err, out)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != string(content) {
		t.Errorf("%d bytes after the second run, %v; want %d", len(b), err, len(content))
	}
}

// TestInterruptedMirror tests that an interrupted mirror says how to continue.
func TestInterruptedMirror(t *testing.T) {
	t.Parallel()
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"file": {Data: []byte(strings.Repeat("x", 1000))}}
	})
	srv.On("RETR", 0, testserver.Drip(400, time.Hour))
	dir := filepath.Join(t.TempDir(), "copy")
	cmd := program(t, "mirror", "-vv", srv.URL+"/", dir)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "> RETR ") {
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	last := ""
	for lines.Scan() {
		last = lines.Text()
	}
	_ = cmd.Wait() // the message and the code are what counts
	if want := "fetch1738: interrupted at 0 of 1 files, 0 B of 1.0 KiB; run the same command again to continue"; last != want || cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("exit code %d, said %q; want 130, %q", cmd.ProcessState.ExitCode(), last, want)
	}
	srv.ResetFaults()
	if out, err := program(t, "mirror", srv.URL+"/", dir).CombinedOutput(); err != nil {
		t.Errorf("the same command again: %v: %s", err, out)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || len(b) != 1000 {
		t.Errorf("%d bytes after the second run, %v; want 1000", len(b), err)
	}
}

// program returns fetch1738 as a process.
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
