package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// tardy is a connection whose bytes are read some time after they have come, many frames at once.
type tardy struct{ net.Conn }

func (c tardy) Read(p []byte) (int, error) {
	time.Sleep(time.Second)
	return c.Conn.Read(p)
}

// TestHTTP2Together has a response whose frames all come at once.
func TestHTTP2Together(t *testing.T) {
	withHTTP2(t, func(t *testing.T, srv *webtest.Server, f *Fetcher) {
		f.Env.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := srv.Dial(ctx, network, addr)
			return tardy{c}, err
		}
		srv.On("GET", 0, webtest.Interim(103), webtest.Trailers("X-Sum", "1"))
		var told []string
		ctx := fetch.WithTrace(t.Context(), &fetch.Trace{
			Received: func(head []byte) {
				first, _, _ := strings.Cut(string(head), "\r\n")
				told = append(told, first)
			},
		})
		res, err := f.Fetch(ctx, &fetch.Request{Locator: parse(t, srv.URL+"/small")})
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, "response")
		if got, err := io.ReadAll(res.Body); err != nil || string(got) != alphabet || !strings.HasPrefix(string(res.Info.(*Info).Head), "HTTP/2 200 \r\n") {
			t.Errorf("%q, %v, %+v", got, err, res.Info)
		}
		res.Close()
		if want := []string{"HTTP/2 103 ", "HTTP/2 200 ", "response", "x-sum: 1"}; !slices.Equal(told, want) {
			t.Errorf("%q", told)
		}
		f.Close()
		time.Sleep(time.Minute) // until nothing reads
	})
}

// TestHTTP2SentOnce has requests that fail on a connection that was used, and must not be sent again.
func TestHTTP2SentOnce(t *testing.T) {
	withHTTP2(t, func(t *testing.T, srv *webtest.Server, f *Fetcher) {
		if _, _, err := get(t, f, srv.URL+"/small", nil); err != nil {
			t.Fatal(err)
		}
		requests := func(method string) int { return strings.Count(fmt.Sprint(srv.Transcript()), method+" /") }
		srv.On("POST", 0, webtest.Status(421))
		body := io.MultiReader(strings.NewReader("body")) // it cannot be read again
		if _, _, err := get(t, f, srv.URL+"/new", &Options{Body: body}); err == nil || !strings.Contains(err.Error(), "421") || requests("POST") != 1 {
			t.Errorf("%v, %d requests", err, requests("POST"))
		}
		srv.On("HEAD", 0, webtest.ResetStream(-1, "INTERNAL_ERROR"))
		if _, err := f.FindAttributes(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/small")}); fetch.KindOf(err) != fetch.ErrConnectionFailed || requests("HEAD") != 1 {
			t.Errorf("%v, %d requests", err, requests("HEAD"))
		}
	})
}

// TestHTTP2Opening has requests that wait for a connection that another one opens, and that is given up,
// or fails.
func TestHTTP2Opening(t *testing.T) {
	refused := syscall.ECONNREFUSED
	for name, tc := range map[string]struct {
		limit time.Duration // of the request that opens it
		err   error         // of every connection
	}{"deadline": {limit: time.Second}, "failure": {limit: time.Hour, err: &net.OpError{Op: "dial", Err: refused}}} {
		withHTTP2(t, func(t *testing.T, srv *webtest.Server, f *Fetcher) {
			f.Env.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				select {
				case <-ctx.Done():
					return nil, ctx.Err()
				case <-time.After(3 * time.Second):
				}
				if tc.err != nil {
					return nil, tc.err
				}
				return srv.Dial(ctx, network, addr)
			}
			var group sync.WaitGroup
			group.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), tc.limit)
				defer cancel()
				if _, _, err := do(ctx, f, &fetch.Request{Locator: parse(t, srv.URL+"/small")}); err == nil {
					t.Errorf("%s: the first request has succeeded", name)
				}
			})
			time.Sleep(time.Millisecond)
			for i := range 3 {
				group.Go(func() {
					url := fmt.Sprintf("%s/small?%d", srv.URL, i)
					got, _, err := get(t, f, url, nil)
					if tc.err == nil && (err != nil || got != alphabet) || !errors.Is(err, tc.err) || err != nil && !strings.Contains(err.Error(), url+":") {
						t.Errorf("%s: %q, %v", name, got, err)
					}
				})
			}
			group.Wait()
		})
	}
}

// addLong adds a document that a server cannot send before some of it is read.
func addLong(srv *webtest.Server) string {
	long := strings.Repeat(big[:1<<20], 5)
	srv.Content.(fstest.MapFS)["long"] = &fstest.MapFile{Data: []byte(long), ModTime: time.Date(1994, 12, 1, 0, 0, 0, 0, time.UTC)}
	return long
}

// TestHTTP2Stalled has many documents that are not read: others on the connection come nevertheless.
func TestHTTP2Stalled(t *testing.T) {
	withHTTP2(t, func(t *testing.T, srv *webtest.Server, f *Fetcher) {
		long := addLong(srv)
		start := time.Now()
		var stalled []*fetch.Resource
		for range 60 {
			res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/long")})
			if err != nil {
				t.Fatal(err)
			}
			defer res.Close()
			stalled = append(stalled, res)
			synctest.Wait() // until the server may send no more
		}
		if got, _, err := get(t, f, srv.URL+"/small", nil); err != nil || got != alphabet {
			t.Errorf("%q, %v", got, err)
		}
		for _, res := range slices.Backward(stalled) {
			if got, err := io.ReadAll(res.Body); err != nil || string(got) != long {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("it took %v", took)
		}
	})
}

// countDials counts the connections of f.
func countDials(f *Fetcher) *atomic.Int32 {
	n, dial := new(atomic.Int32), f.Env.Dial
	f.Env.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		n.Add(1)
		return dial(ctx, network, addr)
	}
	return n
}

