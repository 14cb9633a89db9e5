package http

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// http2Server is a server that speaks HTTP/2 over TLS, and counts its connections.
type http2Server struct {
	*httptest.Server
	connections atomic.Int32
}

func newHTTP2Server(t *testing.T, handler http.HandlerFunc, configure ...func(*httptest.Server)) *http2Server {
	s := &http2Server{Server: httptest.NewUnstartedServer(handler)}
	s.EnableHTTP2 = true
	s.Config.ErrorLog = quiet
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	for _, c := range configure {
		c(s.Server)
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// fetcher returns a Fetcher that trusts the server.
func (s *http2Server) fetcher(t *testing.T, configure ...func(*Fetcher)) *Fetcher {
	f := &Fetcher{Env: &fetch.Env{TLS: with(&tls.Config{InsecureSkipVerify: true})}, Retries: -1}
	for _, c := range configure {
		c(f)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestHTTP2 checks requests and responses of every kind, and what a Trace shows of them.
func TestHTTP2(t *testing.T) {
	s := newHTTP2Server(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header()["Date"] = nil
		w.Header().Set("X-B", "1")
		w.Header().Add("X-A", "2")
		w.Header().Add("X-A", "3")
		switch r.URL.Path {
		case "/hints":
			w.Header().Set("Link", "x")
			w.WriteHeader(http.StatusEarlyHints)
			w.Header().Del("Link")
		case "/trailer":
			w.Header().Set("Trailer", "X-Sum")
			defer w.Header().Set("X-Sum", "9")
		case "/to":
			http.Redirect(w, r, "/there", http.StatusFound)
			return
		case "/missing":
			http.NotFound(w, r)
			return
		case "/range":
			http.ServeContent(w, r, "x.txt", time.Time{}, strings.NewReader(alphabet))
			return
		}
		fmt.Fprintf(w, "%s %s %s %s %q", r.Proto, r.Method, r.RequestURI, r.Host, body)
	})
	f := s.fetcher(t)
	host := strings.TrimPrefix(s.URL, "https://")
	for _, tc := range []struct {
		path string
		req  fetch.Request
		opt  Options
		want string
		kind fetch.ErrorKind
	}{
		{path: "/a%2Fb%2fc?d", want: "HTTP/2.0 GET /a%2Fb%2fc?d " + host + ` ""`},
		{path: "//a//%7e", want: "HTTP/2.0 GET //a//%7e " + host + ` ""`},
		{path: "/hints", want: "HTTP/2.0 GET /hints " + host + ` ""`},
		{path: "/trailer", want: "HTTP/2.0 GET /trailer " + host + ` ""`},
		{path: "/to", want: "HTTP/2.0 GET /there " + host + ` ""`},
		{path: "/", opt: Options{Body: strings.NewReader("body")}, want: "HTTP/2.0 POST / " + host + ` "body"`},
		{path: "/", opt: Options{Body: io.LimitReader(strings.NewReader("body"), 9)}, want: "HTTP/2.0 POST / " + host + ` "body"`},
		{path: "/", opt: Options{Header: http.Header{"Host": {"other.example"}}}, want: `HTTP/2.0 GET / other.example ""`},
		{path: "/", opt: Options{Method: "OPTIONS", Target: "*"}, want: ""},
		{path: "/", opt: Options{Method: "DELETE"}, want: "HTTP/2.0 DELETE / " + host + ` ""`},
		{path: "/missing", kind: fetch.ErrNotFound},
		{path: "/range", req: fetch.Request{Offset: 3, Length: 4}, want: alphabet[3:7]},
		{path: "/range", req: fetch.Request{Offset: -2}, want: alphabet[len(alphabet)-2:]},
		{path: "/range", req: fetch.Request{Offset: 100}, kind: fetch.ErrBadRange},
		{path: "/", opt: Options{HTTP10: true}, want: "HTTP/1.0 GET / " + host + ` ""`},
	} {
		tc.req.Locator, tc.req.Options = parse(t, s.URL+tc.path), &tc.opt
		got, res, err := do(t.Context(), f, &tc.req)
		if got != tc.want || fetch.KindOf(err) != tc.kind || (err == nil) != (tc.kind == fetch.ErrOther) {
			t.Errorf("%s %+v: %q, %v", tc.path, tc.opt, got, err)
		}
		if err == nil && !tc.opt.HTTP10 && (res.TLS == nil || !res.Peer.IsValid() || res.Info.(*Info).Proto != "HTTP/2.0") {
			t.Errorf("%s: %+v", tc.path, res)
		}
	}
	if n := s.connections.Load(); n != 2 { // one for HTTP/1.0
		t.Errorf("%d connections", n)
	}
}

// TestHTTP2Trace checks that heads are reported in the form of HTTP/1.1, in the order of the fields.
func TestHTTP2Trace(t *testing.T) {
	s := newHTTP2Server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = nil
		w.Header().Set("Link", "x")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "x")
		w.Header().Set("X-Sum", "9")
	})
	var mu sync.Mutex
	var told []string
	note := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, fmt.Sprintf(format, args...))
	}
	ctx := fetch.WithTrace(t.Context(), &fetch.Trace{
		Reused:   func(fetch.Connection) { note("reused") },
		Sent:     func(o []byte) { note("> %s", o) },
		Received: func(o []byte) { note("< %s", o) },
		Body:     func(n int64) { note("body %d", n) },
		Note:     func(text string) { note("* %s", text) },
	})
	f := s.fetcher(t)
	for range 2 {
		if _, _, err := do(ctx, f, &fetch.Request{Locator: parse(t, s.URL+"/"), Options: &Options{Header: http.Header{"Cookie": {"canary"}}}}); err != nil {
			t.Fatal(err)
		}
	}
	exchange := []string{
		"> GET / HTTP/2\r\nHost: " + strings.TrimPrefix(s.URL, "https://") + "\r\nUser-Agent: fetch1738\r\nAccept: */*\r\nAccept-Encoding: identity\r\nCookie: ****\r\n\r\n",
		"< HTTP/2 103 \r\nlink: x\r\n\r\n",
		"< HTTP/2 200 \r\ncontent-type: text/plain\r\ntrailer: X-Sum\r\ncontent-length: 1\r\n\r\n", "< x-sum: 9\r\n\r\n", "body 1",
	}
	want := slices.Concat([]string{"* TLS 1.3, TLS_AES_128_GCM_SHA256", "* using HTTP/2"}, exchange, []string{"reused"}, exchange)
	if !slices.Equal(told, want) {
		t.Errorf("got  %q\nwant %q", told, want)
	}
}

