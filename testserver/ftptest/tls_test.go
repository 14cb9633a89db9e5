package ftptest_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/testserver/conversation"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

// serverTLS has a certificate that is not trusted by default.
func serverTLS(tb testing.TB) *tls.Config {
	tb.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().AddDate(100, 0, 0), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		tb.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

// secureClient is an FTP client, in the clear and under TLS.
type secureClient struct {
	*testclient.FTP
	t      *testing.T
	srv    *ftptest.Server
	raw    net.Conn
	config *tls.Config
}

func (c *secureClient) on(conn net.Conn) { c.FTP = testclient.NewFTP(c.t, c.srv, conn) }

// expect sends a command, unless that is "", and checks the beginning of a reply.
func (c *secureClient) expect(command, want string) (reply string) {
	c.t.Helper()
	if command != "" {
		c.Send(command)
	}
	if reply = c.Reply(); !strings.HasPrefix(reply, want) {
		c.t.Fatalf("%s: %q, want %s", command, reply, want)
	}
	return reply
}

func (c *secureClient) secure() *tls.Conn {
	c.t.Helper()
	conn := tls.Client(c.raw, c.config)
	if err := conn.Handshake(); err != nil {
		c.t.Fatal(err)
	}
	c.on(conn)
	return conn
}

func withTLS(t *testing.T, configure func(*ftptest.Server), test func(*testing.T, *ftptest.Server, *secureClient)) {
	t.Helper()
	config := serverTLS(t)
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory, func(s *ftptest.Server) {
			if s.TLS = config; configure != nil {
				configure(s)
			}
		})
		raw, err := srv.Dial(t.Context(), "tcp", srv.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close()
		c := &secureClient{t: t, srv: srv, raw: raw, config: &tls.Config{InsecureSkipVerify: true, ServerName: "x", ClientSessionCache: tls.NewLRUClientSessionCache(0)}}
		c.on(raw)
		test(t, srv, c)
	})
}

func TestFTPTLS(t *testing.T) {
	withTLS(t, nil, func(t *testing.T, _ *ftptest.Server, c *secureClient) {
		c.expect("", "220")
		c.expect("AUTH TLS\r\nXYZZY", "234") // what is sent ahead must be ignored
		tlsConn := c.secure()
		c.expect("AUTH TLS", "503")
		c.expect("USER anonymous", "331")
		c.expect("PASS x", "230")
		c.expect("PROT P", "503")
		c.expect("PBSZ 0", "200")
		c.expect("PROT E", "536")
		c.expect("PROT C", "200")
		c.expect("PROT P", "200")
		c.expect("CCC", "200")
		if got := c.Reply(); got != "!EOF" {
			t.Fatalf("after CCC: %q", got)
		}
		tlsConn.CloseWrite()
		c.raw.SetDeadline(time.Time{})
		c.on(c.raw)
		c.expect("PWD", "257")
		c.expect("CCC", "533")
		c.expect("QUIT", "221")
	})
}

// TestFTPReuseTLS tests data connections that must resume a TLS session.
func TestFTPReuseTLS(t *testing.T) {
	for _, reuses := range []bool{true, false} {
		withTLS(t, func(s *ftptest.Server) { ftptest.TLSSessionReuse(s); s.RequireTLS, s.ImplicitTLS = true, true }, func(t *testing.T, srv *ftptest.Server, c *secureClient) {
			c.secure()
			c.expect("", "220")
			c.Play("C: USER anonymous\nS: 331\nC: PASS x\nS: 230\nC: PBSZ 0\nS: 200\nC: PROT C\nS: 534")
			data, err := srv.Dial(t.Context(), "tcp", conversation.DataAddr(srv.Addr, c.expect("PASV", "227")))
			if err != nil {
				t.Fatal(err)
			}
			defer data.Close()
			c.expect("RETR motd.txt", "150")
			config := c.config.Clone()
			if !reuses {
				config.ClientSessionCache = nil
			}
			conn := tls.Client(data, config)
			got, err := io.ReadAll(conn)
			conn.Close()
			if reuses {
				if string(got) != "hello\nworld\n" && string(got) != "hello\r\nworld\r\n" || err != nil {
					t.Errorf("got %q, %v", got, err)
				}
				c.expect("", "226")
			} else {
				c.expect("", "522")
			}
		})
	}
}

// tlsClient returns a data connection under TLS.
func tlsClient(nc net.Conn, c *secureClient) *tls.Conn { return tls.Client(nc, c.config) }
