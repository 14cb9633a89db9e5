package ftp

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// certificate returns a server Config with a certificate for 127.0.0.1 and a client Config
// that trusts it.
func certificate(tb testing.TB) (server, client *tls.Config) {
	tb.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader) // all its signatures have the same length
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1738), NotBefore: time.Date(1994, 12, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2094, 12, 1, 0, 0, 0, 0, time.UTC),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		tb.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, &tls.Config{RootCAs: pool}
}

// securely runs a test with a TLS server and a Fetcher that trusts it.
func securely(t *testing.T, configure func(*ftptest.Server), test func(*testing.T, *ftptest.Server, *Fetcher)) {
	t.Helper()
	server, client := certificate(t)
	actively(t, func(s *ftptest.Server) {
		s.TLS = server
		if configure != nil {
			configure(s)
		}
	}, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
		f.Active, f.Env.TLS = nil, func() (*tls.Config, error) { return client, nil }
		test(t, srv, f)
	})
}

// settings returns the client Config of securely, which may be changed.
func settings(f *Fetcher) *tls.Config {
	config, _ := f.Env.TLS()
	return config
}

// on returns the locator of a path on the server, with the scheme of its URL.
func on(srv *ftptest.Server, path string) locator.Locator {
	ref, err := locator.Parser{}.Parse(srv.URL + "/" + path)
	if err != nil {
		panic(err)
	}
	return ref.Locator
}

func implicitly(s *ftptest.Server) { s.ImplicitTLS, s.RequireTLS, s.ReuseTLS = true, true, true }
func strictly(s *ftptest.Server)   { s.RequireTLS, s.ReuseTLS = true, true }

// TestSecure tests every kind of transfer, with each version of TLS, in passive and active
// mode, with a server that requires resumption of TLS sessions.
func TestSecure(t *testing.T) {
	for name, configure := range map[string]func(*ftptest.Server){"explicit": strictly, "implicit": implicitly} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			for _, active := range []*Active{nil, {}} {
				t.Run(name, func(t *testing.T) {
					securely(t, configure, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
						f.Security, f.Active, settings(f).MaxVersion = RequireTLS, active, version
						everyTransfer(t, srv, f)
					})
				})
			}
		}
	}
}

func everyTransfer(t *testing.T, srv *ftptest.Server, f *Fetcher) {
	for _, tc := range []struct {
		req  *fetch.Request
		want string
	}{
		{&fetch.Request{Locator: on(srv, "pub/a.txt")}, "0123456789"},
		{&fetch.Request{Locator: on(srv, "pub/a.txt"), Offset: 4}, "456789"},
		{&fetch.Request{Locator: on(srv, "pub/a.txt"), Offset: 2, Length: 3}, "234"},
		{&fetch.Request{Locator: on(srv, "pub/"), Options: &Options{ListOnly: true}}, "a.txt\n"},
	} {
		if got, err := read(t.Context(), f, tc.req); got != tc.want || err != nil {
			t.Errorf("%+v: got %q, %v", tc.req, got, err)
		}
	}
	req := &fetch.Request{Locator: on(srv, "pub/new")}
	if _, err := f.Replace(t.Context(), req, strings.NewReader("abcdef")); err != nil {
		t.Error(err)
	}
	if _, err := f.Update(t.Context(), req, strings.NewReader("gh")); err != nil {
		t.Error(err)
	}
	if _, err := f.Replace(t.Context(), &fetch.Request{Locator: on(srv, "pub/empty")}, strings.NewReader("")); err != nil {
		t.Error(err)
	}
	if stored := srv.Uploads(); string(stored["pub/new"]) != "abcdefgh" || len(stored) != 2 {
		t.Errorf("stored %q", stored)
	}
}

// TestHandshakeFirst tests servers that perform the handshake, and in active mode connect,
// before their first reply to a transfer.
func TestHandshakeFirst(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, active := range []*Active{nil, {}} {
			securely(t, strictly, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
				srv.HandshakeFirst = true
				f.Security, f.Active, settings(f).MaxVersion = RequireTLS, active, version
				everyTransfer(t, srv, f)
			})
		}
	}
}

