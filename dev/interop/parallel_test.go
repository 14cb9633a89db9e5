package interop

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/internal/file/resume"
)

// TestParallelSmallFiles fetches hundreds of files by -Z, and some with few connections. Each must
// exist and have the right contents.
func TestParallelSmallFiles(t *testing.T) {
	t.Parallel()
	const files = 600
	srv := startVsftpd(t)
	program := buildCommand(t)
	makeDir(t, filepath.Join(srv.root, "many"), 0o755)
	want := make([][sha256.Size]byte, files)
	for i := range files {
		data := randomOctets(4 << 10)
		want[i] = sha256.Sum256(data)
		writeFile(t, filepath.Join(srv.root, "many", fmt.Sprint(i)), string(data))
	}
	for option, files := range map[string]int{"--parallel-max=50": files, "--parallel-max-host=3": files / 10} {
		dir := t.TempDir()
		url := fmt.Sprintf("ftp://%s/many/[0-%d]", srv.addr, files-1)
		if _, code := runTool(t, program, "-sSZ", option, "--output-dir", dir, "-o", "#1", url); code != 0 {
			t.Errorf("%s: exit code %d", option, code)
		}
		for i := range files {
			data, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(i)))
			if err != nil || sha256.Sum256(data) != want[i] {
				t.Fatalf("%s: file %d has %d bytes, which differ from the expected ones, %v", option, i, len(data), err)
			}
		}
	}
}

// fewer is what -v shows when a server gets fewer connections than it did; how
// many it serves at that moment depends on the moment.
var fewer = regexp.MustCompile(`; continuing with [1-9] at once\n`)

// TestParallelFewConnections has a server that accepts three connections from an address, and four
// times as many transfers at once.
func TestParallelFewConnections(t *testing.T) {
	t.Parallel()
	srv := startVsftpd(t, "max_per_ip=3")
	program := buildCommand(t)
	var want []byte
	for i := range 20 {
		data := randomOctets(1 << 20)
		want = append(want, data...)
		writeFile(t, filepath.Join(srv.root, "pub", fmt.Sprintf("part%02d", i)), string(data))
	}
	dir := t.TempDir()
	cmd := exec.Command(program, "-qvZ", "--parallel-max", "12", "--remote-name-all", "--output-dir", dir, fmt.Sprintf("ftp://%s/pub/part[00-19]", srv.addr))
	out, err := cmd.CombinedOutput()
	if said := string(out); err != nil || !strings.Contains(said, "421 There are too many connections") || !fewer.MatchString(said) {
		t.Errorf("%v: %s", err, said)
	}
	var got []byte
	for i := range 20 {
		data, _ := os.ReadFile(filepath.Join(dir, fmt.Sprintf("part%02d", i))) // a missing file makes the contents differ
		got = append(got, data...)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes came that are not the %d there are", len(got), len(want))
	}
}

// TestManyURLs tests that URLs are generated as they are needed: twenty thousand use no more memory
// than a hundred.
func TestManyURLs(t *testing.T) {
	program := buildCommand(t)
	var used []int64
	for _, n := range []int{100, 20000} {
		cmd := exec.Command(program, "-qsZ", "-o", os.DevNull, fmt.Sprintf("file://%s/none[1-%d]", t.TempDir(), n))
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 37 {
			t.Fatal(err)
		}
		used = append(used, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) // in KiB
	}
	if used[1]-used[0] > 12<<10 {
		t.Errorf("%d KiB for a hundred, %d for twenty thousand", used[0], used[1])
	}
}

