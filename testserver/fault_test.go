package testserver_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/telnettest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// Over loopback an orderly end stays orderly even when the client has sent more than was read. A
// plain close would then cause a reset.
func TestOrderlyEndOverLoopback(t *testing.T) {
	for _, fault := range []telnettest.Fault{testserver.Truncate(3), testserver.Truncate(0), testserver.Close()} {
		srv := telnettest.New(t, func(s *telnettest.Server) {
			s.Dialogue = []telnettest.Step{{Hear: "go"}, {Say: "login: "}}
		})
		srv.On("SAY", 1, fault)
		nc := testclient.Dial(t, srv, srv.Addr)
		if _, err := io.WriteString(nc, "go"+strings.Repeat("x", 64<<10)); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(nc); !strings.HasPrefix("log", string(got)) || err != nil {
			t.Errorf("%v: %q, %v", fault, got, err)
		}
	}
}

func TestServersShareANetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := new(testserver.Network)
		ftp := ftptest.New(t, func(s *ftptest.Server) { s.Network = network })
		second := ftptest.New(t, func(s *ftptest.Server) { s.Network = network })
		web := webtest.New(t, func(s *webtest.Server) { s.Network = network })
		site := gophertest.New(t, func(s *gophertest.Server) { s.Network = network })
		if ftp.URL != "ftp://127.0.0.1:21" || web.URL != "http://127.0.0.1:80" || site.URL != "gopher://127.0.0.1:70" {
			t.Errorf("URLs %s %s %s", ftp.URL, web.URL, site.URL)
		}
		if second.Addr == ftp.Addr {
			t.Errorf("two servers on %s", ftp.Addr)
		}
		var nc net.Conn = testclient.Dial(t, web, second.Addr)
		if line := make([]byte, 3); true {
			io.ReadFull(nc, line)
			if string(line) != "220" {
				t.Errorf("greeting %q", line)
			}
		}
	})
}
