package bench

import (
	"fmt"
	"maps"
	"os"
	"testing"

	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// BenchmarkFTPTiny fetches a file of 4 KiB, with a new process each time. The bar for wall/curl is
// 1.0.
func BenchmarkFTPTiny(b *testing.B) {
	root := files(b, 1, 1)
	compareSmall(b, root, serveVsftpd(b, root)+"/d0/f[0-0].bin")
}

// BenchmarkFTPMany fetches 200 files of 4 KiB on one connection. curl occasionally stalls for a
// second; the median ignores that. The bars are 0.8 for wall/curl and 1.0 for cpu/curl.
func BenchmarkFTPMany(b *testing.B) {
	n := few(200)
	root := files(b, 1, n)
	compareSmall(b, root, fmt.Sprintf("%s/d0/f[0-%d].bin", serveVsftpd(b, root), n-1))
}

// BenchmarkFTPParallel fetches 2,000 files of 4 KiB by -Z with eight connections. The bars are 0.75
// for wall/curl, 0.9 for cpu/curl and 14 for MiB.
func BenchmarkFTPParallel(b *testing.B) {
	n := few(2000)
	root := files(b, 1, n)
	compareSmall(b, root, fmt.Sprintf("%s/d0/f[0-%d].bin", serveVsftpd(b, root), n-1), "-Z", "--parallel-max", "8")
}

// BenchmarkGopherItems fetches 1,000 items of 4 KiB, one after another. The bars are 1.0 for
// wall/curl and 1.4 for cpu/curl.
func BenchmarkGopherItems(b *testing.B) {
	n := few(1000)
	root := files(b, 1, n)
	server, err := gophertest.Start(b.Context(), "", func(s *gophertest.Server) { s.Content = os.DirFS(root) })
	check(b, err)
	defer server.Close()
	compareSmall(b, root, fmt.Sprintf("%s/9/d0/f[0-%d].bin", server.URL, n-1))
}

// compareSmall fetches the files below root/d0, by a URL with a glob, with both programs in turn.
func compareSmall(b *testing.B, root, url string, options ...string) {
	b.Helper()
	fetch := func(program string) func() cost {
		return fetchSmall(b, root, program, func(dir string) []string {
			return append([]string{"-s", "-o", dir + "/f#1.bin", url}, options...)
		})
	}
	compare(b, fetch(command(b)), peer{"curl", fetch(tool(b, "curl"))})
}

// fetchSmall returns a function that fetches the files below root/d0 by a program. args returns its
// arguments for the directory of the files. The directories stay until the end: ext4 creates files
// slowly for some seconds after others were removed.
func fetchSmall(b *testing.B, root, program string, args func(dir string) []string) func() cost {
	b.Helper()
	want, err := sums(root)
	check(b, err)
	home := b.TempDir()
	return func() cost {
		dir, err := os.MkdirTemp(home, "")
		check(b, err)
		check(b, os.Mkdir(dir+"/d0", 0o755))
		spent, code := measure(b, home, program, args(dir+"/d0")...)
		got, err := sums(dir)
		check(b, err)
		if code != 0 || !maps.Equal(got, want) {
			b.Fatalf("%s ended with code %d; %d files of %d, or their contents differ", program, code, len(got), len(want))
		}
		return spent
	}
}
