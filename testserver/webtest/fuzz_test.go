package webtest_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/net/http2"

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

// FuzzHTTP2 sends any octets after the preface of HTTP/2.
func FuzzHTTP2(f *testing.F) {
	var all bytes.Buffer
	w := http2.NewFramer(&all, nil)
	w.AllowIllegalWrites = true
	seed := func(frames ...func()) {
		all.Reset()
		_ = w.WriteSettings()
		for _, write := range frames {
			write()
		}
		f.Add(bytes.Clone(all.Bytes()))
	}
	head := func(id uint32, end bool, octets string) func() {
		return func() {
			_ = w.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte(octets), EndStream: end, EndHeaders: true})
		}
	}
	const get, put = "\x82\x86\x84\x41\x01h", "\x02\x03PUT\x86\x04\x02/x\x41\x01h"
	seed(head(1, true, get), head(3, true, get), func() { _ = w.WriteRSTStream(1, 8) })
	seed(head(1, false, put), func() { _ = w.WriteData(1, false, []byte("abc")) }, func() { _ = w.WriteData(1, true, nil) })
	seed(head(1, false, put), head(1, true, ""), head(1, true, ""), func() { _ = w.WriteData(1, true, []byte("more")) })
	seed(func() { _ = w.WriteSettings(http2.Setting{ID: 4, Val: 0}, http2.Setting{ID: 1, Val: 0}) }, head(1, true, get), func() { _ = w.WriteWindowUpdate(1, 1<<31-1) })
	seed(func() { _ = w.WritePing(false, [8]byte{}) }, func() { _ = w.WriteGoAway(0, 0, nil) }, func() { _ = w.WriteRawFrame(77, 255, 9, []byte("x")) })
	seed(func() { _ = w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte("\x82")}) }, func() { _ = w.WriteContinuation(1, true, []byte("\x86\x84")) })
	f.Fuzz(func(t *testing.T, octets []byte) {
		synctest.Test(t, func(t *testing.T) {
			srv := webtest.New(t, webInMemory)
			testclient.AnswerAnything(t, srv, srv.Addr, append([]byte(http2.ClientPreface), octets...))
			got, err := testclient.Ask(t, srv, srv.Addr, "HEAD / HTTP/1.0\r\n\r\n")
			if !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\n") {
				t.Errorf("the next client got %q, %v", got, err)
			}
		})
	})
}
