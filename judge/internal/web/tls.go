package web

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// secureCases are those of HTTP over TLS that are not constructed.
func secureCases() []testcase.Named {
	const rfc = "RFC 9110 §4.3.4: a client must verify the certificate."
	// with has a certificate other than the usual one, which is still the one to trust.
	with := func(name, does string, config func() *tls.Config, trusted bool) testcase.Named {
		return testcase.Named{Name: "certificate/" + name, Does: does, Source: rfc, Should: "It ends with an error, and does not send the login.", Set: func(r *testcase.Run) {
			bad := config()
			srv := serve(r, func(w *webtest.Server) { w.TLS, w.Users = bad, testcase.Users() })
			r.Client.Login()
			r.Never.Foreign = append(r.Never.Foreign, &srv.Server)
			if trusted {
				r.Client.Trust(srv.CA())
			}
			r.Goal.Refuse = "the server cannot prove that it is the host of the URL"
		}}
	}
	return append([]testcase.Named{
		with("untrusted", "The certificate is not one to trust.", testcase.Stranger, false),
		with("other-host", "The certificate is that of another host.", testcase.OtherHost, true),
		with("expired", "The certificate has expired.", testcase.Expired, true),
		with("future", "The certificate is not valid yet.", testcase.Early, true),
		{Name: "no-tls", Does: "The server does not use TLS.", Source: "A port where HTTP without TLS is served.", Should: "It ends with an error, and does not send the login.", Set: func(r *testcase.Run) {
			srv := serve(r, func(w *webtest.Server) { w.ImplicitTLS, w.Users = false, testcase.Users() })
			r.Never.Foreign = append(r.Never.Foreign, &srv.Server)
			r.Client.URL = "https" + strings.TrimPrefix(r.Client.URL, "http")
			r.Client.Login()
		}},
		{Name: "redirect/login-http", Does: "A document with a login has moved to a server without TLS.", Source: "CVE-2018-18074 (requests): a login that is sent in the clear after a redirect.", Should: "It does not send the login; it ends with an error, or with the whole document.", Set: func(r *testcase.Run) {
			srv := serve(r, requireLogin)
			r.Client.Login()
			r.Arm(srv, "GET", 0, webtest.RedirectTo(otherServer(r, "127.0.0.1").URL+"/pub/file.bin", 302))
		}},
		{Name: "redirect/untrusted", Does: "The document has moved to a server whose certificate is not one to trust.", Source: rfc, Set: func(r *testcase.Run) {
			srv := serve(r)
			other := otherServer(r, "127.0.0.1", func(w *webtest.Server) { w.TLS, w.ImplicitTLS = testcase.Stranger(), true })
			r.Goal.Refuse = "the certificate of the other server is not one to trust"
			r.Arm(srv, "GET", 0, webtest.RedirectTo(other.URL+"/pub/file.bin", 302))
		}},
	}, cutTLSCases()...)
}

// cutTLSCases are connections that end without the message of TLS that they end.
func cutTLSCases() []testcase.Named {
	const rfc = "RFC 9112 §9.8, RFC 8446 §6.1: a connection without close_notify was cut."
	row := func(name, does string, gets bool, cut func(record int) bool, faults ...testserver.Fault) testcase.Named {
		return testcase.Named{Name: "cut/" + name, Does: does, Source: rfc, Gets: gets, Set: func(r *testcase.Run) {
			r.Goal.Size = 70_000
			srv := serve(r)
			r.Arm(srv, "GET", 0, faults...)
			r.Client.URL = strings.Replace(r.Client.URL, srv.Addr, behind(r, srv.Addr, cut), 1)
		}}
	}
	noLength := webtest.ContentLength(-1)
	never := func(int) bool { return false }
	early := func(record int) bool { return record > 8 }
	return []testcase.Named{
		row("length", "The connection is cut in the middle of the document, which has a Content-Length.", false, early, webtest.Header("X-Cut", "yes")),
		row("no-length", "The connection is cut in the middle of the document, which has no Content-Length.", false, early, noLength),
		row("chunked", "The connection is cut in the middle of the document, which comes in chunks.", false, early, webtest.Chunked()),
		row("end-length", "Only close_notify is missing, and the document has a Content-Length.", true, never, webtest.Header("Connection", "close")),
		row("end-no-length", "Only close_notify is missing, and the document has no Content-Length.", false, never, noLength),
	}
}

// behind listens for clients and passes what they send to a server, and back: without the last
// message of TLS, and up to the record at which cut is true. It returns its address.
func behind(r *testcase.Run, server string, cut func(record int) bool) string {
	l, err := new(net.ListenConfig).Listen(r.Ctx, "tcp", "127.0.0.1:0")
	testcase.Check(err)
	go func() {
		<-r.Ctx.Done()
		_ = l.Close()
	}()
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go pass(client, server, cut)
		}
	}()
	return l.Addr().String()
}

// closeNotify is the length of a record with an alert: in clear, and encrypted as TLS 1.3 does.
var closeNotify = map[byte]int{21: 0, 23: 19}

// pass relays one connection of behind, and closes it.
func pass(client net.Conn, server string, cut func(record int) bool) {
	defer client.Close()
	to, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer to.Close()
	go func() { _, _ = io.Copy(to, client) }()
	for record := 0; !cut(record); record++ {
		head := make([]byte, 5)
		if _, err := io.ReadFull(to, head); err != nil {
			break
		}
		body := make([]byte, binary.BigEndian.Uint16(head[3:]))
		if _, err := io.ReadFull(to, body); err != nil {
			break
		}
		if n, alert := closeNotify[head[0]]; alert && (n == 0 || n == len(body)) {
			break
		}
		if _, err := client.Write(append(head, body...)); err != nil {
			return
		}
	}
	if half, ok := client.(*net.TCPConn); ok { // in order, so that nothing of before is lost
		_ = half.CloseWrite()
		_ = half.SetReadDeadline(time.Now().Add(time.Second))
		_, _ = io.Copy(io.Discard, half)
	}
}
