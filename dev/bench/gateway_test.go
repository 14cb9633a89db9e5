package bench

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/dev/bench/relay"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// startGateway starts a gateway in this process, which may fetch from the servers of the benchmark.
func startGateway(b *testing.B) *httptest.Server {
	b.Helper()
	h := &gateway.Handler{Resolver: &fetch1738.Resolver{Env: fetch.Env{
		Limits: gateway.Limits(), Allow: func(context.Context, fetch.Target) error { return nil },
	}}}
	s := httptest.NewServer(h)
	b.Cleanup(func() { s.Close(); _ = h.Close() })
	return s
}

// through is the URL of the octets of an ftp or gopher URL on a gateway.
func through(s *httptest.Server, url string) string {
	return s.URL + "/" + strings.Replace(url, "://", "/", 1)
}

// BenchmarkGatewayLarge fetches 1 GiB by ftp to a file with the command: directly, and through a
// gateway. speed is the ratio of the speeds, each at its fastest, with a bar of 0.9; cpu is the CPU
// time of the gateway to that of the command, with a bar of 1.3. Through the gateway three programs
// work instead of two, so speed depends on the number of cores.
func BenchmarkGatewayLarge(b *testing.B) { largeByGateway(b, startVsftpd(b)+"/large") }

// BenchmarkGatewayLine is BenchmarkGatewayLarge with a server at the other end of a line of 1 Gbit/s.
// cpu does not count there, because the line is in the same process as the gateway.
//
//	go test -run '^$' -bench GatewayLine -benchtime 3x ./dev/bench
func BenchmarkGatewayLine(b *testing.B) {
	line := relay.Line{FTP: true, Delay: time.Millisecond, Rate: 125_000_000}
	largeByGateway(b, distance(b, "vsftpd", startVsftpd(b), line).url+"/large")
}

func largeByGateway(b *testing.B, url string) {
	b.Helper()
	ours := command(b)
	s := startGateway(b)
	out := filepath.Join(b.TempDir(), "out")
	direct, passed := math.Inf(1), math.Inf(1)
	var cpus, spent []float64
	for b.Loop() {
		touchMemory(b, out)
		command := run(b, out, ours, "-s", "-o", out, url)
		before := ownCPU(b)
		got := run(b, out, ours, "-s", "-f", "-o", out, through(s, url))
		cpu := ownCPU(b) - before
		direct, passed = min(direct, command.wall.Seconds()), min(passed, got.wall.Seconds())
		cpus = append(cpus, cpu.Seconds()/command.cpu.Seconds())
		spent = append(spent, cpu.Seconds()*1000)
	}
	b.ReportMetric(direct/passed, "speed")
	b.ReportMetric(median(cpus), "cpu")
	b.ReportMetric(direct*1000, "command-ms")
	b.ReportMetric(passed*1000, "wall-ms")
	b.ReportMetric(median(spent), "cpu-ms")
	b.ReportMetric(0, "ns/op")
	if sum(b, out, ours, "-s", "-o", out, url) != sum(b, out, ours, "-s", "-f", "-o", out, through(s, url)) {
		b.Error("the file has the wrong content")
	}
}

// ownCPU is the CPU time that this process has used.
func ownCPU(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	check(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// get reads a URL to its end, and returns its length.
func get(ctx context.Context, client *http.Client, url string) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Accept", "text/html, */*")
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	n, err := io.Copy(io.Discard, res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s", res.Status)
	}
	return n, err
}

// BenchmarkGatewayMenu fetches a gopher menu of 100 items as a page, and directly. ms/extra is the
// difference of the medians, with a bar of 3.
//
//	go test -run '^$' -bench GatewayMenu -benchtime 500x ./dev/bench
func BenchmarkGatewayMenu(b *testing.B) {
	content := fstest.MapFS{}
	for i := range 100 {
		content[fmt.Sprintf("pub/file%d.txt", i)] = &fstest.MapFile{Data: []byte("text")}
	}
	srv, err := gophertest.Start(b.Context(), "127.0.0.1:0", func(s *gophertest.Server) { s.Content = content })
	check(b, err)
	s := startGateway(b)
	r := &fetch1738.Resolver{}
	defer r.Close()
	var page, direct []float64
	for b.Loop() {
		start := time.Now()
		res, err := r.Get(b.Context(), srv.URL+"/1/pub")
		check(b, err)
		n := 0
		for _, err := range res.Items {
			check(b, err)
			n++
		}
		check(b, res.Close())
		direct = append(direct, time.Since(start).Seconds()*1000)
		start = time.Now()
		length, err := get(b.Context(), s.Client(), through(s, srv.URL+"/1/pub"))
		check(b, err)
		page = append(page, time.Since(start).Seconds()*1000)
		if n < 100 || length < 1000 {
			b.Fatalf("%d items, %d bytes", n, length)
		}
	}
	b.ReportMetric(median(direct), "ms/fetch")
	b.ReportMetric(median(page)-median(direct), "ms/extra")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkGatewayClients fetches a file with 64 clients at once.
func BenchmarkGatewayClients(b *testing.B) {
	const clients, size = 64, 4 << 20
	srv, err := ftptest.Start(b.Context(), "127.0.0.1:0", func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a.bin": {Data: make([]byte, size), ModTime: time.Unix(1e9, 0)}}
	})
	check(b, err)
	s := startGateway(b)
	s.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = clients
	var seconds []float64
	for b.Loop() {
		start := time.Now()
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				if n, err := get(b.Context(), s.Client(), through(s, srv.URL+"/a.bin")+"?raw"); err != nil || n != size {
					b.Errorf("%d bytes, %v", n, err)
				}
			})
		}
		all.Wait()
		seconds = append(seconds, time.Since(start).Seconds())
	}
	b.ReportMetric(clients*size/median(seconds)/(1<<20), "MiB/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkGatewayGone measures how long the transfer from the server goes on when the client has
// gone away. The bar for ms is 100.
//
//	go test -run '^$' -bench GatewayGone -benchtime 20x ./dev/bench
func BenchmarkGatewayGone(b *testing.B) {
	srv, err := ftptest.Start(b.Context(), "127.0.0.1:0", func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a.bin": {Data: make([]byte, 256<<20), ModTime: time.Unix(1e9, 0)}}
	})
	check(b, err)
	s := startGateway(b)
	var took []float64
	for b.Loop() {
		ctx, cancel := context.WithCancel(b.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, through(s, srv.URL+"/a.bin")+"?raw", nil)
		check(b, err)
		res, err := s.Client().Do(req)
		check(b, err)
		_, err = io.ReadFull(res.Body, make([]byte, 1<<20))
		check(b, err)
		start := time.Now()
		cancel()
		check(b, srv.WaitIdle(b.Context()))
		took = append(took, time.Since(start).Seconds()*1000)
		_ = res.Body.Close()
	}
	b.ReportMetric(median(took), "ms")
	b.ReportMetric(0, "ns/op")
}