// TestHTTP2Shares checks that many requests at once share one connection, also those that begin before
// it is known what the server speaks, and that each gets its own document.
func TestHTTP2Shares(t *testing.T) {
	s := newHTTP2Server(t, func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.Sum256([]byte(r.URL.Path))
		w.Header().Set("X-Path", r.URL.Path)
		for i := range 20 {
			fmt.Fprintf(w, "%x %d\n", sum, i)
		}
	})
	f := s.fetcher(t)
	var group sync.WaitGroup
	for i := range 300 {
		group.Go(func() {
			path := fmt.Sprintf("/%d", i)
			body, res, err := get(t, f, s.URL+path, nil)
			if err != nil || !strings.HasPrefix(body, fmt.Sprintf("%x 0\n", sha256.Sum256([]byte(path)))) || res.Info.(*Info).Header.Get("X-Path") != path || !strings.Contains(string(res.Info.(*Info).Head), "x-path: "+path+"\r\n") {
				t.Errorf("%s: %.100q, %v", path, body, err)
			}
		})
	}
	group.Wait()
	if n := s.connections.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// TestHTTP2Fallback has a server that speaks HTTP/1.1 only, and requests before that is known.
func TestHTTP2Fallback(t *testing.T) {
	s := newHTTP2Server(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }, func(s *httptest.Server) { s.EnableHTTP2 = false })
	f := s.fetcher(t)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if body, _, err := get(t, f, s.URL, nil); err != nil || body != "HTTP/1.1" {
				t.Errorf("%q, %v", body, err)
			}
		})
	}
	group.Wait()
}