// TestHTTP2Waits has requests that wait for the end of others, because the server permits no more at
// once: as long as something comes, or until they are sent on another connection.
func TestHTTP2Waits(t *testing.T) {
	for name, tc := range map[string]struct {
		fault webtest.Fault // of the request that the others wait for
		kind  fetch.ErrorKind
		took  time.Duration
		dials int32
	}{
		"slow":   {fault: testserver.Delay(30 * time.Second), kind: fetch.ErrOther, took: 30 * time.Second, dials: 1},
		"silent": {fault: testserver.Silence(), kind: fetch.ErrTimeout, took: time.Minute, dials: 2},
	} {
		withHTTP2(t, func(t *testing.T, srv *webtest.Server, f *Fetcher) {
			srv.MaxStreams = 1
			dials := countDials(f)
			if _, _, err := get(t, f, srv.URL+"/small", nil); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			srv.On("GET /big", 0, tc.fault)
			var group sync.WaitGroup
			group.Go(func() {
				if _, _, err := get(t, f, srv.URL+"/big", nil); fetch.KindOf(err) != tc.kind || time.Since(start) != tc.took {
					t.Errorf("%s: %v after %v", name, err, time.Since(start))
				}
			})
			synctest.Wait()
			for range 5 {
				group.Go(func() {
					if got, _, err := get(t, f, srv.URL+"/small", nil); err != nil || got != alphabet || time.Since(start) != tc.took {
						t.Errorf("%s: %q, %v after %v", name, got, err, time.Since(start))
					}
				})
			}
			group.Wait()
			if n := dials.Load(); n != tc.dials {
				t.Errorf("%s: %d connections", name, n)
			}
		})
	}
}

// TestHTTP2NotReused has a reset after which net/http begins no other stream on the connection.
func TestHTTP2NotReused(t *testing.T) {
	withHTTP2(t, func(t *testing.T, srv *webtest.Server, f *Fetcher) {
		dials, long := countDials(f), addLong(srv)
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/long")})
		if err != nil {
			t.Fatal(err)
		}
		defer res.Close() // until then the connection is not closed
		srv.On("HEAD", 1, webtest.ResetStream(-1, "PROTOCOL_ERROR"))
		if _, err := f.FindAttributes(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/small")}); fetch.KindOf(err) != fetch.ErrConnectionFailed {
			t.Errorf("%v", err)
		}
		if got, _, err := get(t, f, srv.URL+"/small", nil); err != nil || got != alphabet {
			t.Errorf("%q, %v", got, err)
		}
		if got, err := io.ReadAll(res.Body); err != nil || string(got) != long {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if n := dials.Load(); n != 2 {
			t.Errorf("%d connections", n)
		}
	})
}

// TestHTTP2Others has a response that breaks a limit, which ends the connection: the error of the others
// is that of a broken connection.
func TestHTTP2Others(t *testing.T) {
	for retries, want := range map[int]fetch.ErrorKind{-1: fetch.ErrTruncated, 0: fetch.ErrOther} {
		withHTTP2(t, func(t *testing.T, srv *webtest.Server, f *Fetcher) {
			f.Retries = retries
			long := addLong(srv)
			res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/long")})
			if err != nil {
				t.Fatal(err)
			}
			defer res.Close()
			synctest.Wait() // until the server may send no more of it
			srv.On("GET /small", 1, webtest.EndlessHeaders())
			if _, _, err := get(t, f, srv.URL+"/small", nil); fetch.KindOf(err) != fetch.ErrTooLarge {
				t.Errorf("%v", err)
			}
			if got, err := io.ReadAll(res.Body); fetch.KindOf(err) != want || err == nil && string(got) != long {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
}

// TestHTTP2Lengths has responses with lengths that net/http does not look at, and bodies where there is
// none.
func TestHTTP2Lengths(t *testing.T) {
	length := func(v string) webtest.Fault { return webtest.Header("Content-Length", v) }
	for name, tc := range map[string]struct {
		faults []webtest.Fault
		kind   fetch.ErrorKind
	}{
		"repeated":      {faults: []webtest.Fault{length("26, 26")}},
		"contradicting": {faults: []webtest.Fault{length("26, 27")}, kind: fetch.ErrProtocol},
		"not a number":  {faults: []webtest.Fault{webtest.ContentLength(-1), length("x")}, kind: fetch.ErrProtocol},
		"204":           {faults: []webtest.Fault{webtest.Frame("HEADERS", "\x89")}, kind: fetch.ErrProtocol},
	} {
		withHTTP2(t, func(t *testing.T, srv *webtest.Server, f *Fetcher) {
			srv.On("GET", 0, tc.faults...)
			got, _, err := get(t, f, srv.URL+"/small", nil)
			if tc.kind == 0 && (err != nil || got != alphabet) || fetch.KindOf(err) != tc.kind || err != nil && strings.Contains(err.Error(), "chunked") {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		})
	}
}
