package http

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// exchangedServer redirects, breaks off and refuses.
func exchangedServer(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/old":
		http.Redirect(w, r, "/broken", http.StatusFound)
	case "/broken":
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("Range") == "" {
			w.Header().Set("Content-Length", "20")
			io.WriteString(w, "0123456789")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader("0123456789abcdefghij"))
	default:
		http.NotFound(w, r)
	}
}

// TestExchanged checks which exchanges are handed on, and that each comes before the body.
func TestExchanged(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		s := newHTTP2Server(t, exchangedServer, func(s *httptest.Server) { s.EnableHTTP2 = http2 })
		f := s.fetcher(t, func(f *Fetcher) { f.Retries = 0 })
		version := map[bool]string{false: "HTTP/1.1", true: "HTTP/2"}[http2]
		for path, want := range map[string][]string{
			"/old":  {"/old GET /old " + version + ", " + version + " 302", "/broken GET /broken " + version + ", " + version + " 200"},
			"/none": {"/none GET /none " + version + ", " + version + " 404"},
		} {
			var got []string
			began := time.Now()
			options := &Options{Compressed: true, Exchanged: func(x Exchange) {
				request, _, _ := bytes.Cut(x.Request, []byte("\r\n"))
				response, _, _ := bytes.Cut(x.Response, []byte("\r\n"))
				got = append(got, fmt.Sprintf("%s %s, %.*s", strings.TrimPrefix(x.Locator.Redacted(), s.URL), request, len(version+" 200"), response))
				if x.HTTP2 != http2 || x.Began.Before(began) || x.Peer.String() != s.Listener.Addr().String() || bytes.Contains(x.Request, []byte("secret")) {
					t.Errorf("%+v", x)
				}
				if !bytes.HasSuffix(x.Request, []byte("\r\n\r\n")) || !bytes.HasSuffix(x.Response, []byte("\r\n\r\n")) {
					t.Errorf("the heads are %q and %q", x.Request, x.Response)
				}
			}, Header: http.Header{"Authorization": {"secret"}}}
			before := -1 // the first byte
			ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Body: func(int64) {
				if before < 0 {
					before = len(got)
				}
			}})
			res, err := f.Fetch(ctx, &fetch.Request{Locator: parse(t, s.URL+path), Options: options})
			if path == "/none" {
				if !errors.Is(err, fetch.ErrNotFound) {
					t.Fatal(err)
				}
			} else if err != nil {
				t.Fatal(err)
			} else if body, err := io.ReadAll(res.Body); string(body) != "0123456789abcdefghij" || err != nil || before != 2 {
				t.Errorf("%q %v, after %d exchanges", body, err, before)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: the exchanges are %q, want %q", path, got, want)
			}
		}
	}
}

// TestExchangedProxied requests a URL of another scheme from a proxy, which redirects.
func TestExchangedProxied(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Scheme == "ftp" {
			http.Redirect(w, r, "/page", http.StatusFound)
		}
	}))
	t.Cleanup(s.Close)
	f := new(Fetcher)
	t.Cleanup(func() { f.Close() })
	var got []string
	options := &Options{Proxied: parse(t, "ftp://example.org/a"), Exchanged: func(x Exchange) {
		line, _, _ := bytes.Cut(x.Request, []byte("\r\n"))
		got = append(got, fmt.Sprintf("%s %s", x.Locator, line))
	}}
	res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, s.URL), Options: options})
	if err != nil {
		t.Fatal(err)
	}
	res.Close()
	if want := []string{"ftp://example.org/a GET ftp://example.org/a HTTP/1.1", s.URL + "/page GET /page HTTP/1.1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
