package testserver_test

import (
	"crypto/tls"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
)

// The fuzz targets send arbitrary bytes. The server must end the connection by itself once the
// client has nothing more to send, without a panic, and serve the next client.

func FuzzFTPSession(f *testing.F) {
	f.Add([]byte("USER anonymous\r\nPASS x\r\nCWD pub\r\nEPSV\r\nNLST\r\nQUIT\r\n"))
	f.Add([]byte("USER anonymous\r\nPASS x\r\nPORT 127,0,0,1,200,1\r\nREST 5\r\nRETR motd.txt\r\n"))
	f.Add([]byte("USER anonymous\r\nPASS x\r\nRNFR pub\r\nRNTO x\r\nMKD \x00\r\nEPRT |\r\nMFMT 1 2\r\nLIST -\r\n"))
	f.Add([]byte("AUTH TLS\r\nUSER anonymous\r\nPROT P\r\nCCC\r\n"))
	f.Add([]byte("USER anonymous\r\nPASS x\r\nPRET STOR x\r\nAUTH TLS\r\n\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00"))
	f.Add([]byte("\xff\xf4\xff\xf2ABOR\r\n\xff\xff\r\n\n\r\r\n " + strings.Repeat("x", 9000)))
	f.Fuzz(func(t *testing.T, octets []byte) {
		synctest.Test(t, func(t *testing.T) {
			srv := testserver.NewFTP(t, inMemory, func(s *testserver.FTP) { s.TLS = new(tls.Config) })
			answerAnything(t, srv, srv.Addr, octets)
			loginFTP(t, srv).expect("QUIT", "221")
		})
	})
}

func FuzzHTTPRequest(f *testing.F) {
	f.Add([]byte("GET /motd.txt HTTP/1.1\r\nHost: h\r\nRange: bytes=1-,2-3\r\n\r\n"))
	f.Add([]byte("PUT /%00/../x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\nx"))
	f.Add([]byte("POST /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 99999999999\r\n\r\nx"))
	f.Add([]byte("GET http://elsewhere/pub HTTP/1.0\n\nGET * HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, octets []byte) {
		synctest.Test(t, func(t *testing.T) {
			srv := testserver.NewHTTP(t, webInMemory)
			answerAnything(t, srv, srv.Addr, octets)
			got, err := ask(t, srv, srv.Addr, "HEAD / HTTP/1.0\r\n\r\n")
			if !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\n") {
				t.Errorf("the next client got %q, %v", got, err)
			}
		})
	})
}

func FuzzNNTPSession(f *testing.F) {
	f.Add([]byte("GROUP local.test\r\nOVER 1-\r\nARTICLE 2\r\nHEAD <1@b>\r\nNEXT\r\nQUIT\r\n"))
	f.Add([]byte("POST\r\nFrom: a@b\r\nNewsgroups: local.test, ,x\r\nSubject: x\r\n\r\n..\r\n.\r\nLIST NEWSGROUPS *\r\n"))
	f.Add([]byte("LISTGROUP local.test 9-1\r\nXOVER -5\r\nSTAT -1\r\nSTAT 99999999999999999999\r\nAUTHINFO\r\nMODE\r\nSTARTTLS\r\n"))
	f.Add([]byte("GROUP local.test\r\nXHDR Subject 1-\r\nHDR :lines\r\nNEWNEWS *,![a 941220 000000 GMT\r\nNEWGROUPS 000229 000000\r\n"))
	f.Add([]byte("POST\r\n" + strings.Repeat("x", 9000) + "\n.\n.\r"))
	f.Fuzz(func(t *testing.T, octets []byte) {
		synctest.Test(t, func(t *testing.T) {
			srv := testserver.NewNNTP(t, newsInMemory)
			answerAnything(t, srv, srv.Addr, octets)
			got, err := ask(t, srv, srv.Addr, "STAT <1@b>\r\nQUIT\r\n")
			if !strings.HasSuffix(got, "\n223 0 <1@b>\r\n205 Bye.\r\n") {
				t.Errorf("the next client got %q, %v", got, err)
			}
		})
	})
}

func FuzzGopherRequest(f *testing.F) {
	f.Add([]byte("\r\n"))
	f.Add([]byte("/pub\thello world\t+\t1\r\n+-1\r\n.\r\n"))
	f.Add([]byte("9/../\x00\xff\r"))
	f.Add([]byte("URL:javascript:\"<>\r\n"))
	f.Fuzz(func(t *testing.T, octets []byte) {
		synctest.Test(t, func(t *testing.T) {
			srv := testserver.NewGopher(t, gopherInMemory)
			answerAnything(t, srv, srv.Addr, octets)
			if got, err := ask(t, srv, srv.Addr, "/motd.txt\r\n"); got != "hello\r\nworld\r\n.\r\n" {
				t.Errorf("the next client got %q, %v", got, err)
			}
		})
	})
}

func FuzzGopherPlusRequest(f *testing.F) {
	f.Add([]byte("/pub/a.txt\t+\t1\r\n+-1\r\nx\r\n.\r\n"))
	f.Add([]byte("/pub/a.txt\t+\t1\r\n+-2\r\nx"))
	f.Add([]byte("/pub/a.txt\t+\t1\r\n+99999999999\r\nx"))
	f.Add([]byte("/\t$+VIEWS+\r\n"))
	f.Add([]byte("7\t\t!\r\n"))
	f.Fuzz(func(t *testing.T, octets []byte) {
		synctest.Test(t, func(t *testing.T) {
			srv := testserver.NewGopher(t, plusSite(testserver.UMNGopher))
			answerAnything(t, srv, srv.Addr, octets)
			if got, err := ask(t, srv, srv.Addr, "/motd.txt\t+\r\n"); got != "+-1\r\nhello\r\nworld\r\n.\r\n" {
				t.Errorf("the next client got %q, %v", got, err)
			}
		})
	})
}

func FuzzCSO(f *testing.F) {
	f.Add([]byte("query frodo\r\nquit\r\n"))
	f.Add([]byte("query name=[ return x\nquery =\n\x00\n"))
	f.Fuzz(func(t *testing.T, octets []byte) {
		synctest.Test(t, func(t *testing.T) {
			srv := testserver.NewCSO(t, phoneBook)
			answerAnything(t, srv, srv.Addr, octets)
			if got, err := ask(t, srv, srv.Addr, "id\r\nquit\r\n"); got != "200:Thanks.\r\n200:Bye!\r\n" {
				t.Errorf("the next client got %q, %v", got, err)
			}
		})
	})
}

func answerAnything(t *testing.T, s dialer, addr string, octets []byte) {
	nc := dial(t, s, addr)
	nc.SetDeadline(time.Now().Add(time.Hour))
	go func() {
		nc.Write(octets)
		nc.(interface{ CloseWrite() error }).CloseWrite()
	}()
	if _, err := io.Copy(io.Discard, nc); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the server did not end the connection")
	}
	nc.Close()
	synctest.Wait()
}
