package interop

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestParallelSmallFiles fetches two thousand files by -Z: each must be there,
// and be itself.
func TestParallelSmallFiles(t *testing.T) {
	const files = 2000
	srv := startVsftpd(t)
	program := buildCommand(t)
	makeDir(t, filepath.Join(srv.root, "many"), 0o755)
	want := make([][sha256.Size]byte, files)
	for i := range files {
		data := randomOctets(4 << 10)
		want[i] = sha256.Sum256(data)
		writeFile(t, filepath.Join(srv.root, "many", fmt.Sprint(i)), string(data))
	}
	for _, option := range []string{"--parallel-max=50", "--parallel-max-host=3"} {
		dir := t.TempDir()
		url := fmt.Sprintf("ftp://%s/many/[0-%d]", srv.addr, files-1)
		if _, code := runTool(t, program, "-sSZ", option, "--output-dir", dir, "-o", "#1", url); code != 0 {
			t.Errorf("%s: exit code %d", option, code)
		}
		for i := range files {
			data, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(i)))
			if err != nil || sha256.Sum256(data) != want[i] {
				t.Fatalf("%s: file %d has %d octets that are not its own, %v", option, i, len(data), err)
			}
		}
	}
}

// TestParallelFewConnections has a server that takes three connections from an
// address, and four times as many transfers as that at once.
func TestParallelFewConnections(t *testing.T) {
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
	if said := string(out); err != nil || !strings.Contains(said, "421 There are too many connections") || !strings.Contains(said, "going on with 3 at once") {
		t.Errorf("%v: %s", err, said)
	}
	var got []byte
	for i := range 20 {
		data, _ := os.ReadFile(filepath.Join(dir, fmt.Sprintf("part%02d", i))) // what is missing shows
		got = append(got, data...)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%d octets came that are not the %d there are", len(got), len(want))
	}
}

// TestManyURLs makes URLs as it needs them: a hundred thousand take no more room
// than a hundred.
func TestManyURLs(t *testing.T) {
	program := buildCommand(t)
	var used []int64
	for _, n := range []int{100, 100000} {
		cmd := exec.Command(program, "-qsZ", "-o", os.DevNull, fmt.Sprintf("file://%s/none[1-%d]", t.TempDir(), n))
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 37 {
			t.Fatal(err)
		}
		used = append(used, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) // in KiB
	}
	if used[1]-used[0] > 16<<10 {
		t.Errorf("%d KiB for a hundred, %d for a hundred thousand", used[0], used[1])
	}
}

// TestKilled has a transfer that is killed three times and goes on from there.
// BenchmarkKilled in bench does it with more.
func TestKilled(t *testing.T) {
	const size = 64 << 20
	srv := startVsftpd(t, "anon_max_rate=100000000")
	program := buildCommand(t)
	data := randomOctets(size)
	writeFile(t, filepath.Join(srv.root, "pub/large"), string(data))
	path := filepath.Join(t.TempDir(), "large")
	args := []string{"-s", "-C", "-", "-o", path, "ftp://" + srv.addr + "/pub/large"}
	for i := range int64(3) {
		limit := (i*size + rand.Int64N(size)) / 4
		got := killAt(t, exec.Command(program, args...), path, limit)
		t.Logf("killed after %d octets, wanted %d", got, limit)
	}
	if _, code := runTool(t, program, args...); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got, err := os.ReadFile(path); err != nil || sha256.Sum256(got) != sha256.Sum256(data) {
		t.Errorf("%d octets that are not the file's, %v", len(got), err)
	}
}

// killAt starts cmd and kills it when its file has so many octets. It gives how
// many there are then.
func killAt(t *testing.T, cmd *exec.Cmd, path string, size int64) int64 {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ticks := time.NewTicker(time.Millisecond)
	defer ticks.Stop()
	for range 20000 {
		if info, err := os.Stat(path); err == nil && info.Size() >= size {
			break
		}
		<-ticks.C
	}
	var died *exec.ExitError
	if err := errors.Join(cmd.Process.Kill(), cmd.Wait()); !errors.As(err, &died) {
		t.Fatalf("it ended by itself before it was killed: %v", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
