package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkFTPParallel is 2,000 files of 4 KiB, each to a file of its own, by -Z
// with eight connections, and with as many as the program takes by itself. The
// bar for wall/curl, the ratio to curl with eight, is 1.0.
func BenchmarkFTPParallel(b *testing.B) {
	url := fmt.Sprintf("%s/small/f[0-%d]", startVsftpd(b), small-1)
	ours, curl := command(b), tool(b, "curl")
	dir := b.TempDir()
	fetch := func(program string, args ...string) float64 {
		check(b, os.RemoveAll(filepath.Join(dir, "out")))
		check(b, os.Mkdir(filepath.Join(dir, "out"), 0o755))
		args = append([]string{"-s", "-Z", "-o", filepath.Join(dir, "out", "#1"), url}, args...)
		seconds := run(b, filepath.Join(dir, "none"), program, args...).wall.Seconds()
		files, err := os.ReadDir(filepath.Join(dir, "out"))
		check(b, err)
		if len(files) != small {
			b.Fatalf("%s fetched %d of %d files", program, len(files), small)
		}
		return seconds
	}
	var eight, usual, them []float64
	for b.Loop() {
		them = append(them, fetch(curl, "--parallel-max", "8"))
		eight = append(eight, fetch(ours, "--parallel-max", "8"))
		usual = append(usual, fetch(ours))
	}
	b.ReportMetric(median(eight)/median(them), "wall/curl")
	b.ReportMetric(median(usual)/median(them), "default/curl")
	b.ReportMetric(median(eight)*1000, "ms")
}
