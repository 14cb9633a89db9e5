package ftptest_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

// ways has a test for each personality without a recorded conversation: that it does what its
// summary says. The client has logged in, with type I.
var ways = map[string]func(t *testing.T, srv *ftptest.Server, c *testclient.FTP){
	"no-rest": func(t *testing.T, _ *ftptest.Server, c *testclient.FTP) {
		c.Expect("REST 6", "502")
		if got := c.Expect("FEAT", "211"); strings.Contains(got, "REST") {
			t.Errorf("FEAT: %q", got)
		}
	},
	"rest-ignored": func(t *testing.T, _ *ftptest.Server, c *testclient.FTP) {
		c.Expect("REST 6", "350")
		expectData(t, c, "RETR hello.txt", "hello\nworld\n")
	},
	"rename-refused": func(t *testing.T, _ *ftptest.Server, c *testclient.FTP) {
		c.Expect("RNFR hello.txt", "350")
		c.Expect("RNTO other.txt", "550")
		expectData(t, c, "NLST", "hello.txt\r\nrecent.txt\r\nsub\r\n")
	},
	"no-mlsd": func(t *testing.T, _ *ftptest.Server, c *testclient.FTP) {
		c.Expect("MLSD", "502")
		c.Expect("MLST hello.txt", "502")
		if got := c.Expect("FEAT", "211"); strings.Contains(got, "MLST") {
			t.Errorf("FEAT: %q", got)
		}
	},
	"mlsd-refused": func(t *testing.T, _ *ftptest.Server, c *testclient.FTP) {
		if got := c.Expect("FEAT", "211"); !strings.Contains(got, "MLST") {
			t.Errorf("FEAT: %q", got)
		}
		data := c.Data()
		defer data.Close()
		c.Expect("MLSD", "550")
		expectData(t, c, "NLST", "hello.txt\r\nrecent.txt\r\nsub\r\n")
	},
	"lists-nothing": func(t *testing.T, _ *ftptest.Server, c *testclient.FTP) {
		for _, command := range []string{"LIST", "NLST", "MLSD"} {
			expectData(t, c, command, "")
		}
		expectData(t, c, "RETR hello.txt", "hello\nworld\n")
	},
	"truncating-list": func(t *testing.T, _ *ftptest.Server, c *testclient.FTP) {
		expectData(t, c, "NLST", "hello.txt\r\nrecent.txt\r\n")
	},
	"inetd-limit": func(t *testing.T, srv *ftptest.Server, _ *testclient.FTP) {
		second := testclient.DialFTP(t, srv)
		third := testclient.Dial(t, srv, srv.Addr)
		if n, err := third.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("the third connection: %d bytes, %v", n, err)
		}
		second.Expect("QUIT", "221")
	},
	"tls-session-reuse": func(_ *testing.T, _ *ftptest.Server, c *testclient.FTP) { // more in TestFTPReuseTLS
		c.Expect("AUTH TLS", "234")
	},
	"late-226": func(t *testing.T, _ *ftptest.Server, c *testclient.FTP) {
		data := c.Data()
		start := time.Now()
		c.Expect("RETR hello.txt", "150")
		if octets, err := io.ReadAll(data); len(octets) != 12 || err != nil || time.Since(start) > time.Second {
			t.Errorf("%d bytes, %v, after %v", len(octets), err, time.Since(start))
		}
		if got := c.Reply(); !strings.HasPrefix(got, "226") || time.Since(start) < 30*time.Second {
			t.Errorf("%q after %v", got, time.Since(start))
		}
	},
	"silent-abor": func(t *testing.T, _ *ftptest.Server, c *testclient.FTP) {
		c.Send("ABOR")
		c.Expect("NOOP", "200")
		data := c.Data()
		c.Expect("STOR up.txt", "150")
		c.Send("ABOR")
		time.Sleep(time.Second)
		io.WriteString(data, "whole")
		data.Close()
		if got := c.Reply(); !strings.HasPrefix(got, "226") {
			t.Errorf("%q", got)
		}
		c.Expect("SIZE up.txt", "213 5")
	},
	"unasked-refusal": func(t *testing.T, _ *ftptest.Server, c *testclient.FTP) {
		if got := c.Reply(); !strings.HasPrefix(got, "200") { // to the TYPE of the login
			t.Errorf("%q", got)
		}
		c.Expect("NOOP", "200")
	},
	"stor-refused": func(t *testing.T, _ *ftptest.Server, c *testclient.FTP) {
		data, reply := c.Data(), ""
		c.Expect("STOR big.bin", "150")
		sent, err := data.Write(make([]byte, 1<<20))
		if reply = c.Reply(); !strings.HasPrefix(reply, "552") || err == nil || sent == 1<<20 {
			t.Errorf("%d bytes sent, %v: %q", sent, err, reply)
		}
	},
	"stor-refused-drained": func(t *testing.T, _ *ftptest.Server, c *testclient.FTP) {
		if got := c.Put("STOR big.bin", strings.Repeat("x", 1<<20)); !strings.HasPrefix(got, "552") {
			t.Errorf("%q", got)
		}
		if got := c.Put("STOR small.bin", "x"); !strings.HasPrefix(got, "226") {
			t.Errorf("%q", got)
		}
	},
	"pasv-silent": func(t *testing.T, _ *ftptest.Server, c *testclient.FTP) {
		data := c.Data()
		c.Expect("RETR hello.txt", "150")
		data.SetReadDeadline(time.Now().Add(time.Hour))
		var timeout net.Error
		if n, err := data.Read(make([]byte, 1)); n != 0 || !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("%d bytes, %v", n, err)
		}
	},
	"pasv-unaccepted": func(t *testing.T, _ *ftptest.Server, c *testclient.FTP) {
		start := time.Now()
		c.Expect("EPSV", "229")
		c.Expect("RETR hello.txt", "150")
		if got := c.Reply(); !strings.HasPrefix(got, "425") || time.Since(start) != 10*time.Second {
			t.Errorf("%q after %v", got, time.Since(start))
		}
	},
	"pasv-refused": func(t *testing.T, srv *ftptest.Server, c *testclient.FTP) {
		got := c.Expect("EPSV", "229")
		port := strings.Split(got, "|")[3]
		if _, err := srv.Dial(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", port)); err == nil {
			t.Error("the port is open")
		}
		c.Expect("RETR hello.txt", "150")
		if got := c.Reply(); !strings.HasPrefix(got, "425") {
			t.Errorf("%q", got)
		}
	},
	"eplf": func(t *testing.T, _ *ftptest.Server, c *testclient.FTP) {
		data, _, _, err := c.Get("LIST sub")
		if want := "+r,s12,m794293567,\ta.bin\r\n"; data != want || err != nil {
			t.Errorf("%q, %v; want %q", data, err, want)
		}
		if data, _, _, _ := c.Get("LIST"); !strings.Contains(data, "+/,m794293567,\tsub\r\n") {
			t.Errorf("%q", data)
		}
	},
}

