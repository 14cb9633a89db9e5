package http

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// withHTTP2 runs a test with a server in memory and a Fetcher that speaks HTTP/2 with it.
func withHTTP2(t *testing.T, test func(t *testing.T, srv *webtest.Server, f *Fetcher)) {
	synctest.Test(t, func(t *testing.T) {
		srv := webtest.New(t, func(s *webtest.Server) {
			s.Content = fstest.MapFS{
				"big":   {Data: []byte(big[:1<<20]), ModTime: time.Date(1994, 12, 1, 0, 0, 0, 0, time.UTC)},
				"small": {Data: []byte(alphabet), ModTime: time.Date(1994, 12, 1, 0, 0, 0, 0, time.UTC)},
			}
			s.InMemory = true
		})
		f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}, Retries: -1, Protocols: prior()}
		defer f.Close()
		test(t, srv, f)
	})
}

// TestHTTP2Faults has what servers do wrong. A document is complete, or there is an error.
func TestHTTP2Faults(t *testing.T) {
	const some = 300_000
	for name, tc := range map[string]struct {
		faults []webtest.Fault
		kinds  []fetch.ErrorKind // nil if the document comes
		took   time.Duration
	}{
		"no fault":               {},
		"reset at once":          {faults: []webtest.Fault{webtest.ResetStream(-1, "INTERNAL_ERROR")}, kinds: []fetch.ErrorKind{fetch.ErrConnectionFailed}},
		"reset in the body":      {faults: []webtest.Fault{webtest.ResetStream(some, "INTERNAL_ERROR")}, kinds: []fetch.ErrorKind{fetch.ErrTruncated}},
		"reset, no error":        {faults: []webtest.Fault{webtest.ResetStream(some, "NO_ERROR")}, kinds: []fetch.ErrorKind{fetch.ErrTruncated}},
		"always refused":         {faults: []webtest.Fault{webtest.ResetStream(-1, "REFUSED_STREAM")}, kinds: []fetch.ErrorKind{fetch.ErrConnectionFailed}},
		"end too early":          {faults: []webtest.Fault{webtest.EndStream(some)}, kinds: []fetch.ErrorKind{fetch.ErrTruncated}},
		"no end":                 {faults: []webtest.Fault{webtest.EndStream(-1), webtest.ContentLength(-1)}, kinds: []fetch.ErrorKind{fetch.ErrTimeout}, took: time.Minute},
		"length too large":       {faults: []webtest.Fault{webtest.ContentLength(2 << 20)}, kinds: []fetch.ErrorKind{fetch.ErrTruncated}},
		"length too small":       {faults: []webtest.Fault{webtest.ContentLength(some)}, kinds: []fetch.ErrorKind{fetch.ErrProtocol}},
		"length 0":               {faults: []webtest.Fault{webtest.ContentLength(0)}, kinds: []fetch.ErrorKind{fetch.ErrProtocol}},
		"window too large":       {faults: []webtest.Fault{webtest.Frame("WINDOW_UPDATE", "\x7f\xff\xff\xff")}, kinds: []fetch.ErrorKind{fetch.ErrProtocol}},
		"connection closed":      {faults: []webtest.Fault{testserver.Truncate(some)}, kinds: []fetch.ErrorKind{fetch.ErrTruncated}},
		"connection reset":       {faults: []webtest.Fault{testserver.Reset(some)}, kinds: []fetch.ErrorKind{fetch.ErrTruncated}},
		"closed at once":         {faults: []webtest.Fault{testserver.Close()}, kinds: []fetch.ErrorKind{fetch.ErrConnectionFailed}},
		"silence":                {faults: []webtest.Fault{testserver.Silence()}, kinds: []fetch.ErrorKind{fetch.ErrTimeout}, took: time.Minute},
		"goodbye, then the rest": {faults: []webtest.Fault{webtest.GoAway(-1, "NO_ERROR")}},
		"always unprocessed":     {faults: []webtest.Fault{webtest.GoAway(0, "NO_ERROR")}, kinds: []fetch.ErrorKind{fetch.ErrConnectionFailed}},
		"goodbye with an error":  {faults: []webtest.Fault{webtest.GoAway(-1, "ENHANCE_YOUR_CALM"), testserver.Truncate(some)}, kinds: []fetch.ErrorKind{fetch.ErrTruncated}},
		"late data":              {faults: []webtest.Fault{webtest.LateData("x")}},
		"trailer":                {faults: []webtest.Fault{webtest.Trailers("X-Sum", "1")}},
		"many hints":             {faults: []webtest.Fault{webtest.Flood("HEADERS")}, kinds: []fetch.ErrorKind{fetch.ErrTooLarge}},
		"endless header":         {faults: []webtest.Fault{webtest.EndlessHeaders()}, kinds: []fetch.ErrorKind{fetch.ErrTooLarge}},
		"header bomb":            {faults: []webtest.Fault{webtest.HeaderBomb(64 << 20)}, kinds: []fetch.ErrorKind{fetch.ErrTooLarge}},
		"flood of DATA":          {faults: []webtest.Fault{webtest.Flood("DATA")}, kinds: []fetch.ErrorKind{fetch.ErrProtocol, fetch.ErrTruncated}},
		"flood of CONTINUATION":  {faults: []webtest.Fault{webtest.Flood("CONTINUATION")}, kinds: []fetch.ErrorKind{fetch.ErrProtocol}},
		"flood of PING":          {faults: []webtest.Fault{webtest.Flood("PING")}, kinds: []fetch.ErrorKind{fetch.ErrProtocol}},
		"flood of RST_STREAM":    {faults: []webtest.Fault{webtest.Flood("RST_STREAM")}, kinds: []fetch.ErrorKind{fetch.ErrConnectionFailed, fetch.ErrProtocol}},
		"flood of SETTINGS":      {faults: []webtest.Fault{webtest.Flood("SETTINGS")}, kinds: []fetch.ErrorKind{fetch.ErrProtocol}},
		"flood of WINDOW_UPDATE": {faults: []webtest.Fault{webtest.Flood("WINDOW_UPDATE")}, kinds: []fetch.ErrorKind{fetch.ErrProtocol, fetch.ErrConnectionFailed, fetch.ErrTimeout}},
		"push":                   {faults: []webtest.Fault{webtest.Frame("PUSH_PROMISE", "\x00\x00\x00\x02\x88")}, kinds: []fetch.ErrorKind{fetch.ErrProtocol, fetch.ErrConnectionFailed}},
		"frame too large":        {faults: []webtest.Fault{webtest.Frame("PING", strings.Repeat("x", 1<<20))}, kinds: []fetch.ErrorKind{fetch.ErrProtocol, fetch.ErrConnectionFailed}},
		"bad header block":       {faults: []webtest.Fault{webtest.Frame("HEADERS", "\xff\xff\xff\xff\xff\xff")}, kinds: []fetch.ErrorKind{fetch.ErrProtocol, fetch.ErrConnectionFailed}},
	} {
		t.Run(name, func(t *testing.T) {
			withHTTP2(t, func(t *testing.T, srv *webtest.Server, f *Fetcher) {
				srv.On("GET", 0, tc.faults...)
				start := time.Now()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				got, _, err := get(t, f, srv.URL+"/big", nil)
				runtime.ReadMemStats(&after)
				if tc.kinds == nil && (err != nil || got != big[:1<<20]) || tc.kinds != nil && (err == nil || !slices.Contains(tc.kinds, fetch.KindOf(err))) {
					t.Errorf("%d bytes, %v (%v)", len(got), err, fetch.KindOf(err))
				}
				if err != nil && (len(err.Error()) > 300 || strings.ContainsAny(err.Error(), "\r\n")) {
					t.Errorf("the message is %q", err)
				}
				t.Logf("%v after %v", err, time.Since(start))
				if took := time.Since(start); took != tc.took {
					t.Errorf("it took %v", took)
				}
				if used := after.HeapSys - before.HeapSys; after.HeapSys > before.HeapSys && used > 64<<20 {
					t.Errorf("%d bytes of memory", used)
				}
			})
		})
	}
}

