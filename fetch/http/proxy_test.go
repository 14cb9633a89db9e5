package http

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/proxy"
	"github.com/fetch1738/fetch1738/locator"
)

func through(t testing.TB, text string) func(*Fetcher) {
	t.Helper()
	p, err := proxy.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return func(f *Fetcher) { f.Proxy = func(locator.Locator) *proxy.Proxy { return p } }
}

// TestForwardProxy checks that requests for http URLs are sent to the proxy in absolute form (RFC
// 9112 §3.2.2).
func TestForwardProxy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t, map[string]server{"p.example:3128": says(document("from afar"))})
		f := w.fetcher(through(t, "me:secret@p.example:3128"))
		var asked []fetch.Target
		f.Env.Allow = func(_ context.Context, t fetch.Target) error { asked = append(asked, t); return nil }
		w.peers = map[string]string{"p.example:3128": "192.0.2.9:3128"}
		for range 2 {
			body, res, err := get(t, f, "http://a.example:8080//x%2Fy?q", &Options{Header: map[string][]string{"Host": {"other.example"}}})
			if err != nil || body != "from afar" || res.Peer.IsValid() {
				t.Fatal(body, res, err)
			}
		}
		want := "GET http://a.example:8080//x%2Fy?q HTTP/1.1\r\nHost: other.example\r\nUser-Agent: fetch1738\r\nAccept: */*\r\nAccept-Encoding: identity\r\n" +
			"Proxy-Authorization: Basic bWU6c2VjcmV0\r\n\r\n"
		if heads := w.heads(""); len(heads) != 2 || heads[0] != want || heads[1] != want || len(w.dials) != 1 {
			t.Errorf("%q over %q", heads, w.dials)
		}
		var purposes []string
		for _, t := range asked {
			purposes = append(purposes, fmt.Sprintf("%s %d %v", t.Host, t.Purpose, t.Addr.IsValid()))
		}
		if got, want := strings.Join(purposes, ", "), "a.example 0 false, p.example 2 false, p.example 2 true, a.example 0 false"; got != want {
			t.Errorf("the policy was called with %s; want %s", got, want)
		}
		explained, err := f.Explain(&fetch.Request{Locator: parse(t, "http://a.example:8080//x%2Fy?q")})
		if err != nil || explained.Host != "p.example" || explained.Port != 3128 || explained.Steps[0].Send != strings.NewReplacer("Basic bWU6c2VjcmV0", "****", "other.example", "a.example:8080").Replace(want) {
			t.Errorf("explained as %+v, %v", explained, err)
		}
		denied := errors.New("denied")
		f.Env.Allow = func(_ context.Context, t fetch.Target) error {
			if t.Host == "b.example" {
				return denied
			}
			return nil
		}
		if _, _, err := get(t, f, "http://b.example/", nil); fetch.KindOf(err) != fetch.ErrRefused || len(w.heads("")) != 2 {
			t.Errorf("%v; %q", err, w.heads(""))
		}
	})
}

// connectProxy returns a proxy that tunnels to servers of the network.
func connectProxy(w *network, heads *[]string, connected string) server {
	return func(v *received) string {
		*heads = append(*heads, v.head)
		to, _, _ := strings.Cut(strings.TrimPrefix(v.head, "CONNECT "), " ")
		far, err := w.dial(context.Background(), "tcp", to)
		if err != nil {
			return "HTTP/1.1 502 Bad Gateway\r\n\r\n" + cut
		}
		io.WriteString(v.out, connected)
		relay(v.out.(net.Conn), v.rest, far)
		return cut
	}
}

func relay(near net.Conn, fromNear io.Reader, far net.Conn) {
	done := make(chan bool)
	go func() {
		io.Copy(near, far)
		near.Close()
		done <- true
	}()
	io.Copy(far, fromNear)
	far.Close()
	<-done
}