// expectData expects a complete transfer of data.
func expectData(t *testing.T, c *testclient.FTP, command, want string) {
	t.Helper()
	if data, _, last, err := c.Get(command); data != want || err != nil || !strings.HasPrefix(last, "226") {
		t.Errorf("%s: %q, %q, %v; want %q", command, data, last, err, want)
	}
}

func TestPersonalitiesAsDescribed(t *testing.T) {
	tested := 0
	for _, p := range ftptest.Personalities() {
		test := ways[p.Name]
		if test == nil {
			continue // TestPersonalitiesAsPinned tests it
		}
		tested++
		testclient.InBubble(t, p.Name, func(t *testing.T) {
			srv := ftptest.New(t, p.Configure, func(s *ftptest.Server) {
				s.Content, s.InMemory, s.TLS = personalityFiles(), true, serverTLS(t)
			})
			test(t, srv, loginAnyhow(srv, t))
			synctest.Wait()
		})
	}
	if tested != len(ways) {
		t.Errorf("%d of %d tests are of personalities", tested, len(ways))
	}
}

// loginAnyhow logs in as anonymous, with type I.
func loginAnyhow(srv *ftptest.Server, t *testing.T) *testclient.FTP {
	c := testclient.DialFTP(t, srv)
	for _, line := range []string{"USER anonymous", "PASS guest@example.test", "TYPE I"} {
		c.Send(line)
		c.Reply()
	}
	return c
}

// TestPersonalitiesCompose tests that each has a name and a sentence of its own, and that each can be
// combined with a server.
func TestPersonalitiesCompose(t *testing.T) {
	seen := make(map[string]bool)
	for _, p := range ftptest.Personalities() {
		if seen[p.Name] || seen[p.Summary] || p.Source == "" || !strings.HasSuffix(p.Summary, ".") {
			t.Errorf("%+v", p)
		}
		seen[p.Name], seen[p.Summary] = true, true
		testclient.InBubble(t, p.Name, func(t *testing.T) {
			srv := ftptest.New(t, ftptest.VSFTPD, p.Configure, inMemory)
			c := loginAnyhow(srv, t)
			c.Send("QUIT")
			for last := ""; !strings.HasPrefix(last, "221"); {
				if last = c.Reply(); strings.Contains(last, "!") {
					t.Fatalf("%q", last)
				}
			}
		})
	}
}
