package gopher

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

// TestSecureSettings checks that an error of Env.TLS is the error of the handshake, and that
// nothing is sent.
func TestSecureSettings(t *testing.T) {
	unreadable := errors.New("unreadable")
	here, there := net.Pipe()
	f := &Fetcher{Env: &fetch.Env{
		Dial: func(context.Context, string, string) (net.Conn, error) { return here, nil },
		TLS:  func() (*tls.Config, error) { return nil, unreadable },
	}}
	_, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, "gophers://h.example/")})
	var e *fetch.Error
	if !errors.As(err, &e) || e.Op != fetch.OpTLS || !errors.Is(err, unreadable) {
		t.Errorf("%v", err)
	}
	if _, err := there.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the connection is still open, or data was sent: %v", err)
	}
}

// TestSecureCut has documents that end with the connection. They are complete only if TLS was
// closed properly, unless they mark their own end.
func TestSecureCut(t *testing.T) {
	srv := httptest.NewUnstartedServer(nil) // provides a certificate
	srv.StartTLS()
	defer srv.Close()
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	for _, tc := range []struct {
		rest, sent string
		vouched    bool
		want       fetch.ErrorKind
	}{
		{"9x", "half of ", true, 0},
		{"9x", "half of ", false, fetch.ErrTruncated},
		{"0x", "all\r\n.\r\n", true, 0},
		{"0x", "all\r\n.\r\n", false, 0},
		{"0x", "half\r\n", false, fetch.ErrTruncated},
	} {
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
			if _, err = c.Read(make([]byte, 100)); err == nil {
				_, err = io.WriteString(c, tc.sent)
			}
			if err == nil && tc.vouched {
				err = c.CloseWrite()
			}
			done <- err
		}()
		f := &Fetcher{Env: &fetch.Env{TLS: func() (*tls.Config, error) { return &tls.Config{RootCAs: roots}, nil }}}
		l := parse(t, fmt.Sprintf("gophers://%s/%s", listener.Addr(), tc.rest))
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: l})
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
			res.Close()
		}
		if err != nil && tc.want == 0 || tc.want != 0 && fetch.KindOf(err) != tc.want {
			t.Errorf("%s, %q, vouched %v: %v", tc.rest, tc.sent, tc.vouched, err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		listener.Close()
	}
}
