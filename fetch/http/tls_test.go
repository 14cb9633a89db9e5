package http

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/proxy"
	"github.com/fetch1738/fetch1738/locator"
)

// TestTLS checks that the certificate must match the host, and that only the host is sent as server
// name in the handshake (case 133).
func TestTLS(t *testing.T) {
	var told string
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(r.Proto)) }))
	srv.EnableHTTP2 = true
	srv.TLS = &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		told = h.ServerName
		return nil, nil
	}}
	srv.Config.ErrorLog = quiet
	srv.StartTLS()
	defer srv.Close()
	port := uint16(srv.Listener.Addr().(*net.TCPAddr).Port)
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	example := &locator.HTTP{Secure: true, Server: locator.Server{Login: &locator.Login{User: "me", Password: "pw", HasPassword: true}, HostPort: locator.HostPort{Host: "example.com", Port: port}}}
	toServer := func(f *Fetcher) {
		f.Env = &fetch.Env{Dial: func(ctx ctx, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, srv.Listener.Addr().String())
		}}
	}
	fetcher := func(config *tls.Config) *Fetcher {
		f := newNetwork(t, nil).fetcher(toServer)
		f.Env.TLS = with(config)
		return f
	}
	handshakes := 0
	watched := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{TLSHandshakeStart: func() { handshakes++ }, TLSHandshakeDone: func(s tls.ConnectionState, err error) {
		if handshakes++; err != nil || !s.HandshakeComplete {
			t.Errorf("the hook is called with %+v, %v", s, err)
		}
	}})
	body, res, err := do(watched, fetcher(&tls.Config{RootCAs: roots}), &fetch.Request{Locator: example})
	if handshakes != 2 {
		t.Errorf("the hooks of the handshake were called %d times", handshakes)
	}
	if err != nil || body != "HTTP/2.0" || told != "example.com" || res.Peer.Port() != port {
		t.Errorf("trusted: %q by name %q, %v", body, told, err)
	}
	var bad *tls.CertificateVerificationError
	if _, _, err := do(t.Context(), fetcher(nil), &fetch.Request{Locator: example}); fetch.KindOf(err) != fetch.ErrUnreachable || !errors.As(err, &bad) {
		t.Errorf("unknown authority: %v", err)
	}
	other := *example
	other.Host = "example.org"
	if _, _, err := do(t.Context(), fetcher(&tls.Config{RootCAs: roots}), &fetch.Request{Locator: &other}); fetch.KindOf(err) != fetch.ErrUnreachable || !errors.As(err, &bad) {
		t.Errorf("another name: %v", err)
	}
	// A ServerName in the settings is used, as in every scheme.
	if body, _, err := do(t.Context(), fetcher(&tls.Config{RootCAs: roots, ServerName: "example.com"}), &fetch.Request{Locator: &other}); err != nil || body != "HTTP/2.0" || told != "example.com" {
		t.Errorf("by a name of the settings: %q, told %q, %v", body, told, err)
	}
	if body, _, err := do(t.Context(), fetcher(&tls.Config{InsecureSkipVerify: true}), &fetch.Request{Locator: &other}); err != nil || body != "HTTP/2.0" {
		t.Errorf("unchecked: %q, %v", body, err)
	}
	// For an address, no server name is sent; the certificate contains the address.
	byAddress := *example
	byAddress.Host = "127.0.0.1"
	if _, _, err := do(t.Context(), fetcher(&tls.Config{RootCAs: roots}), &fetch.Request{Locator: &byAddress}); err != nil || told != "" {
		t.Errorf("by address: told %q, %v", told, err)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	port = uint16(plain.Listener.Addr().(*net.TCPAddr).Port)
	f := newNetwork(t, nil).fetcher(func(f *Fetcher) { f.Env = nil })
	if _, _, err := get(t, f, "https://127.0.0.1:"+strconv.Itoa(int(port))+"/", nil); err == nil {
		t.Error("TLS succeeded with a server without TLS")
	}
}

