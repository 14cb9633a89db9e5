package main

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// After a mirror was killed, the next run continues: complete files are not fetched again, and the
// incomplete one is resumed.
func TestMirrorKilled(t *testing.T) {
	for signal, want := range map[syscall.Signal]int{syscall.SIGKILL: -1, syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		t.Run(signal.String(), func(t *testing.T) {
			big := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
			srv := ftptest.New(t, func(s *ftptest.Server) {
				s.Content = fstest.MapFS{
					"a": {Data: []byte("a\n"), ModTime: time.Unix(1e9, 0)}, "big": {Data: big, ModTime: time.Unix(1e9, 0)}, "c": {Data: []byte("c\n")},
				}
			})
			srv.On("RETR big", 1, testserver.Drip(20_000, time.Hour))
			dir := t.TempDir()
			cmd := program(t, "mirror", "-vv", "--connections", "1", srv.URL+"/", dir)
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(stderr)
			for lines.Scan() && lines.Text() != "> RETR big" {
			}
			waitForPart(t, dir)
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() {
				if strings.HasPrefix(lines.Text(), "fetch1738: (") {
					t.Errorf("standard error: %q", lines.Text())
				}
			}
			_ = cmd.Wait() // only the exit code is checked
			if got := cmd.ProcessState.ExitCode(); got != want {
				t.Errorf("exit code %d, want %d", got, want)
			}

			srv.ResetFaults()
			srv.ResetTranscript()
			out, err := program(t, "mirror", srv.URL+"/", dir).Output()
			if err != nil || !strings.HasPrefix(string(out), "2 new, 0 changed, 1 unchanged, 0 gone, 0 skipped, 0 failed;") {
				t.Errorf("%v, %s", err, out)
			}
			var asked []string
			for _, line := range srv.Transcript().From(testserver.FromClient) {
				if strings.HasPrefix(line, "RE") {
					asked = append(asked, strings.TrimRight(line, "0123456789"))
				}
			}
			if text := strings.Join(asked, " "); strings.Count(text, "REST ") != 1 || strings.Contains(text, "RETR a") {
				t.Errorf("commands sent: %s", text)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "big")); err != nil || !bytes.Equal(b, big) {
				t.Errorf("big has %d bytes, %v", len(b), err)
			}
		})
	}
}

// waitForPart waits until the manifest says how far a large file is.
func waitForPart(t *testing.T, dir string) {
	t.Helper()
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	for {
		text, err := os.ReadFile(filepath.Join(dir, mirror.ManifestFile))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(`"came":`)) {
			return
		}
		<-ticks.C
	}
}

// For a site whose menus use another name, one warning says why nothing was copied and what to do.
func TestMirrorOtherName(t *testing.T) {
	srv := gophertest.New(t, func(s *gophertest.Server) {
		s.Host, s.Port = "notes.example", 70
		s.Content = fstest.MapFS{"one.txt": {Data: []byte("one\n")}, "two.txt": {Data: []byte("two\n")}, "sub/three.txt": {Data: []byte("three\n")}}
	})
	dir := t.TempDir()
	cmd := program(t, "mirror", srv.URL+"/", dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	want := "fetch1738: warning: " + srv.URL + "/: skipped 3 items on notes.example:70; " +
		"if that is another name for this server, use --alias notes.example:70\n"
	if err != nil || stderr.String() != want || !strings.HasPrefix(string(out), "1 new, 0 changed, 0 unchanged, 0 gone, 3 skipped,") {
		t.Errorf("%v\n%s%swant %s", err, out, &stderr, want)
	}
	cmd = program(t, "mirror", "--alias", "notes.example:70", srv.URL+"/", dir)
	stderr.Reset()
	cmd.Stderr = &stderr
	if out, err := cmd.Output(); err != nil || stderr.Len() > 0 || !strings.HasPrefix(string(out), "4 new, 0 changed, 1 unchanged, 0 gone, 0 skipped,") {
		t.Errorf("%v\n%s%s", err, out, &stderr)
	}
}