// PROXY-SPLIT (case 146): no secret is sent both to the proxy and to the server.
func TestTunnel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var connects []string
		w := newNetwork(t, nil)
		w.servers = map[string]server{
			"p.example:3128": connectProxy(w, &connects, "HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n"),
			"a.example:443":  guarded("me", "for a", "safe"),
		}
		f := w.fetcher(through(t, "me:for%20p@p.example:3128"))
		var sent, received strings.Builder
		ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Sent: func(o []byte) { sent.Write(o) }, Received: func(o []byte) { received.Write(o) }})
		for range 2 {
			body, res, err := do(ctx, f, &fetch.Request{Locator: parse(t, "https://me:for%20a@a.example/"), Options: &Options{Header: map[string][]string{"X-Secret": {"for a"}}}})
			if err != nil || body != "safe" || res.Peer.IsValid() {
				t.Fatal(body, res, err)
			}
		}
		if len(connects) != 1 || connects[0] != "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\nProxy-Authorization: Basic bWU6Zm9yIHA=\r\n\r\n" {
			t.Errorf("the proxy received %q", connects)
		}
		if heads := w.heads("a.example:443"); len(heads) != 2 || strings.Contains(heads[0], "Proxy") {
			t.Errorf("the server received %q", heads)
		}
		if s := sent.String(); strings.Contains(s, "bWU6") || strings.Count(s, "****") != 3 || !strings.HasPrefix(received.String(), "HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n") {
			t.Errorf("traced %q, %q", s, received.String())
		}
	})
}

func TestTunnelRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		answer string
		kind   fetch.ErrorKind
		text   string
	}{
		"login":           {"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", fetch.ErrUnauthenticated, "407 "},
		"forbidden":       {"HTTP/1.1 403 No \x1b[2J\r\nContent-Length: 0\r\n\r\n", fetch.ErrUnreachable, "403 "},
		"garbage":         {"220 ready\r\n\r\n" + cut, fetch.ErrUnreachable, ""},
		"nothing":         {cut, fetch.ErrUnreachable, ""},
		"half":            {"HTTP/1.1 200 OK\r\n" + cut, fetch.ErrUnreachable, ""},
		"no TLS":          {"HTTP/1.1 200 OK\r\n\r\nhello", fetch.ErrTimeout, "TLS"},
		"endless":         {"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 64<<10), fetch.ErrTooLarge, ""},
		"endless line":    {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20), fetch.ErrTooLarge, ""},
		"informational":   {"HTTP/1.1 100 Continue\r\n\r\n", fetch.ErrUnreachable, "100 "},
		"does not answer": {"", fetch.ErrTimeout, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newNetwork(t, map[string]server{"p.example:3128": func(v *received) string {
				if tc.answer == "" {
					io.Copy(io.Discard, v.rest)
				}
				return tc.answer
			}})
			_, _, err := get(t, w.fetcher(through(t, "p.example:3128")), "https://a.example/", nil)
			if fetch.KindOf(err) != tc.kind || !strings.Contains(err.Error(), tc.text) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("%s: %v (%v)", name, err, fetch.KindOf(err))
			}
		})
	}
}

// socksProxy returns a SOCKS 5 proxy to servers of the network (RFC 1928, RFC 1929).
func socksProxy(w *network, asked *[]string) func(c net.Conn) {
	return func(c net.Conn) {
		defer c.Close()
		br := bufio.NewReader(c)
		read := func(n int) []byte {
			b := make([]byte, n)
			io.ReadFull(br, b)
			return b
		}
		if methods := read(int(read(2)[1])); bytes.IndexByte(methods, 2) >= 0 {
			c.Write([]byte{5, 2})
			user := read(int(read(2)[1]))
			password := read(int(read(1)[0]))
			*asked = append(*asked, "login "+string(user)+" "+string(password))
			c.Write([]byte{1, 0})
		} else {
			c.Write([]byte{5, 0})
		}
		var host string
		switch read(4)[3] {
		case 1:
			host = netip.AddrFrom4([4]byte(read(4))).String()
		case 3:
			host = string(read(int(read(1)[0])))
		case 4:
			host = netip.AddrFrom16([16]byte(read(16))).String()
		}
		to := address(host, binary.BigEndian.Uint16(read(2)))
		*asked = append(*asked, to)
		far, err := w.dial(context.Background(), "tcp", to)
		if err != nil {
			c.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0})
			return
		}
		c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
		relay(c, br, far)
	}
}

