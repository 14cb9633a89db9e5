package gateway

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// A slowDirectory is a Fetcher of a directory that sends an entry every 10 milliseconds.
type slowDirectory struct{ files int }

func (d slowDirectory) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	dir := req.Locator.(*locator.FTP)
	return &fetch.Resource{Locator: dir, Kind: fetch.KindDirectory, Body: http.NoBody, Items: func(yield func(fetch.Item, error) bool) {
		for i := range d.files {
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
				yield(fetch.Item{}, ctx.Err())
				return
			}
			l := *dir
			l.CWD, l.Name = nil, fmt.Sprintf("f%05d", d.files-i)
			if !yield(fetch.Item{Name: l.Name, Locator: &l, Kind: fetch.KindDocument}, nil) {
				return
			}
		}
	}}, nil
}

// A timedResponse is a response that notes when its parts were sent.
type timedResponse struct {
	*httptest.ResponseRecorder
	began time.Time
	sent  []time.Duration // for each row
}

func (w *timedResponse) Write(p []byte) (int, error) {
	for range strings.Count(string(p), "<tr><td>") {
		w.sent = append(w.sent, time.Since(w.began))
	}
	return w.ResponseRecorder.Write(p)
}

// TestSlowListing tests that the first rows of a listing go to a browser while the server still sends
// the rest, and that a page ends when it is full. The listing of 10,000 entries takes 100 seconds.
func TestSlowListing(t *testing.T) {
	for _, tc := range []struct {
		query             string
		files, rows       int
		first, whole      time.Duration // the limits
		contains, without string
	}{
		{"", 10_000, pageRows, 500 * time.Millisecond, 6 * time.Second, "There are more entries in this folder.", "aria-sort"},
		{"", 100, 100, 500 * time.Millisecond, 2 * time.Second, "<p>100 files", "Next page"},
		{"", 10, 10, 500 * time.Millisecond, 500 * time.Millisecond, ">10 files", "In the order of the server"},
		{"?page=2", 10_000, pageRows, 6 * time.Second, 11 * time.Second, "page=3", "aria-sort"},
		{"?sort=name", 10_000, pageRows, 101 * time.Second, 101 * time.Second, "Page 1 of 20", "In the order of the server"},
		{"?filter=f0000", 10_000, 9, 101 * time.Second, 101 * time.Second, "Found in 10000 entries: 9 files", "Next page"},
	} {
		t.Run(fmt.Sprint(tc.files, tc.query), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := (&bigDirectory{}).handler()
				h.Resolver.Schemes[0].New = func(*fetch.Env) driver.Fetcher { return slowDirectory{tc.files} }
				req := httptest.NewRequest(http.MethodGet, "/ftp/host/"+tc.query, nil)
				req.RemoteAddr = "127.0.0.1:1"
				for i := 0; i < len(browser); i += 2 {
					req.Header.Set(browser[i], browser[i+1])
				}
				w := &timedResponse{httptest.NewRecorder(), time.Now(), nil}
				h.ServeHTTP(w, req)
				page := w.Body.String()
				if len(w.sent) != tc.rows || w.sent[0] > tc.first || time.Since(w.began) > tc.whole {
					t.Errorf("%d rows, the first after %v, the last after %v", len(w.sent), w.sent[:min(1, len(w.sent))], time.Since(w.began))
				}
				if !strings.Contains(page, tc.contains) || strings.Contains(page, tc.without) {
					t.Errorf("%q is missing, or %q is in the page\n%s", tc.contains, tc.without, page)
				}
			})
		})
	}
}

// BenchmarkFirstPage measures how long a browser waits for the first page of a listing of 10,000
// entries that is there at once.
func BenchmarkFirstPage(b *testing.B) {
	h := (&bigDirectory{files: 10_000}).handler()
	req := httptest.NewRequest(http.MethodGet, "/ftp/host/pub/", nil)
	req.RemoteAddr = "127.0.0.1:1"
	for i := 0; i < len(browser); i += 2 {
		req.Header.Set(browser[i], browser[i+1])
	}
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(&discarding{header: make(http.Header)}, req.Clone(b.Context()))
	}
}