// TestHTTP2Released checks that a body that breaks and is resumed leaves its connection: Close closes
// that then.
func TestHTTP2Released(t *testing.T) {
	withHTTP2(t, func(t *testing.T, srv *webtest.Server, f *Fetcher) {
		f.Retries = 1
		srv.On("GET", 1, webtest.ResetStream(300_000, "CANCEL"))
		if got, _, err := get(t, f, srv.URL+"/big", nil); err != nil || got != big[:1<<20] {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		f.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := srv.WaitIdle(ctx); err != nil {
			t.Errorf("the connection is open: %v", err)
		}
	})
}

// TestHTTP2NoContent checks that a Content-Length of a response that cannot have a body means nothing
// (RFC 9113 §8.1.1).
func TestHTTP2NoContent(t *testing.T) {
	withHTTP2(t, func(t *testing.T, srv *webtest.Server, f *Fetcher) {
		srv.On("PUT", 0, webtest.Status(204), webtest.ContentLength(8))
		if got, _, err := get(t, f, srv.URL+"/new", &Options{Verb: "PUT", Body: strings.NewReader("body")}); err != nil || got != "" {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// TestHTTP2Again has requests that the server has not processed: they are sent again, also if they may
// not be repeated otherwise.
func TestHTTP2Again(t *testing.T) {
	for name, fault := range map[string]webtest.Fault{"refused": webtest.ResetStream(-1, "REFUSED_STREAM"), "goodbye": webtest.GoAway(0, "NO_ERROR")} {
		withHTTP2(t, func(t *testing.T, srv *webtest.Server, f *Fetcher) {
			srv.On("POST", 1, fault)
			body := strings.NewReader("body")
			if _, _, err := get(t, f, srv.URL+"/new", &Options{Body: body}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got := srv.Uploads()["new"]; string(got) != "body" {
				t.Errorf("%s: %q", name, got)
			}
		})
	}
	withHTTP2(t, func(t *testing.T, srv *webtest.Server, f *Fetcher) { // it may have been processed
		srv.On("POST", 0, webtest.ResetStream(-1, "INTERNAL_ERROR"))
		if _, _, err := get(t, f, srv.URL+"/new", &Options{Body: strings.NewReader("body")}); fetch.KindOf(err) != fetch.ErrConnectionFailed {
			t.Errorf("%v", err)
		}
	})
}

// TestHTTP2Misdirected checks that a 421 on a connection that was used leads to another connection.
func TestHTTP2Misdirected(t *testing.T) {
	withHTTP2(t, func(t *testing.T, srv *webtest.Server, f *Fetcher) {
		srv.On("GET", 2, webtest.Status(421))
		for range 2 {
			if got, _, err := get(t, f, srv.URL+"/small", nil); err != nil || got != alphabet {
				t.Errorf("%q, %v", got, err)
			}
		}
		srv.On("GET", 0, webtest.Status(421))
		if _, _, err := get(t, f, srv.URL+"/small", nil); err == nil || !strings.Contains(err.Error(), "421") {
			t.Errorf("always: %v", err)
		}
	})
}

// TestHTTP2Uploads has uploads that stall, and responses before the end of one.
func TestHTTP2Uploads(t *testing.T) {
	document := func() io.Reader { return strings.NewReader(big[:3<<20]) }
	for name, tc := range map[string]struct {
		faults []webtest.Fault
		kind   fetch.ErrorKind
		took   time.Duration
	}{
		"no fault":  {kind: fetch.ErrOther},
		"no window": {faults: []webtest.Fault{webtest.NoWindow()}, kind: fetch.ErrTimeout, took: time.Minute},
		"refused":   {faults: []webtest.Fault{webtest.Status(403)}, kind: fetch.ErrPermission},
		"closed":    {faults: []webtest.Fault{testserver.Close()}, kind: fetch.ErrConnectionFailed},
	} {
		t.Run(name, func(t *testing.T) {
			withHTTP2(t, func(t *testing.T, srv *webtest.Server, f *Fetcher) {
				srv.On("PUT", 0, tc.faults...)
				start := time.Now()
				_, err := f.Replace(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/new")}, document())
				if fetch.KindOf(err) != tc.kind || (err == nil) != (tc.kind == fetch.ErrOther) || time.Since(start) != tc.took {
					t.Errorf("%v after %v", err, time.Since(start))
				}
				if got := srv.Uploads()["new"]; err == nil && string(got) != big[:3<<20] {
					t.Errorf("%d bytes are stored", len(got))
				}
			})
		})
	}
}

// TestHTTP2Resumes checks that a document whose stream ends early is completed by another request.
func TestHTTP2Resumes(t *testing.T) {
	for name, fault := range map[string]webtest.Fault{"stream": webtest.ResetStream(300_000, "CANCEL"), "connection": testserver.Truncate(300_000), "length": webtest.EndStream(300_000)} {
		withHTTP2(t, func(t *testing.T, srv *webtest.Server, f *Fetcher) {
			f.Retries = 0
			srv.On("GET", 1, fault)
			if got, _, err := get(t, f, srv.URL+"/big", nil); err != nil || got != big[:1<<20] {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
		})
	}
}

// TestHTTP2Cancel ends one of several exchanges over a connection, in each of its phases.
func TestHTTP2Cancel(t *testing.T) {
	withHTTP2(t, func(t *testing.T, srv *webtest.Server, f *Fetcher) {
		dials := countDials(f)
		srv.On("GET /small", 1, testserver.Silence())
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var group sync.WaitGroup
		group.Go(func() {
			start := time.Now()
			if _, _, err := do(ctx, f, &fetch.Request{Locator: parse(t, srv.URL+"/small")}); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 5*time.Second {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		})
		for i := range 5 {
			group.Go(func() {
				res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/big")})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := io.CopyN(io.Discard, res.Body, int64(i)*100_000); err != nil {
					t.Error(err)
				}
				res.Close()
			})
		}
		group.Wait()
		if got, _, err := get(t, f, srv.URL+"/big", nil); err != nil || got != big[:1<<20] {
			t.Errorf("then: %d bytes, %v", len(got), err)
		}
		if n := dials.Load(); n != 1 {
			t.Errorf("%d connections", n)
		}
	})
}
