package nntp

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// certificate returns a certificate for 127.0.0.1 and a pool that trusts it.
func certificate(tb testing.TB) (*tls.Config, *x509.CertPool) {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1738), NotBefore: time.Date(1994, 12, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2094, 12, 1, 0, 0, 0, 0, time.UTC),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		tb.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, pool
}

// secured is withServer with a server certificate that the Fetcher trusts.
func secured(t *testing.T, configure func(*nntptest.Server), f func(*harness)) {
	t.Helper()
	config, pool := certificate(t)
	withServer(t, func(s *nntptest.Server) {
		s.TLS = config
		if configure != nil {
			configure(s)
		}
	}, func(w *harness) {
		w.env.TLS = func() (*tls.Config, error) { return &tls.Config{RootCAs: pool}, nil }
		f(w)
	})
}

func implicitly(s *nntptest.Server) { s.ImplicitTLS = true }

func TestNNTPS(t *testing.T) {
	secured(t, implicitly, func(w *harness) {
		if !strings.HasPrefix(w.srv.URL, "nntps://127.0.0.1:563") {
			w.Errorf("the server's URL is %s, want nntps on port 563", w.srv.URL)
		}
		w.want("/local.test/1", testArticles()["local.test"][0])
		w.want("snews:a2@lab.example", testArticles()["local.test"][1])
		w.want("snews://127.0.0.1/a2@lab.example", testArticles()["local.test"][1])
		if n := w.connections(); n != 1 {
			w.Errorf("%d connections, want 1", n)
		}
		w.sent("GROUP local.test", "ARTICLE 1", "ARTICLE <a2@lab.example>", "ARTICLE <a2@lab.example>")
		for _, url := range []string{"/local.test", "snews:local.test", "snews:*", "snews://127.0.0.1/"} {
			items, err := w.items(url)
			if err != nil || len(items) != 3 {
				w.Fatalf("%s: %v, %v", url, items, err)
			}
			for _, item := range items {
				if scheme := item.Locator.Scheme(); scheme != "nntps" && scheme != "snews" {
					w.Errorf("%s: the item's URL is not over TLS: %v", url, item.Locator)
				}
				if _, err := w.getAs(&fetch.Request{Locator: item.Locator}); err != nil {
					w.Errorf("%v: %v", item.Locator, err)
				}
			}
		}
		if _, err := w.post("snews:local.test", letter); err != nil {
			w.Error(err)
		}
	})
}

func TestStartTLS(t *testing.T) {
	secured(t, nil, func(w *harness) {
		req := w.req("/local.test/1", &Options{StartTLS: true})
		if got, err := w.getAs(req); got != testArticles()["local.test"][0] || err != nil {
			w.Errorf("%q, %v", got, err)
		}
		w.sent("STARTTLS", "GROUP local.test", "ARTICLE 1")
		w.want("/local.test/1", testArticles()["local.test"][0]) // must not use the session with TLS
		w.sent("GROUP local.test", "ARTICLE 1")
		if got, err := w.getAs(req); got != testArticles()["local.test"][0] || err != nil {
			w.Errorf("%q, %v", got, err)
		}
		w.sent("ARTICLE 1")
	})
}

// TestStartTLSForReaders checks a server like INN, which requires MODE READER before STARTTLS.
func TestStartTLSForReaders(t *testing.T) {
	secured(t, func(s *nntptest.Server) { s.Reader = true }, func(w *harness) {
		w.srv.On("STARTTLS", 1, testserver.Reply("401 MODE-READER"))
		if got, err := w.getAs(w.req("/local.test/1", &Options{StartTLS: true})); got != testArticles()["local.test"][0] || err != nil {
			w.Errorf("%q, %v", got, err)
		}
		w.sent("STARTTLS", "MODE READER", "STARTTLS", "MODE READER", "GROUP local.test", "ARTICLE 1")
	})
}

