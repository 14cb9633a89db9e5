package bench

import (
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkKilled fetches 1 GiB with a program that is killed at three random points and resumes
// with -C - each time. The result must equal the file.
func BenchmarkKilled(b *testing.B) {
	url := startVsftpd(b, "anon_max_rate=300000000") + "/large"
	program := command(b)
	out := filepath.Join(b.TempDir(), "out")
	want := sum(b, out, tool(b, "curl"), "-s", "-o", out, url)
	size := int64(large())
	for b.Loop() {
		check(b, os.Remove(out))
		for i := range int64(3) {
			cmd := exec.Command(program, "-s", "-C", "-", "-o", out, url)
			check(b, cmd.Start())
			limit := (i*size + rand.Int64N(size)) / 4
			ticks := time.NewTicker(time.Millisecond)
			for have := int64(-1); have < limit; <-ticks.C {
				if info, err := os.Stat(out); err == nil {
					have = info.Size()
				}
			}
			ticks.Stop()
			check(b, cmd.Process.Kill())
			if err := cmd.Wait(); err == nil {
				b.Fatal("the program ended before it was killed")
			}
			info, err := os.Stat(out)
			check(b, err)
			b.Logf("killed after %d bytes", info.Size())
		}
		if got := sum(b, out, program, "-s", "-C", "-", "-o", out, url); got != want {
			b.Fatal("the file has the wrong content")
		}
	}
}

// sum runs a program that creates the file out, and returns the checksum of the file.
func sum(b *testing.B, out, program string, args ...string) [sha256.Size]byte {
	b.Helper()
	if said, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, said)
	}
	sum, err := sumOf(out)
	check(b, err)
	return sum
}

func sumOf(name string) (sum [sha256.Size]byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return [sha256.Size]byte(h.Sum(nil)), err
}