// TestKilled has a transfer that is killed three times and resumes each time. BenchmarkKilled in
// bench does this with a larger file.
func TestKilled(t *testing.T) {
	t.Parallel()
	const size = 32 << 20
	srv := startVsftpd(t)
	program := buildCommand(t)
	data := randomOctets(size)
	writeFile(t, filepath.Join(srv.root, "pub/large"), string(data))
	path := filepath.Join(t.TempDir(), "large")
	args := []string{"-s", "-C", "-", "-o", path, "ftp://" + srv.addr + "/pub/large"}
	for range 3 {
		r, err := newRelay(false)
		if err != nil {
			t.Fatal(err)
		}
		part := size/8 + rand.Int64N(size/8)
		r.most.Store(part)
		had := fileSize(path)
		compared := min(had, resume.Overlap) // what is fetched again
		killAt(t, exec.Command(program, append(args, "-x", "socks5://"+r.Addr().String())...), path, had+part-compared)
		r.close()
	}
	if _, code := runTool(t, program, args...); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got, err := os.ReadFile(path); err != nil || sha256.Sum256(got) != sha256.Sum256(data) {
		t.Errorf("%d bytes that are not the file's, %v", len(got), err)
	}
}

// killAt starts cmd and kills it when its file has the given size; the server sends no more than
// that.
func killAt(t *testing.T, cmd *exec.Cmd, path string, size int64) {
	t.Helper()
	context.AfterFunc(patience(t), func() { _ = cmd.Process.Kill() })
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	ticks := time.NewTicker(time.Millisecond)
	defer ticks.Stop()
	for fileSize(path) < size {
		select {
		case <-ended:
			t.Fatalf("the program ended before it was killed: %v, with %d bytes of %d", cmd.ProcessState, fileSize(path), size)
		case <-ticks.C:
		}
	}
	_ = cmd.Process.Kill()
	<-ended
	if got := fileSize(path); got != size || cmd.ProcessState.Exited() {
		t.Errorf("%v, with %d bytes of %d", cmd.ProcessState, got, size)
	}
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// TestOneClient has servers with one client at a time: tcpsvd leaves the next one in the queue of the
// system, without a greeting, and vsftpd refuses it, also while the session before is still ending. All
// files come, by each of the ways that use several connections.
func TestOneClient(t *testing.T) {
	program := buildCommand(t)
	for name, setting := range map[string][]string{"inetutils-ftpd": {"-c", "1"}, "vsftpd": {"max_clients=1"}} {
		srv := startDaemon(t, name, setting...)
		want := make(map[string]string)
		for i := range 20 {
			file := fmt.Sprintf("%d/%d", i%3, i)
			want[file] = string(randomOctets(10 << 10))
			makeDir(t, filepath.Join(srv.root, "many", fmt.Sprint(i%3)), 0o755)
			writeFile(t, filepath.Join(srv.root, "many", file), want[file])
		}
		want["big"] = string(randomOctets(8 << 20))
		writeFile(t, filepath.Join(srv.root, "many/big"), want["big"])
		url := "ftp://" + srv.addr + "/many/"
		for way, tt := range map[string]struct {
			args  []string
			files string // those that come have a name that begins so
		}{
			"mirror":   {[]string{"mirror", "-q", "--connections", "8", url, "DIR"}, ""},
			"-Z":       {[]string{"-qsSZ", "--retry", "5", "--output-dir", "DIR", "-o", "0/#1", "--create-dirs", url + "0/[0-18:3]"}, "0/"},
			"segments": {[]string{"-qsS", "--retry", "5", "--segments", "4", "-o", "DIR/big", url + "big"}, "big"},
		} {
			dir := t.TempDir()
			var args []string
			for _, arg := range tt.args {
				args = append(args, strings.Replace(arg, "DIR", dir, 1))
			}
			if out, code := runTool(t, program, args...); code != 0 {
				t.Errorf("%s, %s: exit code %d, %s", name, way, code, out)
			}
			for file, data := range want {
				got, err := os.ReadFile(filepath.Join(dir, file))
				if strings.HasPrefix(file, tt.files) && (err != nil || string(got) != data) {
					t.Errorf("%s, %s: %s has %d bytes, %v", name, way, file, len(got), err)
				}
			}
		}
	}
}
