package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/dev/bench/relay"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
	"github.com/fetch1738/fetch1738/remotefs"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// BenchmarkWalkDir walks a tree of 2,000 files in 100 folders by fs.WalkDir, and has a mirror list
// the same tree on one connection, in turn. walk/mirror is the ratio of the medians of their times;
// the bar is 1.2. The server is on this host, or at the other end of the line of the benchmarks
// Distance.
func BenchmarkWalkDir(b *testing.B) {
	folders := few(100)
	root := files(b, folders, 20)
	vsftpd := serveVsftpd(b, root)
	own, err := ftptest.Start(b.Context(), "", func(s *ftptest.Server) { s.Content = os.DirFS(root) })
	check(b, err)
	defer own.Close()
	for _, server := range []far{
		{name: "testserver", url: own.URL},
		{name: "vsftpd", url: vsftpd},
		distance(b, "testserver-far", own.URL, relay.Line{FTP: true}),
		distance(b, "vsftpd-far", vsftpd, relay.Line{FTP: true, Linger: true}),
	} {
		b.Run(server.name, func(b *testing.B) {
			var walks, mirrors []float64
			timed := func(times *[]float64, do func() (files int, err error)) {
				start := time.Now()
				n, err := do()
				*times = append(*times, time.Since(start).Seconds())
				if err == nil && n != folders*20 {
					err = fmt.Errorf("%d files", n)
				}
				check(b, err)
			}
			for b.Loop() {
				timed(&walks, func() (int, error) { return walkDir(b, server.url+"/") })
				timed(&mirrors, func() (int, error) { return listAll(b, server.url+"/") })
			}
			b.ReportMetric(median(walks), "s-walk")
			b.ReportMetric(median(mirrors), "s-mirror")
			b.ReportMetric(median(walks)/median(mirrors), "walk/mirror")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// walkDir counts the files below a folder, by fs.WalkDir.
func walkDir(b *testing.B, url string) (files int, err error) {
	fsys, err := remotefs.New(b.Context(), nil, url)
	if err != nil {
		return 0, err
	}
	defer fsys.Close()
	err = fs.WalkDir(fsys, ".", func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files++
			_, err = d.Info()
		}
		return err
	})
	return files, err
}

// listAll counts the files that a first mirror would fetch, on one connection.
func listAll(b *testing.B, url string) (files int, err error) {
	ref, err := locator.Parser{}.Parse(url)
	if err != nil {
		return 0, err
	}
	var r fetch1738.Resolver
	defer r.Close()
	m := mirror.Mirror{Fetcher: &r, Start: ref.Locator, Dir: b.TempDir(), Connections: 1, DryRun: true}
	summary, err := m.Run(b.Context())
	if summary.Failed > 0 {
		err = errors.Join(err, errors.New("the mirror could not list everything"))
	}
	return summary.New, err
}
