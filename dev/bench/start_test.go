package bench

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// BenchmarkStart fetches a document of a few bytes, with a new process each time: it measures the
// cost of starting and ending a process. cpu/curl is the ratio of CPU time, user and system
// together; ms is our CPU time. With authorities, CURL_CA_BUNDLE names the system's certificates,
// which are not needed here. The bars are 0.6 for file and 0.7 for the others.
//
//	go test -bench Start -benchtime 100x ./dev/bench
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	document := filepath.Join(dir, "document")
	check(b, os.WriteFile(document, []byte("hello, world\n"), 0o644))
	ftp, err := ftptest.Start(b.Context(), "")
	check(b, err)
	defer ftp.Close()
	check(b, ftp.Put("document", []byte("hello, world\n")))
	gopher, err := gophertest.Start(b.Context(), "", func(s *gophertest.Server) { s.Content = os.DirFS(dir) })
	check(b, err)
	defer gopher.Close()
	ours, curl := command(b), tool(b, "curl")
	for _, bench := range []struct{ name, url string }{
		{"file", "file://" + document}, {"ftp", ftp.URL + "/document"}, {"gopher", gopher.URL + "/0/document"},
	} {
		b.Run(bench.name, func(b *testing.B) { compareStart(b, ours, curl, bench.url) })
		b.Run(bench.name+" with authorities", func(b *testing.B) {
			const bundle = "/etc/ssl/certs/ca-certificates.crt"
			if _, err := os.Stat(bundle); err != nil {
				b.Skip(err)
			}
			compareStart(b, ours, curl, bench.url, "CURL_CA_BUNDLE="+bundle)
		})
	}
}

// compareStart fetches a URL with both programs in turn; env is added to their environment.
func compareStart(b *testing.B, ours, curl, url string, env ...string) {
	env = append(env, "HOME="+b.TempDir())
	start := func(program string) float64 {
		spent, code := measureIn(b, env, program, "-s", url)
		if code != 0 {
			b.Fatalf("%s ended with code %d", program, code)
		}
		return spent.cpu.Seconds()
	}
	var us, them []float64
	for b.Loop() {
		them = append(them, start(curl))
		us = append(us, start(ours))
	}
	b.ReportMetric(median(us)/median(them), "cpu/curl")
	b.ReportMetric(median(us)*1000, "ms")
}
