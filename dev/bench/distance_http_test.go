package bench

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/fetch1738/fetch1738/dev/bench/relay"
)

// BenchmarkDistanceHTTPS fetches documents of 4 KiB by https from nginx, which speaks HTTP/1.1 only
// ("h1"), or HTTP/2, too ("h2"), and reports round trips for each document: 100 in turn, and 1,000
// with -Z, of which curl fetches 50 at a time. Both programs choose the version (HTTP and
// curl-HTTP). The bars for ours/curl@h2 are 0.2 in turn and 0.6 with -Z.
//
// The relay does not look into TLS. It holds back what the client sends first, the request or the
// start of TLS, until TCP would have connected.
func BenchmarkDistanceHTTPS(b *testing.B) {
	ours, curl := command(b), tool(b, "curl")
	for _, bench := range []struct {
		name    string
		n       int
		options []string
	}{
		{"in turn", few(100), nil},
		{"parallel", few(1000), []string{"-Z"}},
	} {
		root := files(b, 1, bench.n)
		server := serveNginx(b, root)
		glob := func(program string) func(url, dir string) []string {
			return func(url, dir string) []string {
				args := []string{program, "-s", "--cacert", server.certificate, "--create-dirs", "-o", dir + "/d0/f#1.bin"}
				return append(append(args, bench.options...), fmt.Sprintf("%s/d0/f[0-%d].bin", url, bench.n-1))
			}
		}
		for _, distant := range []far{
			distance(b, "h1", server.secure, relay.Line{}), distance(b, "h2", server.h2, relay.Line{}),
		} {
			b.Run(bench.name+"/"+distant.name, func(b *testing.B) {
				race(b, task{servers: []far{distant}, per: float64(bench.n), root: root},
					client{name: "ours", fetch: glob(ours)}, client{name: "curl", fetch: glob(curl)})
				b.ReportMetric(version(b, ours, distant.near+"/d0/f0.bin", server.certificate), "HTTP")
				b.ReportMetric(version(b, curl, distant.near+"/d0/f0.bin", server.certificate), "curl-HTTP")
			})
		}
	}
}

// BenchmarkDistanceHTTPSLarge fetches 256 MiB by https, over a line of 100 Mbit/s, by the version of
// HTTP that ours chooses (HTTP), by HTTP/1.1, and by curl. The bar for wall/http1.1 is 1.02. MiB is
// the maximum of resident memory.
func BenchmarkDistanceHTTPSLarge(b *testing.B) {
	const rate = 100_000_000 / 8
	ours, curl := command(b), tool(b, "curl")
	root := b.TempDir()
	makeFile(b, filepath.Join(root, "large"), large()/4)
	server := serveNginx(b, root)
	url := distance(b, "h2", server.h2, relay.Line{Rate: rate}).url + "/large"
	want, err := sumOf(filepath.Join(root, "large"))
	check(b, err)
	out := filepath.Join(b.TempDir(), "out")
	fetch := func(program string, options ...string) func() cost {
		return func() cost {
			spent := run(b, out, program, append([]string{"-s", "--cacert", server.certificate, "-o", out, url}, options...)...)
			if got, err := sumOf(out); err != nil || got != want {
				b.Fatalf("%s fetched other bytes: %v", program, err)
			}
			return spent
		}
	}
	compare(b, fetch(ours), peer{"http1.1", fetch(ours, "--http1.1")}, peer{"curl", fetch(curl)})
	b.ReportMetric(version(b, ours, url, server.certificate, "-r", "0-9"), "HTTP")
}
