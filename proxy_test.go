package fetch1738_test

import (
	"encoding/binary"
	"errors"
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

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/fetch/proxy"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// A forwarder is an HTTP proxy that connects by CONNECT, and answers other requests itself.
type forwarder struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string
}

func newForwarder(t *testing.T) *forwarder {
	f := new(forwarder)
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		line := req.Method + " " + req.RequestURI
		if login := req.Header.Get("Proxy-Authorization"); login != "" {
			line += " " + login
		}
		f.mu.Lock()
		f.requests = append(f.requests, line)
		f.mu.Unlock()
		if req.Method != http.MethodConnect {
			w.Header().Set("Content-Length", "9")
			io.WriteString(w, "forwarded")
			return
		}
		there, err := net.Dial("tcp", req.Host)
		if err != nil {
			http.Error(w, "no tunnel", http.StatusBadGateway)
			return
		}
		defer there.Close()
		here, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer here.Close()
		io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			io.Copy(there, here)
			there.(*net.TCPConn).CloseWrite()
		}()
		io.Copy(here, there)
	}))
	t.Cleanup(f.Close)
	return f
}

// seen returns the requests since the last call.
func (f *forwarder) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := f.requests
	f.requests = nil
	return seen
}

// last returns the last request since the last call of seen.
func (f *forwarder) last() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.requests) == 0 {
		return ""
	}
	return f.requests[len(f.requests)-1]
}

// TestResolverProxy: each scheme takes the proxy that Proxy names.
func TestResolverProxy(t *testing.T) {
	files := fstest.MapFS{"pub/a.txt": {Data: []byte("direct\n")}, "a.txt": {Data: []byte("direct\n")}}
	ftpServer := ftptest.New(t, func(s *ftptest.Server) { s.Content = files })
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = files })
	f := newForwarder(t)
	p, err := proxy.Parse(strings.Replace(f.URL, "http://", "http://me:you@", 1))
	if err != nil {
		t.Fatal(err)
	}
	const login = " Basic bWU6eW91"
	get := func(r *fetch1738.Resolver, url string) string {
		res, err := r.Get(t.Context(), url)
		if err != nil {
			return err.Error()
		}
		defer res.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	var asked []string
	r := &fetch1738.Resolver{Proxy: func(scheme, host string) (*proxy.Proxy, error) {
		asked = append(asked, scheme+" "+host)
		return p, nil
	}}
	defer r.Close()
	if got, seen := get(r, gopher.URL+"/0/a.txt"), f.seen(); got != "direct\r\n" || !slices.Equal(seen, []string{"CONNECT " + gopher.Addr + login}) {
		t.Errorf("gopher: %q, the proxy received %q", got, seen)
	}
	if !slices.Equal(asked, []string{"gopher 127.0.0.1"}) {
		t.Errorf("Proxy was called for %q", asked)
	}
	if got := get(r, "http://h.example/x"); got != "forwarded" {
		t.Errorf("http: %q", got)
	}
	if got := get(r, "ftp://h.example/pub/a.txt;type=a"); got != "forwarded" {
		t.Errorf("ftp: %q", got)
	}
	if seen := f.seen(); !slices.Equal(seen, []string{"GET http://h.example/x" + login, "GET ftp://h.example/pub/a.txt;type=a" + login}) {
		t.Errorf("the proxy received %q", seen)
	}
	if a, err := attributesAt(t.Context(), r, "ftp://h.example/a"); err != nil || a.Size != 9 || !strings.HasPrefix(f.last(), "HEAD ftp://h.example/a ") {
		t.Errorf("attributes of ftp: %+v, %v, %s", a, err, f.last())
	}

	f.seen()

	// What the proxy cannot do, and what it must not be sent.
	if _, err := r.Put(t.Context(), "ftp://h.example/a", strings.NewReader("x")); !errors.Is(err, fetch.ErrUnsupported) {
		t.Errorf("storing: %v", err)
	}
	if got := get(r, "ftp://u:secret@h.example/a"); !strings.Contains(got, "set GatewayLogins") || strings.Contains(got, "secret") {
		t.Errorf("with a login: %q", got)
	}
	// A link leads no closer to this computer through a proxy than without one.
	link := fetch.Provenance{Kind: fetch.OriginRemote}
	for _, url := range []string{ftpServer.URL + "/a.txt", gopher.URL + "/0/a.txt"} {
		ref, err := locator.Parser{}.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := r.Fetch(t.Context(), &fetch.Request{Locator: ref.Locator, From: link}); !errors.Is(err, fetch.ErrRefused) {
			t.Errorf("a link to %s: %v, %v", url, res, err)
		}
	}
	if seen := f.seen(); len(seen) > 0 {
		t.Errorf("the proxy received %q", seen)
	}
	logins := &fetch1738.Resolver{Proxy: r.Proxy, GatewayLogins: true}
	defer logins.Close()
	if got := get(logins, "ftp://u:secret@h.example/a"); got != "forwarded" || !strings.HasPrefix(f.last(), "GET ftp://u:secret@h.example/a ") {
		t.Errorf("with GatewayLogins: %q, %s", got, f.last())
	}

	f.seen()

	// A Fetcher that requires TLS is tunneled: the proxy would connect without it.
	secure := &fetch1738.Resolver{Proxy: r.Proxy, Schemes: []fetch1738.Scheme{{Names: []string{"ftp"}, New: func(env *fetch.Env) driver.Fetcher {
		return &ftp.Fetcher{Env: env, Security: ftp.RequireTLS}
	}}}}
	defer secure.Close()
	if got, seen := get(secure, ftpServer.URL+"/a.txt"), f.seen(); !slices.Equal(seen, []string{"CONNECT " + ftpServer.Addr + login}) {
		t.Errorf("required TLS: %q, the proxy received %q", got, seen)
	}

	// No proxy, and one that is wrong.
	none := &fetch1738.Resolver{Proxy: func(scheme, host string) (*proxy.Proxy, error) { return nil, nil }}
	defer none.Close()
	if got := get(none, ftpServer.URL+"/a.txt"); got != "direct\n" || len(f.seen()) > 0 {
		t.Errorf("without a proxy: %q", got)
	}
	wrong := &fetch1738.Resolver{Proxy: func(scheme, host string) (*proxy.Proxy, error) { return nil, errors.New("ftp_proxy is wrong") }}
	defer wrong.Close()
	for _, url := range []string{ftpServer.URL + "/a.txt", gopher.URL + "/0/a.txt", "http://127.0.0.1:8001/", "nntp://127.0.0.1:8119/g/1"} {
		if got := get(wrong, url); !strings.Contains(got, "ftp_proxy is wrong") {
			t.Errorf("%s with a wrong proxy: %q", url, got)
		}
	}
}

