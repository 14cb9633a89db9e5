package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/policy"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
)

// exchange sends a request as it is written and returns the response. lines are the request line,
// the header fields, and "Host: {own}" if they have no field Host. Empty lines are not sent.
func exchange(t *testing.T, addr string, lines ...string) (*http.Response, string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "Host:") }) {
		lines = append(lines, "Host: {own}")
	}
	lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
	method, _, _ := strings.Cut(lines[0], " ")
	lines[0] += " HTTP/1.1"
	_, port, _ := net.SplitHostPort(addr)
	text := strings.NewReplacer("{own}", addr, "{port}", port).Replace(strings.Join(lines, "\r\n"))
	fmt.Fprintf(conn, "%s\r\nConnection: close\r\n\r\n", text)
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%q: %v", lines, err)
	}
	body, _ := io.ReadAll(res.Body)
	return res, string(body)
}

// outcome says in a word or a status what a response is: "served" for the document of the test,
// "asks" for the page that asks before something is sent.
func outcome(res *http.Response, body string) string {
	for name := range res.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			return "has " + name
		}
	}
	switch {
	case strings.Contains(body, "Another site leads here"):
		return "asks"
	case res.StatusCode == 303:
		return "moved"
	case res.StatusCode == 200:
		return "served"
	}
	return fmt.Sprint(res.StatusCode)
}

// TestHost tests which values of the field Host are names of the gateway: those and no others are
// safe from a page whose name has been made to resolve to this computer.
func TestHost(t *testing.T) {
	s := start(t, func(h *Handler) { h.Hosts = []string{"gateway.example:8738", "plain.example"} })
	addr := s.Listener.Addr().String()
	for host, want := range map[string]string{
		"127.0.0.1:{port}":                "served",
		"localhost:{port}":                "served",
		"[::1]:{port}":                    "served",
		"gateway.example:8738":            "served",
		"plain.example":                   "served",
		"evil.example:{port}":             "421", // DNS rebinding
		"evil.example":                    "421",
		"gateway.example":                 "421",
		"gateway.example:{port}":          "421",
		"plain.example:80":                "421",
		"127.0.0.1":                       "421",
		"127.0.0.1:80":                    "421",
		"127.0.0.1:0{port}":               "421",
		"localhost":                       "421",
		"localhost.:{port}":               "421",
		"LOCALHOST:{port}":                "421",
		"x.localhost:{port}":              "421",
		"localhost.evil.example:{port}":   "421",
		"127.0.0.1.evil.example:{port}":   "421",
		"evil@127.0.0.1:{port}":           "400",
		"127.0.0.1:{port}@evil.example":   "400",
		"127.1:{port}":                    "421",
		"2130706433:{port}":               "421",
		"0177.0.0.1:{port}":               "421",
		"0x7f.0.0.1:{port}":               "421",
		"0x7f000001:{port}":               "421",
		"127.0.0.2:{port}":                "421",
		"0.0.0.0:{port}":                  "421",
		"[::ffff:127.0.0.1]:{port}":       "421",
		"[::ffff:7f00:1]:{port}":          "421",
		"[0:0:0:0:0:0:0:1]:{port}":        "421",
		"[::1%25lo]:{port}":               "421",
		"::1:{port}":                      "421",
		"[::1]":                           "421",
		"127.0.0.1%3A{port}":              "421",
		"127.0.0.1:{port},evil.example":   "421",
		"":                                "421",
		"127.0.0.1:{port} evil.example":   "400",
		"127.0.0.1:{port}\tx":             "400",
		"127.0.0.1:{port}/":               "400",
		"loc\u00e0lhost:{port}":           "400",
		"１２７.0.0.1:{port}":                "400",
		"127.0.0.1:{port}\r\nHost: {own}": "400",
		"evil.example\r\nHost: {own}":     "400",
	} {
		res, body := exchange(t, addr, "GET /", "Host: "+host)
		if got := outcome(res, body); got != want {
			t.Errorf("Host %q: %s, want %s", host, got, want)
		}
	}
	if res, body := exchange(t, addr, "OPTIONS /", "Host: evil.example"); outcome(res, body) != "421" {
		t.Errorf("another name with OPTIONS: %s", res.Status)
	}
}

