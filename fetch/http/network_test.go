package http

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// network is a network in memory. It has servers by host and port, and records the requests they
// receive.
type network struct {
	t       *testing.T
	servers map[string]server
	peers   map[string]string // remote addresses of connections, by host
	sockets bool              // connections are of the system
	serving sync.WaitGroup    // connections that servers have not closed

	mu     sync.Mutex
	visits []*received
	dials  []string
}

// A server returns the bytes of the whole answer to a request. If the answer ends in cut, the
// connection is then closed. If it ends in reset, a socket is closed by a reset.
type server func(v *received) string

const (
	cut   = "\x00cut"
	reset = "\x00reset"
)

// received is a request that a server has read.
type received struct {
	to, head string
	n        int // of the requests to this server, from 1
	rest     io.Reader
	out      io.Writer
	read     bool
}

// body reads the body of the request.
func (v *received) body() string {
	v.read = true
	if v.field("Expect") != "" {
		io.WriteString(v.out, "HTTP/1.1 100 Continue\r\n\r\n")
	}
	var r io.Reader
	if n, err := strconv.ParseInt(v.field("Content-Length"), 10, 64); err == nil {
		r = io.LimitReader(v.rest, n)
	} else if v.field("Transfer-Encoding") == "chunked" {
		r = httputil.NewChunkedReader(v.rest)
	} else {
		return ""
	}
	b, _ := io.ReadAll(r)
	if v.field("Transfer-Encoding") == "chunked" {
		io.ReadFull(v.rest, make([]byte, 2)) // the line end after the trailer
	}
	return string(b)
}

// field returns a field of the request.
func (v *received) field(name string) string {
	for line := range strings.SplitSeq(v.head, "\r\n") {
		if n, value, ok := strings.Cut(line, ": "); ok && strings.EqualFold(n, name) {
			return value
		}
	}
	return ""
}

// newNetwork returns a network. A test that counts connections must run in a synctest bubble:
// a connection is closed if the Write of the request has not returned 50 ms after the answer.
func newNetwork(t *testing.T, servers map[string]server) *network {
	return &network{t: t, servers: servers}
}

// dial is an Env.Dial.
func (w *network) dial(_ context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dials = append(w.dials, address)
	s, ok := w.servers[address]
	w.mu.Unlock()
	if !ok {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	here, there := net.Pipe()
	if w.sockets {
		here, there = socketPair(w.t)
	}
	if strings.HasSuffix(address, ":443") {
		there = tls.Server(there, &tls.Config{Certificates: []tls.Certificate{certificate(w.t)}})
	}
	w.serving.Go(func() { w.serve(there, address, s) })
	if peer := w.peers[address]; peer != "" {
		return &placed{here, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(peer))}, nil
	}
	return here, nil
}

// socketPair returns both ends of a TCP connection.
func socketPair(t *testing.T) (net.Conn, net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	here, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	there, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return here, there
}

// placed is a connection with an address.
type placed struct {
	net.Conn
	remote net.Addr
}

func (p *placed) RemoteAddr() net.Addr { return p.remote }

func (w *network) serve(c net.Conn, address string, s server) {
	defer c.Close()
	br := bufio.NewReader(c)
	for {
		var head strings.Builder
		for !strings.HasSuffix(head.String(), "\r\n\r\n") {
			line, err := br.ReadString('\n')
			if err != nil {
				return
			}
			head.WriteString(line)
		}
		v := &received{to: address, head: head.String(), rest: br, out: c}
		w.mu.Lock()
		w.visits = append(w.visits, v)
		for _, other := range w.visits {
			if other.to == address {
				v.n++
			}
		}
		w.mu.Unlock()
		answer, closes := strings.CutSuffix(s(v), cut)
		if text, resets := strings.CutSuffix(answer, reset); resets {
			_, _ = io.WriteString(c, text)
			_ = c.(*net.TCPConn).SetLinger(0)
			return
		}
		if answer != "" { // a pipe waits even for the reader of an empty write
			if _, err := io.WriteString(c, answer); err != nil {
				return
			}
		}
		if closes {
			return
		}
		if !v.read && (v.field("Content-Length") != "" || v.field("Transfer-Encoding") != "") {
			return
		}
	}
}

// heads returns the requests to a server, or, for "", to all of them.
func (w *network) heads(address string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []string
	for _, v := range w.visits {
		if address == "" || v.to == address {
			list = append(list, v.head)
		}
	}
	return list
}

// fetcher returns a Fetcher that uses the network and trusts every certificate.
func (w *network) fetcher(configure ...func(*Fetcher)) *Fetcher {
	f := &Fetcher{Env: &fetch.Env{Dial: w.dial, TLS: with(&tls.Config{InsecureSkipVerify: true})}, Retries: -1}
	for _, c := range configure {
		c(f)
	}
	w.t.Cleanup(func() { f.Close() })
	return f
}

// with returns an Env.TLS.
func with(config *tls.Config) func() (*tls.Config, error) {
	return func() (*tls.Config, error) { return config, nil }
}

// certificate returns a certificate for clients that do not verify it.
var certificate = func() func(testing.TB) tls.Certificate {
	var once sync.Once
	var c tls.Certificate
	return func(testing.TB) tls.Certificate {
		once.Do(func() {
			srv := httptest.NewTLSServer(nil)
			defer srv.Close()
			c = srv.TLS.Certificates[0]
		})
		return c
	}
}()

// says returns a server that always sends the same answer.
func says(answer string) server { return func(*received) string { return answer } }

// document returns a 200 with a body.
func document(body string, fields ...string) string { return status("200 OK", body, fields...) }

func status(line, body string, fields ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %s\r\n", line)
	for _, f := range fields {
		b.WriteString(f + "\r\n")
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return b.String()
}

func redirectTo(url string) server { return says(status("302 Found", "", "Location: "+url)) }

// parse parses a URL as in a Location field.
func parse(t testing.TB, url string) locator.Locator {
	t.Helper()
	ref, err := lenient.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return ref.Locator
}

// get fetches a URL to its end.
func get(t testing.TB, f *Fetcher, url string, opt *Options) (string, *fetch.Resource, error) {
	t.Helper()
	return do(t.Context(), f, &fetch.Request{Locator: parse(t, url), Options: opt})
}

func do(ctx context.Context, f *Fetcher, req *fetch.Request) (string, *fetch.Resource, error) {
	res, err := f.Fetch(ctx, req)
	if err != nil {
		return "", nil, err
	}
	defer res.Close()
	body, err := io.ReadAll(res.Body)
	return string(body), res, err
}