// newSOCKS starts a SOCKS 4 proxy. Its address is the first result; the second one reports how many
// connections it made.
func newSOCKS(t *testing.T) (address string, made func() int) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var count atomic.Int32
	serve := func(here net.Conn) {
		defer here.Close()
		var request [9]byte // version, command, port, address, empty user
		if _, err := io.ReadFull(here, request[:]); err != nil {
			return
		}
		at := &net.TCPAddr{IP: request[4:8], Port: int(binary.BigEndian.Uint16(request[2:]))}
		there, err := net.DialTCP("tcp", nil, at)
		if err != nil {
			return
		}
		defer there.Close()
		count.Add(1)
		here.Write([]byte{0, 90, 0, 0, 0, 0, 0, 0})
		go func() {
			io.Copy(there, here)
			there.CloseWrite()
		}()
		io.Copy(here, there)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return l.Addr().String(), func() int { return int(count.Load()) }
}

// TestResolverProxySOCKS: an ftp URL goes through a SOCKS proxy with its data connections, so that
// listings have Items. Both connections ask for the proxy by the server's name.
func TestResolverProxySOCKS(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"a.txt": {}} })
	address, made := newSOCKS(t)
	var asked []string
	r := &fetch1738.Resolver{Proxy: func(scheme, host string) (*proxy.Proxy, error) {
		asked = append(asked, scheme+" "+host)
		return proxy.Parse("socks4://" + address)
	}}
	defer r.Close()
	res, err := r.Get(t.Context(), strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)+"/")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	for item, err := range res.Items {
		if err != nil || item.Name != "a.txt" {
			t.Errorf("%+v, %v", item, err)
		}
	}
	if made() != 2 || !slices.Equal(slices.Compact(asked), []string{"ftp localhost"}) {
		t.Errorf("the proxy made %d connections; Proxy was called for %q", made(), asked)
	}
}