// TestProtocols checks the versions that Fetcher.Protocols permits.
func TestProtocols(t *testing.T) {
	protocols := func(set ...func(*http.Protocols, bool)) *http.Protocols {
		p := new(http.Protocols)
		for _, s := range set {
			s(p, true)
		}
		return p
	}
	answer := func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }
	both := newHTTP2Server(t, answer)
	plain := httptest.NewUnstartedServer(http.HandlerFunc(answer))
	plain.Config.Protocols = protocols((*http.Protocols).SetHTTP1, (*http.Protocols).SetUnencryptedHTTP2)
	plain.Start()
	defer plain.Close()
	for name, tc := range map[string]struct {
		p             *http.Protocols
		plain, secure string
	}{
		"default":         {nil, "HTTP/1.1", "HTTP/2.0"},
		"HTTP/1.1":        {protocols((*http.Protocols).SetHTTP1), "HTTP/1.1", "HTTP/1.1"},
		"both":            {protocols((*http.Protocols).SetHTTP1, (*http.Protocols).SetHTTP2), "HTTP/1.1", "HTTP/2.0"},
		"HTTP/2 for TLS":  {protocols((*http.Protocols).SetHTTP2), "HTTP/1.1", "HTTP/2.0"},
		"prior knowledge": {protocols((*http.Protocols).SetUnencryptedHTTP2), "HTTP/2.0", "HTTP/2.0"},
	} {
		f := both.fetcher(t, func(f *Fetcher) { f.Protocols = tc.p })
		for url, want := range map[string]string{plain.URL: tc.plain, both.URL: tc.secure} {
			if body, _, err := get(t, f, url, nil); err != nil || body != want {
				t.Errorf("%s, %s: %q, %v", name, url, body, err)
			}
		}
	}
}

// TestHTTP2Policy checks that the policy is asked for each request on a shared connection.
func TestHTTP2Policy(t *testing.T) {
	s := newHTTP2Server(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "x") })
	refused := errors.New("not this one")
	var asked []string
	f := s.fetcher(t, func(f *Fetcher) {
		f.Env.Allow = func(_ context.Context, t fetch.Target) error {
			path := t.Locator.(*locator.HTTP).Path
			asked = append(asked, fmt.Sprintf("%s %t", path, t.Addr.IsValid()))
			if path == "secret" {
				return refused
			}
			return nil
		}
	})
	if _, _, err := get(t, f, s.URL+"/a", nil); err != nil {
		t.Fatal(err)
	}
	asked = nil
	if _, _, err := get(t, f, s.URL+"/secret", nil); !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
	if _, _, err := get(t, f, s.URL+"/b", nil); err != nil {
		t.Error(err)
	}
	if want := []string{"secret false", "b false", "b true"}; !slices.Equal(asked, want) || s.connections.Load() != 1 {
		t.Errorf("asked %q, %d connections", asked, s.connections.Load())
	}
}

// TestHTTP2EarlyAnswer has responses that come before the body of the request is sent.
func TestHTTP2EarlyAnswer(t *testing.T) {
	s := newHTTP2Server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/no" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.WriteHeader(http.StatusCreated)
	})
	f := s.fetcher(t)
	for _, tc := range []struct {
		method, path string
		kind         fetch.ErrorKind
	}{{"PUT", "/no", fetch.ErrPermission}, {"PUT", "/", fetch.ErrTruncated}, {"POST", "/", fetch.ErrOther}} {
		_, _, err := get(t, f, s.URL+tc.path, &Options{Method: tc.method, Body: zeros{}})
		if fetch.KindOf(err) != tc.kind || (err == nil) != (tc.kind == fetch.ErrOther) {
			t.Errorf("%s %s: %v", tc.method, tc.path, err)
		}
	}
}

// TestHTTP11Required has a server that wants HTTP/1.1 for a request.
func TestHTTP11Required(t *testing.T) {
	srv := webtest.New(t, func(s *webtest.Server) {
		s.TLS, s.ImplicitTLS, s.Content = testserver.NewTLS(), true, fstest.MapFS{"a": {Data: []byte("x")}}
	})
	f := &Fetcher{Env: &fetch.Env{TLS: with(&tls.Config{InsecureSkipVerify: true})}, Retries: -1}
	defer f.Close()
	srv.On("GET", 1, webtest.ResetStream(-1, "HTTP_1_1_REQUIRED"))
	for range 2 {
		got, res, err := get(t, f, srv.URL+"/a", nil)
		if err != nil || got != "x" || res.Info.(*Info).Proto != "HTTP/1.1" {
			t.Errorf("%q, %v", got, err)
		}
	}
}