// TestTLSSettings checks that an error of Env.TLS is the error of the handshake, and that nothing
// is sent. Requests without TLS are not affected.
func TestTLSSettings(t *testing.T) {
	unreadable := errors.New("unreadable")
	empty := func(*received) string { return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" }
	w := newNetwork(t, map[string]server{"h.example:443": empty, "h.example:80": empty})
	f := w.fetcher(func(f *Fetcher) { f.Env.TLS = func() (*tls.Config, error) { return nil, unreadable } })
	_, _, err := get(t, f, "https://h.example/", nil)
	var e *fetch.Error
	if !errors.As(err, &e) || e.Op != fetch.OpTLS || e.Kind != fetch.ErrUnreachable || !errors.Is(err, unreadable) {
		t.Errorf("%v", err)
	}
	if _, _, err := get(t, f, "http://h.example/", nil); err != nil {
		t.Error(err)
	}
}

// TestTLSCut has a body that ends with the connection. It is complete only if TLS was closed
// properly, because an attacker could have closed the connection.
func TestTLSCut(t *testing.T) {
	srv := httptest.NewUnstartedServer(nil) // provides a certificate
	srv.StartTLS()
	defer srv.Close()
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	for _, vouched := range []bool{true, false} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			raw, err := listener.Accept()
			if err != nil {
				done <- err
				return
			}
			defer raw.Close()
			c := tls.Server(raw, srv.TLS)
			request := make([]byte, 1000)
			if _, err = c.Read(request); err == nil {
				_, err = c.Write([]byte("HTTP/1.0 200 OK\r\n\r\nhalf of "))
			}
			if err == nil && vouched {
				err = c.CloseWrite()
			}
			done <- err
		}()
		f := newNetwork(t, nil).fetcher(func(f *Fetcher) { f.Retries = -1 })
		f.Env = &fetch.Env{TLS: with(&tls.Config{RootCAs: roots})}
		at := listener.Addr().(*net.TCPAddr).AddrPort()
		l := &locator.HTTP{Secure: true, Server: locator.Server{HostPort: locator.HostPort{Host: at.Addr().String(), Port: at.Port()}}}
		body, _, err := do(t.Context(), f, &fetch.Request{Locator: l})
		if fetch.KindOf(err) != fetch.ErrTruncated && !vouched || vouched && err != nil || body != "half of " {
			t.Errorf("vouched %v: %q, %v", vouched, body, err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		listener.Close()
	}
}

// TestConnectLimit checks that Limits.Connect applies to all steps until the connection is ready.
func TestConnectLimit(t *testing.T) {
	for name, tc := range map[string]struct {
		url   string
		proxy *proxy.Proxy
		said  string // at the other end, after which there is silence
	}{
		"TLS handshake":           {url: "https://a.example/"},
		"CONNECT":                 {url: "https://a.example/", proxy: &proxy.Proxy{Scheme: "http"}},
		"TLS handshake by proxy":  {url: "https://a.example/", proxy: &proxy.Proxy{Scheme: "http"}, said: "HTTP/1.1 200 OK\r\n\r\n"},
		"SOCKS":                   {url: "http://a.example/", proxy: &proxy.Proxy{Scheme: "socks5h"}},
		"half of a CONNECT reply": {url: "https://a.example/", proxy: &proxy.Proxy{Scheme: "http"}, said: "HTTP/1.1 200 OK\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
					time.Sleep(3 * time.Second)
					here, there := net.Pipe()
					go func() {
						defer there.Close()
						if tc.said != "" {
							_, _ = there.Read(make([]byte, 1000))
							_, _ = io.WriteString(there, tc.said)
						}
						_, _ = io.Copy(io.Discard, there)
					}()
					return here, nil
				}
				f := newNetwork(t, nil).fetcher(func(f *Fetcher) {
					f.Env = &fetch.Env{Dial: dial, Limits: fetch.Limits{Connect: 5 * time.Second}}
					if tc.proxy != nil {
						tc.proxy.Host, tc.proxy.Port = "p.example", 1
						f.Proxy = func(locator.Locator) *proxy.Proxy { return tc.proxy }
					}
				})
				start := time.Now()
				_, _, err := get(t, f, tc.url, nil)
				if took := time.Since(start); fetch.KindOf(err) != fetch.ErrTimeout || !errors.Is(err, context.DeadlineExceeded) || took != 5*time.Second {
					t.Errorf("%v after %v", err, took)
				}
			})
		})
	}
}