// TestHandshakeAfterCommand tests that nothing is sent on a data connection before the command of its
// transfer: pyftpdlib would close it. REST, whose reply is awaited, comes between the two.
func TestHandshakeAfterCommand(t *testing.T) {
	unknown := func(s *ftptest.Server) { strictly(s); s.Greeting = "220 ready" } // a known one gets EPSV together with RETR
	for _, active := range []*Active{nil, {}} {
		securely(t, unknown, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
			var verb atomic.Value // of the latest command
			dial := f.Env.Dial
			f.Env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				c, err := dial(ctx, network, address)
				if err != nil || address == srv.Addr {
					return c, err
				}
				return watched{c, func() {
					now := verb.Load().(fetch.Op)
					if !isTransfer(now) {
						t.Errorf("data is sent after %s", now)
					}
				}}, nil
			}
			ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Sent: func(line []byte) {
				verb.Store(verbOf(strings.TrimSpace(string(line))))
				time.Sleep(time.Second) // what could be sent now is sent
			}})
			f.Security, f.Active = RequireTLS, active
			for _, req := range []*fetch.Request{
				{Locator: on(srv, "pub/a.txt"), Offset: 2, Length: 3}, {Locator: on(srv, "pub/a.txt"), Offset: 4}, {Locator: on(srv, "pub/a.txt")}, {Locator: on(srv, "pub/")},
			} {
				if _, err := read(ctx, f, req); err != nil {
					t.Error(err)
				}
			}
			if _, err := f.Replace(ctx, &fetch.Request{Locator: on(srv, "pub/a.txt"), Offset: 5}, strings.NewReader("abcde")); err != nil {
				t.Error(err)
			}
		})
	}
}

// watched is a connection that calls wrote before each Write.
type watched struct {
	net.Conn
	wrote func()
}

func (c watched) Write(p []byte) (int, error) {
	c.wrote()
	return c.Conn.Write(p)
}

// TestRefusedRESTUnderTLS tests that the next transfer succeeds after a refused REST, before which a
// data connection or a port was opened. A port does not stay open meanwhile.
func TestRefusedRESTUnderTLS(t *testing.T) {
	for _, active := range []*Active{nil, {}} {
		securely(t, strictly, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
			f.Security, f.Active = RequireTLS, active
			srv.On("REST", 1, testserver.Reply("501 no"))
			for _, offset := range []int64{2, 0, 3} {
				got, err := read(t.Context(), f, &fetch.Request{Locator: on(srv, "pub/a.txt"), Offset: offset})
				if refused := offset == 2; refused != (err != nil) || !refused && got != "0123456789"[offset:] {
					t.Errorf("from %d: %q %v", offset, got, err)
				}
			}
			if got := verbs(srv); count(got, "USER") > 1 || active != nil && count(got, "EPRT") != 3 {
				t.Errorf("sent %q", got)
			}
		})
	}
}

// TestHandshakeFirstFails tests a handshake that fails before the first reply. The client's
// error about the certificate has precedence over the server's reply.
func TestHandshakeFirstFails(t *testing.T) {
	for _, active := range []*Active{nil, {}} {
		securely(t, func(s *ftptest.Server) { s.RequireTLS, s.HandshakeFirst = true, true }, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
			f.Security, f.Active = RequireTLS, active
			connections := 0
			distrust := errors.New("not this one")
			settings(f).VerifyConnection = func(tls.ConnectionState) error {
				if connections++; connections == 2 {
					return distrust
				}
				return nil
			}
			_, err := read(t.Context(), f, &fetch.Request{Locator: on(srv, "pub/a.txt")})
			var e *fetch.Error
			if !errors.As(err, &e) || e.Op != "TLS handshake" || !errors.Is(err, distrust) {
				t.Error(err)
			}
			if got, err := read(t.Context(), f, &fetch.Request{Locator: on(srv, "pub/a.txt")}); got != "0123456789" || err != nil {
				t.Errorf("afterwards %q %v", got, err)
			}
		})
	}
}