// viaSocks returns a Fetcher whose connections all use a SOCKS proxy.
func viaSocks(t *testing.T, w *network, proxy string, asked *[]string) *Fetcher {
	return w.fetcher(through(t, proxy), func(f *Fetcher) {
		f.Env.Dial = func(_ context.Context, _, address string) (net.Conn, error) {
			if address != "p.example:1080" {
				t.Errorf("dialled %s", address)
			}
			here, there := net.Pipe()
			go socksProxy(w, asked)(there)
			return here, nil
		}
	})
}

func TestSocks(t *testing.T) {
	w := newNetwork(t, map[string]server{
		"a.example:80": says(document("plain")), "a.example:443": says(document("secure")), "127.0.0.1:80": says(document("here")), "[::1]:81": says(document("six")),
	})
	for _, tc := range []struct{ proxy, url, body, asked string }{
		{"socks5h://p.example", "http://a.example/", "plain", "a.example:80"},
		{"socks5h://p.example", "https://a.example/", "secure", "a.example:443"},
		{"socks5h://me:secret@p.example", "http://a.example/", "plain", "login me secret, a.example:80"},
		{"socks5://p.example", "http://127.0.0.1/", "here", "127.0.0.1:80"},
		{"socks5://p.example", "http://[::1]:81/", "six", "[::1]:81"},
		{"socks5h://p.example", "http://127.0.0.1/", "here", "127.0.0.1:80"},
	} {
		var asked []string
		body, _, err := get(t, viaSocks(t, w, tc.proxy, &asked), tc.url, nil)
		if err != nil || body != tc.body || strings.Join(asked, ", ") != tc.asked {
			t.Errorf("%s by %s: %q, %v; asked for %q", tc.url, tc.proxy, body, err, asked)
		}
		if head := w.heads("")[len(w.heads(""))-1]; !strings.HasPrefix(head, "GET / HTTP/1.1\r\n") {
			t.Errorf("%s by %s: %q", tc.url, tc.proxy, head)
		}
	}
	var asked []string
	if _, _, err := get(t, viaSocks(t, w, "socks5h://p.example", &asked), "http://closed.example/", nil); fetch.KindOf(err) != fetch.ErrUnreachable {
		t.Errorf("closed: %v", err)
	}
	// If names are looked up on this host, the policy is called with the addresses (case 181).
	f := viaSocks(t, w, "socks5://p.example", &asked)
	f.Env.Allow = func(_ context.Context, t fetch.Target) error {
		if t.Purpose == fetch.PurposeControl && t.Addr.Addr().IsLoopback() {
			return errors.New("denied")
		}
		return nil
	}
	asked = nil
	if _, _, err := get(t, f, "http://127.0.0.1/", nil); fetch.KindOf(err) != fetch.ErrRefused || len(asked) > 0 {
		t.Errorf("refused: %v, asked for %q", err, asked)
	}
	// Case 164: a host of more than 255 bytes is refused.
	long := &locator.HTTP{Server: locator.Server{HostPort: locator.HostPort{Host: strings.Repeat("h", 256)}}}
	if _, _, err := do(t.Context(), f, &fetch.Request{Locator: long}); fetch.KindOf(err) != fetch.ErrBadURL || len(asked) > 0 {
		t.Errorf("a host that is too long: %v", err)
	}
}

// TestProxyChanges checks that a connection through one proxy is not reused for another.
func TestProxyChanges(t *testing.T) {
	w := newNetwork(t, nil)
	var first, second []string
	ok := "HTTP/1.1 200 OK\r\n\r\n"
	w.servers = map[string]server{
		"p1.example:1080": connectProxy(w, &first, ok), "p2.example:1080": connectProxy(w, &second, ok), "a.example:443": says(document("x")),
	}
	f := w.fetcher()
	for i := range 6 {
		p := &proxy.Proxy{Scheme: "http", Server: locator.Server{HostPort: locator.HostPort{Host: fmt.Sprintf("p%d.example", i%2+1)}}}
		if i >= 4 {
			p = nil
		}
		f.Proxy = func(locator.Locator) *proxy.Proxy { return p }
		if _, _, err := get(t, f, "https://a.example/", nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(first) == 0 || len(second) == 0 || w.dials[len(w.dials)-1] != "a.example:443" {
		t.Errorf("%q, %q, %q", first, second, w.dials)
	}
}