// TestTarget tests what may stand for the path in a request, without and with the proxy.
func TestTarget(t *testing.T) {
	public := func(h *Handler) { h.Resolver.Env.Allow = policy.Public }
	reverse, proxy := start(t, public), start(t, func(h *Handler) { h.Proxy = true; public(h) })
	for _, tc := range []struct{ line, host, reverse, proxy string }{
		{"GET /", "{own}", "served", "served"},
		{"GET http://{own}/", "{own}", "400", "served"},
		{"GET http://{own}/", "evil.example", "400", "served"}, // net/http drops the field
		{"GET http://evil.example/", "{own}", "400", "501"},
		{"GET http://evil.example/", "evil.example", "400", "501"},
		{"GET https://{own}/", "{own}", "400", "501"},
		{"GET HTTP://{own}/", "{own}", "400", "served"},
		{"GET http://user@{own}/", "{own}", "400", "served"},
		{"GET file:///etc/passwd", "{own}", "400", "403"},
		{"GET file://localhost/etc/passwd", "{own}", "400", "403"},
		{"GET telnet://127.0.0.1/", "{own}", "400", "served"}, // advice
		{"GET javascript:alert(1)", "{own}", "400", "501"},
		{"GET ftp://127.0.0.1:0/", "{own}", "400", "400"},
		{"GET gopher://[::1/", "{own}", "400", "400"},
		{"GET ftp://h/a b", "{own}", "400", "400"},
		{"GET //evil.example/", "{own}", "400", "400"},
		{"GET *", "{own}", "400", "400"},
		{"GET evil.example", "{own}", "400", "400"},
		{"POST gopher://127.0.0.1/0x", "{own}", "400", "405"},
		{"PUT ftp://127.0.0.1/x", "{own}", "400", "405"},
		{"CONNECT 127.0.0.1:22", "{own}", "403", "403"},
		{"CONNECT evil.example:443", "evil.example:443", "403", "403"},
	} {
		for s, want := range map[*httptest.Server]string{reverse: tc.reverse, proxy: tc.proxy} {
			res, body := exchange(t, s.Listener.Addr().String(), tc.line, "Host: "+tc.host)
			if got := outcome(res, body); got != want {
				t.Errorf("%s, Host %s, proxy %t: %s, want %s", tc.line, tc.host, s == proxy, got, want)
			}
		}
	}
}