func TestStartTLSRefused(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		_, err := w.getAs(w.req("/local.test/1", &Options{StartTLS: true}))
		w.fails("a server without TLS", err, fetch.ErrUnsupported)
		w.sent("STARTTLS", "QUIT")
	})
	for reply, kind := range map[string]fetch.ErrorKind{"500 what": fetch.ErrUnsupported, "502 no": fetch.ErrPermission, "580 no": fetch.ErrUnsupported, "200 yes": fetch.ErrProtocol} {
		secured(t, nil, func(w *harness) {
			w.srv.On("STARTTLS", 1, testserver.Reply(reply))
			_, err := w.getAs(w.req("/local.test/1", &Options{StartTLS: true}))
			w.fails(reply, err, kind)
		})
	}
}

// TestTryTLS checks that TryTLS continues without TLS if the server refuses it, but not after a
// failed handshake.
func TestTryTLS(t *testing.T) {
	article := testArticles()["local.test"][0]
	secured(t, nil, func(w *harness) {
		if got, err := w.getAs(w.req("/local.test/1", &Options{TryTLS: true})); got != article || err != nil {
			w.Errorf("%q, %v", got, err)
		}
		w.sent("STARTTLS", "GROUP local.test", "ARTICLE 1")
	})
	withServer(t, nil, func(w *harness) {
		if got, err := w.getAs(w.req("/local.test/1", &Options{TryTLS: true})); got != article || err != nil {
			w.Errorf("%q, %v", got, err)
		}
		w.sent("STARTTLS", "GROUP local.test", "ARTICLE 1")
	})
	secured(t, nil, func(w *harness) {
		w.env.TLS = nil
		_, err := w.getAs(w.req("/local.test/1", &Options{TryTLS: true}))
		w.fails("an unknown certificate", err, fetch.ErrConnectionFailed)
	})
}

// TestStartTLSInjection checks that data between the reply to STARTTLS and the handshake is an error.
// An active attacker may have injected it (row 80 of the list of attacks, the class of
// CVE-2011-0411).
func TestStartTLSInjection(t *testing.T) {
	secured(t, nil, func(w *harness) {
		w.srv.On("STARTTLS", 1, testserver.Reply("382 go\n101 list\nREADER\n."))
		_, err := w.getAs(w.req("/local.test/1", &Options{StartTLS: true}))
		w.fails("octets before TLS", err, fetch.ErrProtocol)
	})
}

func TestUntrusted(t *testing.T) {
	for _, configure := range []func(*nntptest.Server){implicitly, nil} {
		secured(t, configure, func(w *harness) {
			w.env.TLS = nil
			_, err := w.getAs(w.req("/local.test/1", &Options{StartTLS: true}))
			w.fails("an unknown certificate", err, fetch.ErrConnectionFailed)
			var unknown *tls.CertificateVerificationError
			if !errors.As(err, &unknown) {
				w.Errorf("%v does not wrap a CertificateVerificationError", err)
			}
			if slices.Contains(w.srv.Transcript().From(testserver.FromClient), "GROUP local.test") {
				w.Error("the client sent GROUP after a failed handshake")
			}
		})
	}
}

// TestHandshakeFaults checks servers that send nothing, or no TLS, during the handshake.
func TestHandshakeFaults(t *testing.T) {
	for _, tt := range []struct {
		fault nntptest.Fault
		kind  fetch.ErrorKind
	}{
		{testserver.Silence(), fetch.ErrTimeout}, {testserver.Close(), fetch.ErrConnectionFailed}, {testserver.Reply("200 ready"), fetch.ErrConnectionFailed},
		{testserver.EndlessLine(), fetch.ErrConnectionFailed},
	} {
		t.Run(tt.fault.String(), func(t *testing.T) {
			secured(t, implicitly, func(w *harness) {
				w.env.Limits = fetch.Limits{Connect: time.Minute}
				w.srv.On("CONNECT", 1, tt.fault)
				start := time.Now()
				_, err := w.get("/local.test/1")
				w.fails("the handshake", err, tt.kind)
				if took := time.Since(start); took > time.Minute {
					w.Errorf("took %v, want at most 1m", took)
				}
			})
		})
	}
}
