package http

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/http/internal/exchange"
)

// TestRetries has what is retried, how many times, and after which delay.
func TestRetries(t *testing.T) {
	refuse := &net.OpError{Op: "dial", Err: net.UnknownNetworkError("x")}
	unknown := &net.DNSError{Err: "no such host", IsNotFound: true}
	busy := status("503 Busy", "", "Retry-After: 7")
	for _, tc := range []struct {
		name     string
		retries  int
		method   string
		first    string // the answer to all but the last attempt
		dial     error
		attempts int
		took     time.Duration
	}{
		{"broken, default", 0, "GET", cut, nil, 3, 750 * time.Millisecond},
		{"broken, four times", 4, "GET", cut, nil, 5, (250 + 500 + 1000 + 2000) * time.Millisecond},
		{"broken, never", -1, "GET", cut, nil, 1, 0},
		{"broken PUT", 0, "PUT", cut, nil, 3, 750 * time.Millisecond},
		{"broken POST", 3, "POST", cut, nil, 1, 0},
		{"busy, default", 0, "GET", busy, nil, 1, 0},
		{"busy, asked for", 2, "GET", busy, nil, 3, 14 * time.Second},
		{"busy POST", 2, "POST", busy, nil, 1, 0},
		{"busy for long", 1, "GET", status("429 Slow", "", "Retry-After: 99999999"), nil, 2, longestWait},
		{"busy until", 1, "GET", status("503 Busy", "", "Retry-After: Sat, 01 Jan 2000 00:00:05 GMT"), nil, 2, 5 * time.Second},
		{"busy until the past", 1, "GET", status("503 Busy", "", "Retry-After: Tue, 20 Dec 1994 17:38:00 GMT"), nil, 2, 0},
		{"busy, no word", 1, "GET", status("502 Bad", "", "Retry-After: soon"), nil, 2, 250 * time.Millisecond},
		{"missing", 3, "GET", status("404 No", ""), nil, 1, 0},
		{"garbage", 3, "GET", "220 ftp\r\n\r\n" + cut, nil, 1, 0},
		{"unreachable, default", 0, "GET", "", refuse, 1, 0},
		{"unreachable, asked for", 1, "GET", "", refuse, 2, 250 * time.Millisecond},
		{"unknown host", 3, "GET", "", unknown, 1, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
				v.body()
				if v.n < 9 {
					return tc.first
				}
				return document("end")
			}})
			f := w.fetcher(func(f *Fetcher) {
				f.Retries = tc.retries
				if tc.dial != nil {
					f.Env.Dial = func(context.Context, string, string) (net.Conn, error) {
						w.dials = append(w.dials, "")
						return nil, tc.dial
					}
				}
			})
			told := 0
			ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Retry: func(r fetch.Retry) {
				if told++; r.Attempt != told || r.Err == nil {
					t.Errorf("%s: Trace.Retry was called with %+v", tc.name, r)
				}
			}})
			opt := &Options{Method: tc.method}
			if tc.method != "GET" {
				opt.Body = strings.NewReader("body")
			}
			start := time.Now()
			_, _, err := do(ctx, f, &fetch.Request{Locator: parse(t, "http://a.example/"), Options: opt})
			took := time.Since(start).Truncate(10 * time.Millisecond) // a glance at a kept connection takes less
			attempts := len(w.visits)
			if tc.dial != nil {
				attempts = len(w.dials)
			}
			if err == nil || attempts != tc.attempts || told != tc.attempts-1 || took != tc.took {
				t.Errorf("%s: %d attempts (%d reported), %v after %v", tc.name, attempts, told, err, took)
			}
			f.Close()
		})
	}
}

// TestRetrySucceeds checks that the result of a retry is the same as that of a first attempt.
func TestRetrySucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
			got = append(got, v.body())
			switch v.n {
			case 1:
				return cut
			case 2:
				return status("503 Busy", strings.Repeat("busy", 1000))
			}
			return document("end")
		}})
		f := w.fetcher(func(f *Fetcher) { f.Retries = 2 })
		body, _, err := get(t, f, "http://a.example/", &Options{Method: "PUT", Body: strings.NewReader("body")})
		if err != nil || body != "end" || strings.Join(got, " ") != "body body body" {
			t.Errorf("%q, %v; got %q", body, err, got)
		}
		// A 503 whose body never ends does not delay the retry.
		w = newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
			if v.n == 1 {
				io.WriteString(v.out, "HTTP/1.1 503 Busy\r\nContent-Length: 100\r\n\r\nx")
				time.Sleep(time.Hour)
				return cut
			}
			return document("end")
		}})
		start := time.Now()
		f = w.fetcher(func(f *Fetcher) { f.Retries = 1 })
		if body, _, err := get(t, f, "http://a.example/", nil); err != nil || body != "end" || time.Since(start) != firstWait {
			t.Errorf("%q, %v after %v", body, err, time.Since(start))
		}
		time.Sleep(time.Hour)
	})
}

// A connection that the server has closed between two requests is not an error.
func TestStaleConnection(t *testing.T) {
	w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
		return document("x") + cut // without "Connection: close"
	}})
	f := w.fetcher()
	for range 50 {
		if body, _, err := get(t, f, "http://a.example/", nil); err != nil || body != "x" {
			t.Fatal(body, err)
		}
	}
}

// TestReplyLimit checks that Limits.Reply applies to the whole head, even if it arrives slowly.
func TestReplyLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
			for _, octet := range []byte("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1000)) {
				if _, err := v.out.Write([]byte{octet}); err != nil {
					break
				}
				time.Sleep(time.Second)
			}
			return cut
		}})
		start := time.Now()
		_, _, err := get(t, w.fetcher(), "http://a.example/", nil)
		if fetch.KindOf(err) != fetch.ErrTimeout || time.Since(start) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		time.Sleep(time.Hour)
	})
}

// Case 115: the client of net/http follows no redirects.
func TestClient(t *testing.T) {
	c := newClient(new(exchange.Transport), new(exchange.Exchange))
	if err := c.CheckRedirect(nil, nil); err != http.ErrUseLastResponse {
		t.Errorf("CheckRedirect: %v", err)
	}
	if c.Jar != nil {
		t.Error("there is a cookie jar")
	}
}