// origins are what a browser, or another client, says about where a request comes from; and what
// happens to a plain retrieval, and to a search.
var origins = []struct{ method, fields, plain, search string }{
	// No browser, or an old one.
	{"GET", "", "served", "served"},
	{"HEAD", "", "served", "served"},
	{"GET", "Origin: http://{own}", "served", "served"},
	{"GET", "Referer: http://{own}/gopher/h/1", "served", "served"},
	{"GET", "Referer: http://evil.example/", "asks", "asks"},
	{"GET", "Referer: http://{own}.evil.example/", "asks", "asks"},
	{"GET", "Referer: http://localhost:1/", "asks", "asks"},
	{"GET", "Referer: {own}", "asks", "asks"},
	{"GET", "Origin: http://evil.example", "403", "403"},
	{"GET", "Origin: null", "403", "403"},
	{"GET", "Origin: http://localhost:1", "403", "403"},
	{"GET", "Origin: http://{own}@evil.example", "403", "403"},
	{"GET", "Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: document", "403", "403"},
	// A browser: its user, a page of the gateway.
	{"GET", "Sec-Fetch-Site: none, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: document", "served", "served"},
	{"GET", "Sec-Fetch-Site: same-origin, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: document", "served", "served"},
	{"GET", "Sec-Fetch-Site: same-origin, Sec-Fetch-Mode: no-cors, Sec-Fetch-Dest: image", "served", "served"},
	{"GET", "Sec-Fetch-Site: same-origin, Sec-Fetch-Mode: no-cors, Sec-Fetch-Dest: video", "served", "served"},
	{"GET", "Sec-Fetch-Site: same-origin, Sec-Fetch-Mode: no-cors, Sec-Fetch-Dest: audio", "served", "served"},
	{"GET", "Sec-Fetch-Site: same-origin, Sec-Fetch-Mode: no-cors, Sec-Fetch-Dest: script", "403", "403"},
	{"GET", "Sec-Fetch-Site: same-origin, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: iframe", "403", "403"},
	{"GET", "Sec-Fetch-Site: same-origin, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: object", "403", "403"},
	{"GET", "Sec-Fetch-Site: same-origin, Sec-Fetch-Mode: same-origin, Sec-Fetch-Dest: worker", "403", "403"},
	{"GET", "Sec-Fetch-Site: same-origin, Sec-Fetch-Mode: same-origin, Sec-Fetch-Dest: serviceworker", "403", "403"},
	// A browser: a link of another site, or of another port of this computer.
	{"GET", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: document", "served", "asks"},
	{"GET", "Sec-Fetch-Site: same-site, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: document", "served", "asks"},
	{"GET", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: document, Authorization: Basic eDp5", "served", "asks"},
	// What a page of another site loads, embeds or sends.
	{"GET", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: no-cors, Sec-Fetch-Dest: image", "403", "403"},
	{"GET", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: no-cors, Sec-Fetch-Dest: script", "403", "403"},
	{"GET", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: no-cors, Sec-Fetch-Dest: style", "403", "403"},
	{"GET", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: no-cors, Sec-Fetch-Dest: video", "403", "403"},
	{"GET", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: no-cors, Sec-Fetch-Dest: font", "403", "403"},
	{"GET", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: no-cors, Sec-Fetch-Dest: empty", "403", "403"},
	{"GET", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: cors, Sec-Fetch-Dest: empty, Origin: http://evil.example", "403", "403"},
	{"GET", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: cors, Sec-Fetch-Dest: document", "403", "403"},
	{"GET", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: iframe", "403", "403"},
	{"GET", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: frame", "403", "403"},
	{"GET", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: object", "403", "403"},
	{"GET", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: embed", "403", "403"},
	{"GET", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: websocket, Sec-Fetch-Dest: websocket", "403", "403"},
	{"GET", "Sec-Fetch-Site: cross-site", "403", "403"},
	{"GET", "Sec-Fetch-Site: CROSS-SITE, Sec-Fetch-Mode: no-cors", "403", "403"},
	{"GET", "Sec-Fetch-Site: unknown", "403", "403"},
	{"GET", "Sec-Fetch-Site: same-origin, Sec-Fetch-Site: cross-site", "403", "403"},
	{"POST", "Sec-Fetch-Site: cross-site, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: document", "403", "403"},
	{"POST", "Sec-Fetch-Site: same-site, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: document", "403", "403"},
	{"POST", "Sec-Fetch-Site: same-origin, Sec-Fetch-Mode: navigate, Sec-Fetch-Dest: document, Origin: http://evil.example", "403", "403"},
	{"POST", "Origin: http://evil.example", "403", "403"},
	{"POST", "Origin: null", "403", "403"},
	{"POST", "Referer: http://evil.example/", "403", "403"},
	// What is not for reading.
	{"OPTIONS", "", "403", "403"},
	{"OPTIONS", "Origin: http://evil.example, Access-Control-Request-Method: GET, Access-Control-Request-Private-Network: true", "403", "403"},
	{"OPTIONS", "Sec-Fetch-Site: same-origin", "403", "403"},
	{"PUT", "", "405", "405"},
	{"DELETE", "", "405", "405"},
	{"TRACE", "", "405", "405"},
	{"PROPFIND", "", "405", "405"},
	{"get", "", "405", "405"},
}

// TestOrigin tests what another site can cause. A request that is not served reaches no server.
func TestOrigin(t *testing.T) {
	upstream := gophertest.New(t, func(s *gophertest.Server) { s.Content = fstest.MapFS{"motd.txt": {Data: []byte("hello\n")}} })
	s := start(t, nil)
	for _, tc := range origins {
		for target, want := range map[string]string{
			pathOf(t, upstream.URL+"/0/motd.txt"):  tc.plain,
			pathOf(t, upstream.URL+"/7/") + "?q=x": tc.search,
		} {
			before := len(upstream.Transcript().From(testserver.FromClient))
			lines := []string{tc.method + " " + target, "Accept: text/html"}
			for field := range strings.SplitSeq(tc.fields, ", ") {
				if field != "" {
					lines = append(lines, field)
				}
			}
			res, body := exchange(t, s.Listener.Addr().String(), lines...)
			if got := outcome(res, body); got != want {
				t.Errorf("%s, %s, %s: %s, want %s", tc.method, tc.fields, target, got, want)
			}
			if err := upstream.WaitIdle(t.Context()); err != nil {
				t.Fatal(err)
			}
			if sent := upstream.Transcript().From(testserver.FromClient)[before:]; len(sent) > 0 && want != "served" {
				t.Errorf("%s, %s, %s: the server received %q", tc.method, tc.fields, target, sent)
			}
		}
	}
}

// TestCrossSite tests which links of another site are followed at once, and that the link of the
// page that asks first leads where it says.
func TestCrossSite(t *testing.T) {
	cross := []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document", "Accept: text/html"}
	s := httptest.NewServer(&Handler{}) // it reaches nothing: what it tries is 502
	t.Cleanup(s.Close)
	for target, want := range map[string]string{
		"/":                                      "served",
		"/setup":                                 "served",
		"/open?url=ftp%3A%2F%2F127.0.0.1%2F":     "moved",
		"/open?url=file%3A%2F%2F%2Fetc%2Fpasswd": "403",
		"/ftp/127.0.0.1/":                        "502",
		"/ftp/127.0.0.1/file":                    "502",
		"/ftp/127.0.0.1/file?raw":                "502",
		"/ftp/127.0.0.1/?sort=size":              "502",
		"/ftp/127.0.0.1/?tar":                    "asks",
		"/ftp/127.0.0.1/?login":                  "asks",
		"/ftp/127.0.0.1/?unknown":                "asks",
		"/gopher/127.0.0.1/1/menu":               "502",
		"/gopher/127.0.0.1/0/text":               "502",
		"/gopher/127.0.0.1/9/file":               "502",
		"/gopher/127.0.0.1/hpage":                "502",
		"/gopher/127.0.0.1/7/find":               "asks",
		"/gopher/127.0.0.1/7/find%09words":       "asks",
		"/gopher/127.0.0.1/0/find%09words":       "asks",
		"/gopher/127.0.0.1/1/find?q=words":       "asks",
		"/gopher/127.0.0.1/2":                    "asks",
		"/gopher/127.0.0.1/0x%09%09+%091%0D%0A+-1%0D%0Av%0D%0A.%0D%0A": "asks",
		"/wais/127.0.0.1/db?q=words":                                   "asks",
		"/url?u=wais%3A%2F%2F127.0.0.1%2Fdb%3Fwords":                   "asks",
		"/url?u=gopher%3A%2F%2F127.0.0.1%2F7x%2509w":                   "asks",
		"/url?u=ftp%3A%2F%2F127.0.0.1%2F..%2Fx":                        "502",
		"/nntp/127.0.0.1/group":                                        "502",
		"/news/group?q=words":                                          "asks",
		"/prospero/127.0.0.1/name":                                     "502",
		"/telnet/127.0.0.1/":                                           "served",
		"/mailto/a@b":                                                  "served",
		"/style.css":                                                   "served",
		"/gopher/127.0.0.1/7/%22%3E%3Cscript%3E?q=%3C":                 "asks",
	} {
		res, body := exchange(t, s.Listener.Addr().String(), append([]string{"GET " + target}, cross...)...)
		if got := outcome(res, body); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
		if want == "asks" && !strings.Contains(body, `href="`+strings.ReplaceAll(strings.ReplaceAll(target, "&", "&amp;"), "+", "&#43;")+`"`) {
			t.Errorf("%s: no link in\n%s", target, body)
		}
		if want == "502" && strings.Contains(body, "denied") {
			t.Errorf("%s: another site learns that the policy refused:\n%s", target, body)
		}
	}
}

// zones are hosts that policy.Public denies, with a part of the rule.
var zones = map[string]string{
	"127.0.0.1": "loopback-address", "127.1.2.3": "loopback-address", "[::1]": "loopback-address", "[::ffff:127.0.0.1]": "loopback-address",
	"[::127.0.0.1]": "loopback-address", "localhost": "loopback-address", "x.localhost": "loopback-address", "localhost.": "loopback-address",
	"169.254.169.254": "link-local-address", "[fe80::1]": "link-local-address", "100.100.100.200": "link-local-address",
	"168.63.129.16": "link-local-address", "192.0.0.192": "link-local-address", "[fd00:ec2::254]": "link-local-address",
	"10.0.0.1": "private-address", "172.16.0.1": "private-address", "192.168.1.1": "private-address", "100.64.0.1": "private-address",
	"198.18.0.1": "private-address", "[fc00::1]": "private-address", "[fec0::1]": "private-address",
	"[64:ff9b::7f00:1]": "loopback-address", "[64:ff9b::a00:1]": "private-address", "[64:ff9b:1::1]": "private-address", "[2002:7f00:1::]": "loopback-address",
	"0.0.0.0": "reserved-address", "[::]": "reserved-address", "224.0.0.1": "reserved-address", "[ff02::1]": "reserved-address",
	"240.0.0.1": "reserved-address", "255.255.255.255": "reserved-address", "[2001:0::1]": "reserved-address", "[100::1]": "reserved-address",
	"[5f00::1]": "reserved-address", "192.0.2.1": "documentation-address", "198.51.100.1": "documentation-address",
	"203.0.113.1": "documentation-address", "[2001:db8::1]": "documentation-address", "[3fff::1]": "documentation-address",
	"private.example": "private-address", "loopback.example": "loopback-address", "metadata.example": "link-local-address",
	"8.8.8.8:22": "reserved-port", "8.8.8.8:25": "reserved-port", "8.8.8.8:6667": "bad-port",
}

// resolved are the addresses of the names in zones.
var resolved = map[string]string{"private.example": "10.0.0.1", "loopback.example": "127.0.0.1", "metadata.example": "169.254.169.254"}

// TestZones tests that the policy judges each host, by whatever scheme and in whatever way a URL
// with it is reached.
func TestZones(t *testing.T) {
	h := &Handler{Proxy: true, Resolver: &fetch1738.Resolver{Env: fetch.Env{Allow: policy.Public, Limits: Limits(), Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, _ := net.SplitHostPort(address)
		if addr := resolved[host]; addr != "" {
			address = net.JoinHostPort(addr, port)
		}
		return driver.Dial(ctx, network, address)
	}}}}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	addr := s.Listener.Addr().String()
	for host, rule := range zones {
		for _, line := range []string{
			"GET /ftp/" + host + "/",
			"GET /ftp/" + host + "/file?raw",
			"HEAD /ftp/" + host + "/file",
			"GET /gopher/" + host + "/",
			"GET /wais/" + host + "/db?q=words",
			"GET /nntp/" + host + "/group",
			"GET /prospero/" + host + "/name",
			"GET /url?u=gopher%3A%2F%2F" + url.QueryEscape(host) + "%2F0..%2Fx",
			"GET gopher://" + host + "/",
			"GET ftp://" + host + "/",
			"GET /gopher/8.8.8.8/hURL:ftp://" + host + "/file",
			"GET /gopher/8.8.8.8/hURL:gopher://" + host + "/0x?raw",
		} {
			res, body := exchange(t, addr, line, "Accept: text/html")
			if res.StatusCode != 403 || !strings.Contains(body, rule) && !strings.HasPrefix(line, "HEAD") {
				t.Errorf("%s: %s without %q\n%s", line, res.Status, rule, body)
			}
		}
		if strings.Contains(host, "example") {
			continue // its address is not known before the line has been read
		}
		port := ":70"
		if strings.HasPrefix(host, "8.") {
			port = ""
		}
		if res, _ := exchange(t, addr, "CONNECT "+host+port); res.StatusCode != 403 {
			t.Errorf("CONNECT %s: %s", host, res.Status)
		}
	}
	for _, host := range []string{"127.1", "0x7f.1", "0x7f000001", "2130706433", "0177.0.0.1", "017700000001", "127.0.0.1.", "１２７.0.0.1", "127.0.0.1%2F", "127.0.0.1%40x", "%5B::1", "127.0.0.1%00", "localhost%0D%0A"} {
		for _, scheme := range []string{"ftp", "gopher", "wais", "nntp", "prospero"} {
			res, body := exchange(t, addr, "GET /"+scheme+"/"+host+"/group", "Accept: text/html")
			if res.StatusCode != 400 && res.StatusCode != 403 {
				t.Errorf("%s://%s: %s\n%s", scheme, host, res.Status, body)
			}
		}
	}
}

// A publicHost is a test server that seems to have a public address.
type publicConn struct {
	net.Conn
	remote netip.AddrPort
}

func (c publicConn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.remote) }

// public returns an Env.Dial that reaches the test server at addr as 8.8.8.8, and the addresses
// that were dialled.
func public(addr string) (dial func(ctx context.Context, network, address string) (net.Conn, error), dialled func() []string) {
	var mu sync.Mutex
	var all []string
	return func(ctx context.Context, network, address string) (net.Conn, error) {
			mu.Lock()
			all = append(all, address)
			mu.Unlock()
			host, port, _ := net.SplitHostPort(address)
			if host != "8.8.8.8" {
				return driver.Dial(ctx, network, address)
			}
			at, _, _ := net.SplitHostPort(addr)
			if port == "70" || port == "21" || port == "1525" {
				_, port, _ = net.SplitHostPort(addr)
			}
			conn, err := (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(at, port))
			if err != nil {
				return nil, err
			}
			return publicConn{conn, netip.MustParseAddrPort(address)}, nil
		}, func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(all)
		}
}

// TestLedAstray tests that what a server says leads nowhere but to the server.
func TestLedAstray(t *testing.T) {
	t.Run("PASV", func(t *testing.T) {
		ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"a": {Data: []byte("a")}} })
		ftp.On("EPSV", 0, testserver.Reply("500 what"))
		ftp.On("PASV", 0, testserver.Reply("227 Entering Passive Mode (10,0,0,5,200,10)"))
		dial, dialled := public(ftp.Addr)
		s := httptest.NewServer(&Handler{Resolver: &fetch1738.Resolver{Env: fetch.Env{Allow: policy.Public, Limits: Limits(), Dial: dial}}})
		t.Cleanup(s.Close)
		if res, _ := get(t, s, "/ftp/8.8.8.8/a?raw"); res.StatusCode != 502 {
			t.Errorf("%s", res.Status)
		}
		for _, address := range dialled() {
			if !strings.HasPrefix(address, "8.8.8.8:") {
				t.Errorf("connected to %s", address)
			}
		}
	})
	t.Run("menu", func(t *testing.T) {
		gopher := gophertest.New(t, func(s *gophertest.Server) {
			s.Content = fstest.MapFS{"gophermap": {Data: []byte("0here\t/x\t10.0.0.5\t25\n0there\t/x\t127.0.0.1\t70\nhweb\tURL:file:///etc/passwd\n")}}
		})
		dial, dialled := public(gopher.Addr)
		s := httptest.NewServer(&Handler{Resolver: &fetch1738.Resolver{Env: fetch.Env{Allow: policy.Public, Limits: Limits(), Dial: dial}}})
		t.Cleanup(s.Close)
		_, body := get(t, s, "/gopher/8.8.8.8/")
		for _, link := range []string{"/gopher/10.0.0.5:25/0/x", "/gopher/127.0.0.1:70/0/x", "/gopher/8.8.8.8/hURL:file:///etc/passwd"} {
			if res, _ := get(t, s, link); res.StatusCode/100 != 4 {
				t.Errorf("%s: %s", link, res.Status)
			}
		}
		if strings.Contains(body, `href="file:`) {
			t.Errorf("the page links to a file:\n%s", body)
		}
		if all := dialled(); len(all) != 1 {
			t.Errorf("connected to %q", all)
		}
	})
}

// moves are the ways in which a fetcher follows a server to another host. Each returns the address of
// a server that leads to a host, and the page to ask for.
var moves = map[string]func(t *testing.T, host string) (addr, page string){
	"a Gopher+ item that has moved": func(t *testing.T, host string) (string, string) {
		srv := gophertest.New(t, func(s *gophertest.Server) {
			s.Content = fstest.MapFS{"x": {Data: []byte("x")}}
			s.Dialect = gophertest.UMNGopher
		})
		srv.On("REQUEST", 0, gophertest.PlusError(3, "+INFO: 0x\tx\t"+host+"\t7070\t+"))
		return srv.Addr, "/gopher/8.8.8.8/0/x%09%09+?raw"
	},
	"a Prospero object that has moved": func(t *testing.T, host string) (string, string) {
		srv := prosperotest.New(t, func(s *prosperotest.Server) {
			s.Forwarded = map[string]prosperotest.Link{"/x": {Host: host, HSOName: "/x"}}
		})
		return srv.Addr, "/prospero/8.8.8.8//x"
	},
	"a Prospero server that redirects": func(t *testing.T, host string) (string, string) {
		srv := prosperotest.New(t)
		srv.On("REQUEST", 0, prosperotest.SendTo(net.JoinHostPort(host, "1525")))
		return srv.Addr, "/prospero/8.8.8.8//x"
	},
	"a union link of Prospero": func(t *testing.T, host string) (string, string) {
		srv := prosperotest.New(t, func(s *prosperotest.Server) {
			s.Content = fstest.MapFS{"d/x": {Data: []byte("x")}}
			s.Links = map[string][]prosperotest.Link{"d": {{Kind: "U", Target: "DIRECTORY", Name: "u", Host: host, HSOName: "/x"}}}
		})
		return srv.Addr, "/prospero/8.8.8.8//d"
	},
	"a file of Prospero on an FTP server":   access("AFTP", "BINARY"),
	"a file of Prospero on a gopher server": access("GOPHER", "0"),
}

// access is a Prospero server with a file that is elsewhere.
func access(method string, args ...string) func(t *testing.T, host string) (string, string) {
	return func(t *testing.T, host string) (string, string) {
		srv := prosperotest.New(t, func(s *prosperotest.Server) {
			s.Content = fstest.MapFS{"x": {Data: []byte("x")}}
			s.Methods = func(string) []prosperotest.Method {
				return []prosperotest.Method{{Name: method, Host: host, HSOName: "/x", Args: args}}
			}
		})
		return srv.Addr, "/prospero/8.8.8.8//x"
	}
}

// TestMoved tests that a public server leads no fetcher to a host that is not public. Without the
// policy it would.
func TestMoved(t *testing.T) {
	for name, move := range moves {
		for _, host := range []string{"127.0.0.1", "10.0.0.5", "169.254.169.254", "100.64.0.1", "0.0.0.0", "localhost", "x.localhost"} {
			for _, judged := range []bool{true, false} {
				if !judged && host != "127.0.0.1" || strings.Contains(name, "redirects") && strings.Contains(host, "localhost") {
					continue // a redirect has an address
				}
				addr, page := move(t, host)
				dial, dialled := public(addr)
				env := fetch.Env{Allow: policy.Public, Limits: Limits(), Dial: dial}
				env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := dial(ctx, network, address)
					if err == nil && !strings.HasPrefix(address, "8.8.8.8:") {
						conn.Close()
						return nil, errors.New("connection refused") // by UDP, a silent host costs a time limit
					}
					return conn, err
				}
				if !judged {
					env.Allow = func(context.Context, fetch.Target) error { return nil }
				}
				h := &Handler{Resolver: &fetch1738.Resolver{Env: env}}
				s := httptest.NewServer(h)
				res, body := get(t, s, page)
				s.Close()
				h.Close()
				led := slices.ContainsFunc(dialled(), func(address string) bool { return !strings.HasPrefix(address, "8.8.8.8:") })
				if led == judged || len(dialled()) == 0 {
					t.Errorf("%s to %s, judged %t: connected to %q; %s\n%s", name, host, judged, dialled(), res.Status, body)
				}
			}
		}
	}
}

// TestItself tests that the gateway fetches nothing from its own listener, whatever the policy
// permits and however the address is written.
func TestItself(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var accepted sync.Map
	s := httptest.NewUnstartedServer(&Handler{
		Hosts: []string{"gateway.example:7070"}, Proxy: true,
		Resolver: &fetch1738.Resolver{Env: fetch.Env{Limits: Limits(), Allow: func(context.Context, fetch.Target) error { return nil }}},
	})
	s.Listener.Close()
	s.Listener = listener
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			accepted.Store(c.RemoteAddr().String(), true)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	addr := s.Listener.Addr().String()
	targets := []string{
		"127.0.0.1:{port}", "127.0.0.2:{port}", "localhost:{port}", "x.localhost:{port}", "LocalHost.:{port}", "[::1]:{port}", "[::ffff:127.0.0.1]:{port}",
		"[::ffff:7f00:1]:{port}", "0.0.0.0:{port}", "[::]:{port}", "gateway.example:7070", "GATEWAY.example:7070", "gateway.example.:7070",
	}
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil && !p.Addr().IsLinkLocalUnicast() {
			targets = append(targets, net.JoinHostPort(p.Addr().String(), "{port}"))
			if p.Addr().Is4() {
				targets = append(targets, "[::ffff:"+p.Addr().String()+"]:{port}")
			}
		}
	}
	requests := 0
	for _, target := range targets {
		for _, line := range []string{"GET /gopher/" + target + "/0GET%20/", "GET /ftp/" + target + "/x?raw", "GET gopher://" + target + "/0x", "CONNECT " + target} {
			requests++
			if res, body := exchange(t, addr, line); res.StatusCode != 403 {
				t.Errorf("%s: %s\n%s", line, res.Status, body)
			}
		}
	}
	connections := 0
	accepted.Range(func(any, any) bool { connections++; return true })
	if connections != requests {
		t.Errorf("%d connections for %d requests", connections, requests)
	}
}

// TestVia tests that a request which passes the gateway twice is ended.
func TestVia(t *testing.T) {
	s := start(t, func(h *Handler) { h.Proxy = true })
	addr := s.Listener.Addr().String()
	res, _ := exchange(t, addr, "GET telnet://example.org/")
	via := res.Header.Get("Via")
	if via == "" {
		t.Fatal("no Via")
	}
	_, name, _ := strings.Cut(via, " ")
	for field, want := range map[string]int{
		"Via: " + via:                          508,
		"Via: 1.0 fred, 1.1 " + name + " (x)":  508,
		"Via: 1.0 fred\r\nVia: HTTP/2 " + name: 508,
		"Via: 1.1 fetch1738-another":           200,
		"Via: ,, 1.1":                          200,
	} {
		for _, line := range []string{"GET telnet://example.org/", "GET /"} {
			if res, _ := exchange(t, addr, line, field); res.StatusCode != want {
				t.Errorf("%s with %s: %s", line, field, res.Status)
			}
		}
	}
	another := start(t, func(h *Handler) { h.Proxy = true })
	if res, _ := exchange(t, another.Listener.Addr().String(), "GET telnet://example.org/"); res.Header.Get("Via") == via {
		t.Errorf("two gateways have the name %s", via)
	}
}

// TestClients tests the addresses of clients.
func TestClients(t *testing.T) {
	h := &Handler{Hosts: []string{"gateway.example"}, AllowClients: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")}}
	for client, want := range map[string]int{
		"127.0.0.1:1": 200, "[::1]:1": 200, "[::ffff:127.0.0.1]:1": 200, "192.0.2.7:1": 200, "[::ffff:192.0.2.7]:1": 200, "[2001:db8::1]:1": 200,
		"192.0.3.7:1": 403, "10.0.0.1:1": 403, "[2001:db9::1]:1": 403, "@": 403, "": 403,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host, r.RemoteAddr = "gateway.example", client
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("client %q: %d, want %d", client, w.Code, want)
		}
	}
}

// TestSandbox tests that the octets of a server, whatever they are, have an origin of their own and
// are of no type that runs, so that the document of one server cannot read that of another.
func TestSandbox(t *testing.T) {
	content := fstest.MapFS{}
	for _, name := range []string{"a.html", "a.svg", "a.xml", "a.xhtml", "a.js", "a.css", "a.pdf", "a.txt", "a.gif", "a.bin", "a.eml", "a"} {
		content[name] = &fstest.MapFile{Data: []byte("GIF89a<script>alert(1)</script>")}
	}
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = content })
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = content })
	s := start(t, nil)
	for name := range content {
		for _, path := range []string{
			pathOf(t, ftp.URL+"/"+name) + "?raw", pathOf(t, gopher.URL+"/0/"+name) + "?raw", pathOf(t, gopher.URL+"/h/"+name) + "?raw",
			pathOf(t, gopher.URL+"/9/"+name) + "?raw", pathOf(t, gopher.URL+"/I/"+name) + "?raw",
		} {
			res, body := get(t, s, path)
			if !strings.Contains(body, "<script>") {
				t.Fatalf("%s: %s\n%s", path, res.Status, body)
			}
			if csp := res.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "sandbox;") || !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "allow") {
				t.Errorf("%s: CSP %q", path, csp)
			}
			if res.Header.Get("X-Content-Type-Options") != "nosniff" || res.Header.Get("Cross-Origin-Resource-Policy") != "same-origin" {
				t.Errorf("%s: %v", path, res.Header)
			}
			if mediaType, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";"); active[mediaType] {
				t.Errorf("%s: the type is %s", path, mediaType)
			}
		}
	}
}

// A page says to its reader who can permit what the gateway refuses: in words, or with what the program
// calls it. No page names a field.
func TestWhoPermits(t *testing.T) {
	refusing := func(h *Handler) { h.Resolver.Env.Allow = policy.Public }
	for path, reason := range map[string]string{
		"/gopher/127.0.0.1:25/": "rule reserved-port", "/ftp/127.0.0.1/": "rule loopback-address", "/ftp/0.0.0.0/": "rule reserved-address",
	} {
		for option, set := range map[string]func(*Handler){
			"":     refusing,
			"--it": func(h *Handler) { refusing(h); h.Option = func(string) string { return "--it" } },
			"none": func(h *Handler) { refusing(h); h.Option = func(string) string { return "" } },
		} {
			want := "The operator of the gateway can permit it."
			if option != "" {
				want = "The operator of the gateway can permit it: " + option + "."
			}
			says := option != "none" && reason != "rule reserved-address"
			res, body := get(t, start(t, set), path)
			if res.StatusCode != http.StatusForbidden || !strings.Contains(body, reason) || strings.Contains(body, want) != says || strings.Contains(body, "policy.") {
				t.Errorf("%s with %q: %d %s", path, option, res.StatusCode, body)
			}
		}
	}
}
