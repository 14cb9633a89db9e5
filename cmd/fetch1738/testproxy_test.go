package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// testProxy is an HTTP proxy with CONNECT and a proxy for SOCKS 4, 4A and 5, on one port:
// the first byte tells which one is requested. It connects to loopback only. The login of
// SOCKS 5 is me, with the password secret.
type testProxy struct {
	net.Listener
	wg    sync.WaitGroup
	mu    sync.Mutex
	conns []net.Conn
	asked []string // HTTP requests, the fields indented; "SOCKS host:port", "SOCKS4 user host:port"
}

func newTestProxy() (*testProxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &testProxy{Listener: l}
	p.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.wg.Go(func() { p.serve(c) })
		}
	})
	return p, nil
}

// end closes everything and waits.
func (p *testProxy) end() {
	p.Close()
	p.mu.Lock()
	for _, c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
}

func (p *testProxy) note(c net.Conn, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c != nil {
		p.conns = append(p.conns, c)
	}
	if text != "" {
		p.asked = append(p.asked, text)
	}
}

func (p *testProxy) serve(c net.Conn) {
	p.note(c, "")
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * time.Minute))
	r := bufio.NewReader(c)
	first, err := r.Peek(1)
	if err != nil {
		return
	}
	switch first[0] {
	case 4:
		p.socks4(c, r)
		return
	case 5:
		p.socks5(c, r)
		return
	}
	req, err := http.ReadRequest(r)
	if err != nil {
		return
	}
	p.note(nil, requestText(req))
	switch {
	case req.Method != http.MethodConnect:
		_, _ = io.Copy(io.Discard, req.Body) // what is unread would end in a reset
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nby proxy: "+req.RequestURI+"\n")
	case req.URL.Port() != "1":
		p.join(c, r, req.Host, "HTTP/1.1 200 Connected\r\n\r\n")
	case req.Header.Get("Proxy-Authorization") == "":
		_, _ = io.WriteString(c, "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
	default:
		_, _ = io.WriteString(c, "HTTP/1.1 403 Forbidden\r\n\r\n")
	}
}

// requestText is a request's first line and, in order, its fields.
func requestText(req *http.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", req.Method, req.RequestURI, req.Proto)
	for _, name := range slices.Sorted(maps.Keys(req.Header)) {
		for _, value := range req.Header[name] {
			fmt.Fprintf(&b, "\n  %s: %s", name, value)
		}
	}
	return b.String()
}

// socks4 reads a request of SOCKS 4 or 4A.
func (p *testProxy) socks4(c net.Conn, r *bufio.Reader) {
	request := make([]byte, 8)
	if _, err := io.ReadFull(r, request); err != nil {
		return
	}
	user, err := r.ReadString(0)
	if err != nil {
		return
	}
	host := net.IP(request[4:]).String()
	if request[4] == 0 && request[7] != 0 {
		name, err := r.ReadString(0)
		if err != nil {
			return
		}
		host = strings.TrimSuffix(name, "\x00")
	}
	to := net.JoinHostPort(host, strconv.Itoa(int(request[2])<<8|int(request[3])))
	p.note(nil, "SOCKS4 "+strings.TrimSuffix(user, "\x00")+" "+to)
	if !p.join(c, r, to, "\x00\x5a\x00\x00\x00\x00\x00\x00") {
		_, _ = io.WriteString(c, "\x00\x5b\x00\x00\x00\x00\x00\x00")
	}
}

// socks5 reads a greeting, a login and a request (RFC 1928 §3, §4; RFC 1929).
func (p *testProxy) socks5(c net.Conn, r *bufio.Reader) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(r, head); err != nil {
		return
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(r, methods); err != nil {
		return
	}
	if bytes.IndexByte(methods, 2) < 0 {
		_, _ = c.Write([]byte{5, 0})
	} else if !p.login(c, r) {
		return
	}
	request := make([]byte, 5)
	if _, err := io.ReadFull(r, request); err != nil {
		return
	}
	n, host := 3, ""
	if request[3] == 3 {
		n = int(request[4])
	}
	rest := make([]byte, n+2)
	if _, err := io.ReadFull(r, rest); err != nil {
		return
	}
	if host = string(rest[:n]); request[3] == 1 {
		host = net.IP(append([]byte{request[4]}, rest[:3]...)).String()
	}
	port := int(rest[n])<<8 | int(rest[n+1])
	to := (&net.TCPAddr{Port: port}).String()
	p.note(nil, "SOCKS "+host+to)
	p.join(c, r, host+to, "\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00")
}

// login asks for user and password.
func (p *testProxy) login(c net.Conn, r *bufio.Reader) bool {
	_, _ = c.Write([]byte{5, 2})
	var words [2]string
	if _, err := r.Discard(1); err != nil {
		return false
	}
	for i := range words {
		n, err := r.ReadByte()
		if err != nil {
			return false
		}
		word := make([]byte, n)
		if _, err := io.ReadFull(r, word); err != nil {
			return false
		}
		words[i] = string(word)
	}
	ok := words == [2]string{"me", "secret"}
	status := byte(1)
	if ok {
		status = 0
	}
	_, _ = c.Write([]byte{1, status})
	return ok
}

// join connects to a server and moves octets both ways; it reports whether it
// could.
func (p *testProxy) join(c net.Conn, r io.Reader, to, welcome string) bool {
	host, _, err := net.SplitHostPort(to)
	if err != nil || host != "127.0.0.1" && host != "localhost" {
		return false
	}
	server, err := net.Dial("tcp", to)
	if err != nil {
		return false
	}
	p.note(server, "")
	defer server.Close()
	_ = server.SetDeadline(time.Now().Add(2 * time.Minute))
	_, _ = io.WriteString(c, welcome)
	p.wg.Go(func() {
		_, _ = io.Copy(server, r)
		_ = server.(*net.TCPConn).CloseWrite()
	})
	_, _ = io.Copy(c, server)
	return true
}
