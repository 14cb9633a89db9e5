package webtest_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

func FuzzHTTPRequest(f *testing.F) {
	f.Add([]byte("GET /motd.txt HTTP/1.1\r\nHost: h\r\nRange: bytes=1-,2-3\r\n\r\n"))
	f.Add([]byte("PUT /%00/../x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\nx"))
	f.Add([]byte("POST /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 99999999999\r\n\r\nx"))
	f.Add([]byte("GET http://elsewhere/pub HTTP/1.0\n\nGET * HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, octets []byte) {
		synctest.Test(t, func(t *testing.T) {
			srv := webtest.New(t, webInMemory)
			testclient.AnswerAnything(t, srv, srv.Addr, octets)
			got, err := testclient.Ask(t, srv, srv.Addr, "HEAD / HTTP/1.0\r\n\r\n")
			if !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\n") {
				t.Errorf("the next client got %q, %v", got, err)
			}
		})
	})
}