// TestNotResumed tests a server that requires resumption of the TLS session without issuing
// tickets, like proftpd with TLS 1.2. The error is ErrNotResumed.
func TestNotResumed(t *testing.T) {
	for _, first := range []bool{true, false} {
		securely(t, strictly, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
			srv.TLS.SessionTicketsDisabled, srv.HandshakeFirst = true, first
			f.Security, settings(f).MaxVersion = RequireTLS, tls.VersionTLS12
			_, err := read(t.Context(), f, &fetch.Request{Locator: on(srv, "pub/a.txt")})
			if !errors.Is(err, ErrNotResumed) {
				t.Errorf("download: %v", err)
			}
			if _, err = f.Replace(t.Context(), &fetch.Request{Locator: on(srv, "pub/new")}, strings.NewReader("new")); !errors.Is(err, ErrNotResumed) {
				t.Errorf("upload: %v", err)
			}
			settings(f).MaxVersion, srv.ReuseTLS = 0, false
			srv.On("END", 1, testserver.Reply("426 gone"))
			if _, err := read(t.Context(), f, &fetch.Request{Locator: on(srv, "pub/a.txt")}); errors.Is(err, ErrNotResumed) || err == nil {
				t.Errorf("after all data was received: %v", err)
			}
		})
	}
}

// TestRefusedBesideHandshake tests transfers that are refused during the handshake on their
// data connections. Later data connections must still resume the TLS session of the
// control connection, as the server requires.
func TestRefusedBesideHandshake(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, active := range []*Active{nil, {}} {
			securely(t, strictly, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
				f.Security, f.Active, settings(f).MaxVersion = RequireTLS, active, version
				for range 20 {
					if _, err := read(t.Context(), f, &fetch.Request{Locator: on(srv, "pub/none")}); !errors.Is(err, fetch.ErrNotFound) {
						t.Error(err)
					}
				}
				everyTransfer(t, srv, f)
				if n := logins(srv); n != 1 {
					t.Errorf("%d logins", n)
				}
			})
		}
	}
}

// TestSecureConversation tests the commands before a transfer.
func TestSecureConversation(t *testing.T) {
	for _, tc := range []struct {
		name      string
		configure func(*ftptest.Server)
		security  Security
		clear     ClearCommands
		want      string
	}{
		{"try", nil, TryTLS, KeepTLS, "AUTH USER PASS PBSZ PROT PWD TYPE SIZE EPSV RETR"},
		{"try, refused", func(s *ftptest.Server) { s.TLS = nil }, TryTLS, KeepTLS, "AUTH USER PASS PWD TYPE SIZE EPSV RETR"},
		{"try, no data", func(s *ftptest.Server) { s.Hide = []string{"PROT"} }, TryTLS, KeepTLS, "AUTH USER PASS PBSZ PROT PWD TYPE SIZE EPSV RETR"},
		{"control", nil, RequireControl, KeepTLS, "AUTH USER PASS PBSZ PROT PWD TYPE SIZE EPSV RETR"},
		{"all", strictly, RequireTLS, KeepTLS, "AUTH USER PASS PBSZ PROT PWD TYPE SIZE EPSV RETR"},
		{"ended by the server", strictly, RequireTLS, CCCPassive, "AUTH USER PASS PBSZ PROT CCC PWD TYPE SIZE EPSV RETR"},
		{"ended by the client", strictly, RequireTLS, CCCActive, "AUTH USER PASS PBSZ PROT CCC PWD TYPE SIZE EPSV RETR"},
		{"not ended", func(s *ftptest.Server) { s.Hide = []string{"CCC"} }, RequireTLS, CCCActive, "AUTH USER PASS PBSZ PROT CCC PWD TYPE SIZE EPSV RETR"},
		{"implicit", implicitly, NoTLS, KeepTLS, "USER PASS PBSZ PROT PWD TYPE SIZE EPSV RETR"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			securely(t, tc.configure, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
				f.Security, f.ClearCommands = tc.security, tc.clear
				if err := srv.Put("a.txt", []byte("x")); err != nil {
					t.Fatal(err)
				}
				if got, err := read(t.Context(), f, &fetch.Request{Locator: on(srv, "a.txt")}); got != "x" || err != nil {
					t.Errorf("got %q, %v", got, err)
				}
				if got := strings.Join(verbs(srv), " "); got != tc.want {
					t.Errorf("sent %q, want %q", got, tc.want)
				}
			})
		})
	}
}

