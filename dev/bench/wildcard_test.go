package bench

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// BenchmarkWildcard looks up a wildcard in a directory of a million names and requests the first of
// them, which does not exist. MiB is the maximum of resident memory. The bar is 100.
func BenchmarkWildcard(b *testing.B) {
	var listing strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintf(&listing, "type=file;size=4096;modify=19941201120000;UNIX.mode=0644; document-%07d.txt\r\n", i)
	}
	s, err := ftptest.Start(b.Context(), "")
	check(b, err)
	defer s.Close()
	s.On("MLSD", 0, testserver.Data(listing.String()))
	ours, dir := command(b), b.TempDir()
	var memory, wall []float64
	for b.Loop() {
		spent, code := measure(b, dir, ours, "-s", "--fail-early", "--output-dir", dir, "-O", s.URL+"/*.txt")
		if code != 78 { // the server has no document of that name
			b.Fatalf("exit code %d", code)
		}
		memory, wall = append(memory, spent.memory), append(wall, spent.wall.Seconds())
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		b.Fatalf("files left behind: %s", left)
	}
	b.ReportMetric(slices.Max(memory), "MiB")
	b.ReportMetric(median(wall), "s")
}
