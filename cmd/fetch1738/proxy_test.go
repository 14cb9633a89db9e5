package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// testProxy is an HTTP proxy that knows CONNECT, and a SOCKS 5 proxy, on one
// port: the first octet tells which is wanted. It connects to loopback only.
type testProxy struct {
	net.Listener
	wg    sync.WaitGroup
	mu    sync.Mutex
	conns []net.Conn
	asked []string // "CONNECT host:port" and "SOCKS host:port"
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
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	r := bufio.NewReader(c)
	first, err := r.Peek(1)
	if err != nil {
		return
	}
	if first[0] == 5 {
		p.socks(c, r)
		return
	}
	req, err := http.ReadRequest(r)
	switch {
	case err != nil:
	case req.Method != http.MethodConnect:
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nby proxy: "+req.RequestURI+"\n")
	case req.Header.Get("Proxy-Authorization") == "" && req.URL.Port() == "1":
		_, _ = io.WriteString(c, "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
	default:
		p.note(nil, "CONNECT "+req.Host)
		p.join(c, r, req.Host, "HTTP/1.1 200 Connected\r\n\r\n")
	}
}

// socks reads a greeting and a request (RFC 1928 §3, §4).
func (p *testProxy) socks(c net.Conn, r *bufio.Reader) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(r, head); err != nil {
		return
	}
	if _, err := r.Discard(int(head[1])); err != nil {
		return
	}
	_, _ = c.Write([]byte{5, 0})
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

func (p *testProxy) join(c net.Conn, r io.Reader, to, welcome string) {
	host, _, err := net.SplitHostPort(to)
	if err != nil || host != "127.0.0.1" && host != "localhost" {
		return
	}
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	p.note(server, "")
	defer server.Close()
	_ = server.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = io.WriteString(c, welcome)
	p.wg.Go(func() {
		_, _ = io.Copy(server, r)
		_ = server.(*net.TCPConn).CloseWrite()
	})
	_, _ = io.Copy(c, server)
}

func TestBypasses(t *testing.T) {
	for _, c := range []struct {
		list, host string
		want       bool
	}{
		{"", "h", false},
		{"*", "h", true},
		{"h", "h", true},
		{"h", "H", true},
		{"h", "x.h", true},
		{"h", "xh", false},
		{".example.org", "ftp.example.org", true},
		{".example.org", "example.org", true},
		{"example.org, other.net", "other.net.", true},
		{"10.0.0.0/8", "10.1.2.3", true},
		{"10.0.0.0/8", "11.1.2.3", false},
		{"10.0.0.0/8", "x.10.0.0.0", false},
		{"127.0.0.1", "127.0.0.1", true},
		{"0.0.1", "127.0.0.1", false},
		{"[::1]", "::1", true},
		{"::/8", "::1", true},
		{",,", "h", false},
	} {
		o := &operation{noProxy: &c.list}
		if got := o.bypasses(c.host); got != c.want {
			t.Errorf("bypasses(%q) with %q: %v", c.host, c.list, got)
		}
	}
}

func TestProxyFromTheEnvironment(t *testing.T) {
	explicit := "http://given:1"
	none := ""
	for _, c := range []struct {
		env    map[string]string
		given  *string
		scheme string
		want   string
	}{
		{nil, nil, "ftp", ""},
		{map[string]string{"ftp_proxy": "a"}, nil, "ftp", "a"},
		{map[string]string{"FTP_PROXY": "b"}, nil, "ftp", "b"},
		{map[string]string{"ftp_proxy": "a", "FTP_PROXY": "b"}, nil, "ftp", "a"},
		{map[string]string{"HTTP_PROXY": "evil"}, nil, "http", ""},
		{map[string]string{"http_proxy": "a"}, nil, "http", "a"},
		{map[string]string{"all_proxy": "c"}, nil, "gopher", "c"},
		{map[string]string{"ALL_PROXY": "d", "gopher_proxy": "a"}, nil, "gopher", "a"},
		{map[string]string{"ALL_PROXY": "d"}, nil, "file", ""},
		{map[string]string{"ftp_proxy": "a"}, &explicit, "ftp", explicit},
		{map[string]string{"ftp_proxy": "a"}, &none, "ftp", ""},
	} {
		for _, name := range []string{"http_proxy", "HTTP_PROXY", "ftp_proxy", "FTP_PROXY", "gopher_proxy", "GOPHER_PROXY", "all_proxy", "ALL_PROXY"} {
			t.Setenv(name, c.env[name])
		}
		o := &operation{proxy: c.given}
		if got := o.proxyText(c.scheme); got != c.want {
			t.Errorf("%v: proxy of %s is %q, want %q", c.env, c.scheme, got, c.want)
		}
	}
}
