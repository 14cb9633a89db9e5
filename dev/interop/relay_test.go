package interop

import (
	"bufio"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A relay forwards connections to another address: to, or, if that is empty, the one that the
// client requests. In the latter case it is an HTTP proxy with CONNECT and a SOCKS 4, 4a and 5
// proxy on one port, for this host only.
type relay struct {
	net.Listener
	to       string
	cautious bool         // requires the login of lab
	most     atomic.Int64 // maximum that is forwarded of what a server sends on a connection; 0 means all

	wg    sync.WaitGroup
	mu    sync.Mutex
	conns []net.Conn
	asked []string // "GET http://host/", "CONNECT host:port", "SOCKS5 host:port"
	ended bool
}

func newRelay(cautious bool) (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{Listener: l, cautious: cautious}
	r.run()
	return r, nil
}

func (r *relay) run() {
	r.wg.Go(func() {
		for {
			c, err := r.Accept()
			if err != nil {
				return
			}
			r.wg.Go(func() { r.serve(c) })
		}
	})
}

// close closes everything and waits.
func (r *relay) close() {
	r.Listener.Close()
	r.mu.Lock()
	r.ended = true
	for _, c := range r.conns {
		c.Close()
	}
	r.mu.Unlock()
	r.wg.Wait()
}

// keep registers a connection to be closed with the relay.
func (r *relay) keep(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns = append(r.conns, c)
	if r.ended {
		c.Close()
	}
}

func (r *relay) note(asked string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, asked)
}

// requests returns what clients have requested so far.
func (r *relay) requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asked)
}

func (r *relay) serve(c net.Conn) {
	r.keep(c)
	defer c.Close()
	in := bufio.NewReader(c)
	if r.to != "" {
		r.join(c, in, r.to, "", "")
		return
	}
	first, err := in.Peek(1)
	switch {
	case err != nil:
	case first[0] == 4:
		r.socks4(c, in)
	case first[0] == 5:
		r.socks5(c, in)
	default:
		r.http(c, in)
	}
}

// http answers one request: CONNECT, or any other with an absolute http URL. It fetches nothing
// itself but replies with the request.
func (r *relay) http(c net.Conn, in *bufio.Reader) {
	req, err := http.ReadRequest(in)
	if err == nil {
		r.note(req.Method + " " + req.RequestURI)
	}
	login := "Basic " + base64.StdEncoding.EncodeToString([]byte("lab:secret"))
	switch {
	case err != nil:
	case r.cautious && req.Header.Get("Proxy-Authorization") != login:
		_, _ = io.WriteString(c, "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"relay\"\r\nContent-Length: 7\r\nConnection: close\r\n\r\nlogin!\n")
	case req.Method == http.MethodConnect:
		r.join(c, in, req.Host, "HTTP/1.1 200 Connected\r\n\r\n", "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
	case req.URL.Scheme != "http":
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nby proxy: "+req.Method+" "+req.RequestURI+"\n")
	default:
		req.Header.Del("Proxy-Authorization")
		req.Header.Del("Proxy-Connection")
		req.RequestURI = ""
		req.Header.Set("Via", "relay")
		res, err := new(http.Transport).RoundTrip(req)
		if err != nil {
			_, _ = io.WriteString(c, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			return
		}
		defer res.Body.Close()
		res.Close = true
		_ = res.Write(c)
	}
}

// socks4 is SOCKS 4, and 4a with its names.
func (r *relay) socks4(c net.Conn, in *bufio.Reader) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(in, head); err != nil {
		return
	}
	if _, err := in.ReadString(0); err != nil {
		return
	}
	host := net.IP(head[4:8]).String()
	if head[4]|head[5]|head[6] == 0 && head[7] != 0 {
		name, err := in.ReadString(0)
		if err != nil {
			return
		}
		host = strings.TrimSuffix(name, "\x00")
	}
	port := (&net.TCPAddr{Port: int(head[2])<<8 | int(head[3])}).String()
	r.note("SOCKS4 " + host + port)
	r.join(c, in, host+port, "\x00\x5a\x00\x00\x00\x00\x00\x00", "\x00\x5b\x00\x00\x00\x00\x00\x00")
}

// socks5 is RFC 1928, with the login of RFC 1929 if the relay requires one.
func (r *relay) socks5(c net.Conn, in *bufio.Reader) {
	field := func(n int) string { // n bytes, or the number in the first byte
		if n < 0 {
			b, err := in.ReadByte()
			if err != nil {
				return ""
			}
			n = int(b)
		}
		b := make([]byte, n)
		_, _ = io.ReadFull(in, b)
		return string(b)
	}
	field(1)
	switch methods := field(-1); {
	case !r.cautious:
		_, _ = c.Write([]byte{5, 0})
	case !slices.Contains([]byte(methods), 2):
		_, _ = c.Write([]byte{5, 0xff})
		return
	default:
		_, _ = c.Write([]byte{5, 2})
		field(1)
		if user, password := field(-1), field(-1); user != "lab" || password != "secret" {
			_, _ = c.Write([]byte{1, 1})
			return
		}
		_, _ = c.Write([]byte{1, 0})
	}
	head := field(4)
	var host string
	switch head[3] {
	case 1:
		host = net.IP(field(4)).String()
	case 3:
		host = field(-1)
	}
	port := field(2)
	host += (&net.TCPAddr{Port: int(port[0])<<8 | int(port[1])}).String()
	r.note("SOCKS5 " + host)
	r.join(c, in, host, "\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00", "\x05\x05\x00\x01\x00\x00\x00\x00\x00\x00")
}

// join connects, replies, and forwards bytes in both directions.
func (r *relay) join(c net.Conn, in io.Reader, to, welcome, sorry string) {
	host, port, err := net.SplitHostPort(to)
	if err != nil || host != "127.0.0.1" && host != "localhost" && !strings.HasSuffix(host, ".test") {
		_, _ = io.WriteString(c, sorry)
		return
	}
	server, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		_, _ = io.WriteString(c, sorry)
		return
	}
	r.keep(server)
	defer server.Close()
	_, _ = io.WriteString(c, welcome)
	left := make(chan struct{})
	r.wg.Go(func() {
		defer close(left)
		_, _ = io.Copy(server, in)
		_ = server.(*net.TCPConn).CloseWrite()
	})
	if most := r.most.Load(); most > 0 {
		if n, _ := io.CopyN(c, server, most); n == most {
			<-left // stall until the client leaves
		}
		return
	}
	_, _ = io.Copy(c, server)
}