// TestSecureFailures tests that no user name or password is sent if required TLS fails.
func TestSecureFailures(t *testing.T) {
	for _, tc := range []struct {
		name   string
		server func(*ftptest.Server)
		client func(*Fetcher)
		op     fetch.Op
		kind   fetch.ErrorKind
		noUser bool // USER must not be sent
	}{
		{"AUTH is refused", func(s *ftptest.Server) { s.TLS = nil }, nil, "AUTH", fetch.ErrUnsupported, true},
		{"PROT is refused", func(s *ftptest.Server) { s.Hide = []string{"PROT"} }, nil, "PROT", fetch.ErrUnsupported, false},
		{"the certificate is not trusted", nil, func(f *Fetcher) { f.Env.TLS = nil }, "TLS handshake", fetch.ErrOther, true},
		{"the certificate is another's", nil, func(f *Fetcher) { settings(f).ServerName = "elsewhere" }, "TLS handshake", fetch.ErrOther, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			securely(t, tc.server, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
				f.Security = RequireTLS
				if tc.client != nil {
					tc.client(f)
				}
				_, err := read(t.Context(), f, &fetch.Request{Locator: on(srv, "pub/a.txt")})
				var e *fetch.Error
				if !errors.As(err, &e) || e.Op != tc.op || tc.kind != fetch.ErrOther && e.Kind != tc.kind {
					t.Errorf("%v (%+v)", err, e)
				}
				if slices.Contains(verbs(srv), "USER") == tc.noUser {
					t.Errorf("sent %q", verbs(srv))
				}
			})
		})
	}
}

// TestSecureInjection tests replies that are sent in the clear, before the handshake, and
// must not count after it (CVE-2021-22947).
func TestSecureInjection(t *testing.T) {
	for _, security := range []Security{TryTLS, RequireTLS} {
		securely(t, nil, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
			f.Security = security
			srv.On("AUTH", 1, testserver.ExtraReply("230 Come in."))
			_, err := read(t.Context(), f, &fetch.Request{Locator: on(srv, "pub/a.txt")})
			if !errors.Is(err, fetch.ErrProtocol) {
				t.Errorf("%v", err)
			}
			if got := strings.Join(verbs(srv), " "); got != "AUTH" {
				t.Errorf("sent %q", got)
			}
		})
	}
}

// TestSecureTruncated tests data that ends without close_notify, after any number of bytes.
func TestSecureTruncated(t *testing.T) {
	for name, fault := range map[string]ftptest.Fault{"short": testserver.Truncate(4), "whole": testserver.Truncate(10), "reset": testserver.Reset(4)} {
		t.Run(name, func(t *testing.T) {
			securely(t, strictly, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
				f.Security = RequireTLS
				srv.On("SIZE", 0, testserver.Reply("502 No."))
				srv.On("RETR", 0, testserver.Reply("150 Here it comes."))
				srv.On("DATA", 0, fault)
				got, err := read(t.Context(), f, &fetch.Request{Locator: on(srv, "pub/a.txt")})
				if !errors.Is(err, fetch.ErrTruncated) {
					t.Errorf("got %q, %v", got, err)
				}
			})
		})
	}
}

// TestSecureBrokenUpload tests that the server does not take a partial upload for the whole
// file if the source fails.
func TestSecureBrokenUpload(t *testing.T) {
	securely(t, strictly, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
		f.Security = RequireTLS
		broken := errors.New("broken")
		_, err := f.Replace(t.Context(), &fetch.Request{Locator: on(srv, "new")}, breaking{strings.NewReader("part"), broken})
		if !errors.Is(err, broken) {
			t.Errorf("%v", err)
		}
		last := ""
		for _, line := range srv.Transcript() {
			if line.From == testserver.FromServer {
				last = line.Text
			}
		}
		if strings.HasPrefix(last, "226") {
			t.Errorf("the server accepted the upload: %q", last)
		}
	})
}

// breaking is a reader that fails after r.
type breaking struct {
	r   *strings.Reader
	err error
}

func (b breaking) Read(p []byte) (int, error) {
	if b.r.Len() == 0 {
		return 0, b.err
	}
	return b.r.Read(p)
}

// TestSecureItems tests that the entries of an ftps directory have ftps URLs.
func TestSecureItems(t *testing.T) {
	securely(t, implicitly, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: on(srv, "pub/")})
		if err != nil {
			t.Fatal(err)
		}
		defer res.Close()
		for item, err := range res.Items {
			if err != nil || item.Locator.String() != on(srv, "pub/a.txt").String() {
				t.Errorf("%v, %v", item.Locator, err)
			}
		}
	})
}
