package bench

import (
	"context"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/transport"
)

// BenchmarkTransport compares RoundTrip of a Transport with Fetch of its Resolver, in turn. us/extra
// is the difference in microseconds, between the fastest batches of both: what else the machine does
// takes longer than the difference. The bar is 3.
//
//	go test -run '^$' -bench Transport -benchtime 3000x ./dev/bench
func BenchmarkTransport(b *testing.B) {
	const batch = 50
	file := filepath.Join(b.TempDir(), "document")
	makeFile(b, file, 4096)
	r := &fetch1738.Resolver{Schemes: []fetch1738.Scheme{{Names: []string{"ftp"}, New: func(*fetch.Env) driver.Fetcher { return inMemory{} }}}}
	defer r.Close()
	transport := &transport.Transport{Resolver: r, Files: true}
	for _, bench := range []struct{ name, url string }{
		{"file", "file://" + file}, {"ftp in memory", "ftp://ftp.example.org/pub/document"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			asked, err := r.Request(b.Context(), bench.url)
			check(b, err)
			req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, bench.url, nil)
			check(b, err)
			spent := func(request func() (io.ReadCloser, error)) float64 {
				start := time.Now()
				for range batch {
					body, err := request()
					if err != nil {
						b.Fatal(err)
					}
					body.Close()
				}
				return time.Since(start).Seconds() * 1e6 / batch
			}
			fetched, tripped := math.Inf(1), math.Inf(1)
			for b.Loop() {
				fetched = min(fetched, spent(func() (io.ReadCloser, error) {
					res, err := r.Fetch(b.Context(), asked)
					if err != nil {
						return nil, err
					}
					return res.Body, nil
				}))
				tripped = min(tripped, spent(func() (io.ReadCloser, error) {
					res, err := transport.RoundTrip(req)
					if err != nil {
						return nil, err
					}
					return res.Body, nil
				}))
			}
			b.ReportMetric(fetched, "us/fetch")
			b.ReportMetric(tripped-fetched, "us/extra")
		})
	}
}

// inMemory fetches the same file for every URL.
type inMemory struct{}

func (inMemory) Fetch(_ context.Context, req *fetch.Request) (*fetch.Resource, error) {
	return &fetch.Resource{
		Locator: req.Locator, Attributes: fetch.Attributes{Size: 4096, ModTime: time.Unix(1e9, 0)},
		Body: io.NopCloser(strings.NewReader("")),
	}, nil
}
