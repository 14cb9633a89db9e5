package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"p.example": "http://p.example", "p.example:3128": "http://p.example:3128", "http://p.example:3128/": "http://p.example:3128",
		"HTTP://me:secret@p.example": "http://me:***@p.example", "socks5://[::1]:1080": "socks5://[::1]:1080",
		"socks5h://me:s%40cret@127.0.0.1:9050": "socks5h://me:***@127.0.0.1:9050",
		"p.example/path":                       "http://p.example", "http://me:secret@p.example:3128/a?b#c": "http://me:***@p.example:3128", "socks5://p.example?x": "socks5://p.example",
		"socks4://me@p.example": "socks4://me@p.example", "socks4a://p.example": "socks4a://p.example", "socks://p.example": "socks4://p.example",
	} {
		p, err := Parse(text)
		if err != nil || p.String() != want {
			t.Errorf("%s: %v, %v", text, p, err)
		}
	}
	for _, bad := range []string{"", "https://p.example", "ftp://p.example", "p.example:0", "p.example:99999", "http://me:secret@", "http://me:12/secret@p.example", "me:secret?@p.example", "me:secret#@p.example", "/p.example", "a b"} {
		if p, err := Parse(bad); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, %v", bad, p, err)
		}
	}
	p, _ := Parse("socks5h://me:s%40cret@127.0.0.1")
	if at := p.Address(); p.Login.Password != "s@cret" || at.Port != 1080 {
		t.Errorf("%+v, %+v", p, at)
	}
}

// A talk is a dialogue: what a proxy in memory expects to receive, and what it sends in reply.
type talk []struct{ hear, say string }

// hold performs the proxy's side of the dialogue on c, and returns what it received in addition.
func (k talk) hold(c net.Conn) string {
	defer c.Close()
	for _, step := range k {
		got := make([]byte, len(step.hear))
		n, err := io.ReadFull(c, got)
		if err != nil || string(got) != step.hear {
			return string(got[:n])
		}
		if _, err := io.WriteString(c, step.say); err != nil {
			return ""
		}
	}
	return ""
}

// connect connects through a proxy that follows k, and returns what the server sends.
func connect(t *testing.T, p *Proxy, env *fetch.Env, target fetch.Target, k talk) (string, error) {
	t.Helper()
	var dialled []string
	var wg sync.WaitGroup
	defer wg.Wait()
	e := driver.NewEnv(env)
	e.Dial = func(_ context.Context, network, address string) (net.Conn, error) {
		dialled = append(dialled, network+" "+address)
		here, there := net.Pipe()
		wg.Go(func() {
			if got := k.hold(there); got != "" {
				t.Errorf("the proxy received %q", got)
			}
		})
		return here, nil
	}
	c, err := p.Connect(t.Context(), e, target)
	if want := []string{"tcp p.example:1080"}; err == nil && !slices.Equal(dialled, want) {
		t.Errorf("dialled %q", dialled)
	}
	if err != nil {
		return "", err
	}
	defer c.Close()
	b, err := io.ReadAll(c)
	return string(b), err
}

func known(addrs ...string) func(context.Context, string, uint16) ([]netip.Addr, error) {
	return func(_ context.Context, host string, _ uint16) (found []netip.Addr, _ error) {
		if addr, err := netip.ParseAddr(host); err == nil {
			return []netip.Addr{addr}, nil
		}
		for _, a := range addrs {
			found = append(found, netip.MustParseAddr(a))
		}
		return found, nil
	}
}

// TestConversations checks all bytes on the wire. The server behind the proxy sends its greeting at
// once.
func TestConversations(t *testing.T) {
	target := fetch.Target{Host: "ftp.example", Port: 21}
	v4, v6 := fetch.Target{Host: "192.0.2.7", Port: 258}, fetch.Target{Host: "2001:db8::7", Port: 21}
	const greets = "220 ready\r\n"
	granted := "\x00\x5a\x00\x00\x00\x00\x00\x00" + greets
	for _, tc := range []struct {
		proxy  string
		target fetch.Target
		talk   talk
	}{
		{"http://p.example", target, talk{{"CONNECT ftp.example:21 HTTP/1.1\r\nHost: ftp.example:21\r\n\r\n", "HTTP/1.1 200 OK\r\nVia: x\r\n\r\n" + greets}}},
		{"http://p.example", v6, talk{{"CONNECT [2001:db8::7]:21 HTTP/1.1\r\nHost: [2001:db8::7]:21\r\n\r\n", "HTTP/1.0 204 Well\n\n" + greets}}},
		{"http://me:secret@p.example", target, talk{{"CONNECT ftp.example:21 HTTP/1.1\r\nHost: ftp.example:21\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n\r\n", "HTTP/1.1 200\r\n\r\n" + greets}}},
		{"socks4://p.example", target, talk{{"\x04\x01\x00\x15\xc0\x00\x02\x09\x00", granted}}},
		{"socks4://me:secret@p.example", v4, talk{{"\x04\x01\x01\x02\xc0\x00\x02\x07me\x00", granted}}},
		{"socks4a://me@p.example", target, talk{{"\x04\x01\x00\x15\x00\x00\x00\x01me\x00ftp.example\x00", granted}}},
		{"socks4a://p.example", v4, talk{{"\x04\x01\x01\x02\xc0\x00\x02\x07\x00", granted}}},
		{"socks5://p.example", target, talk{{"\x05\x01\x00", "\x05\x00"}, {"\x05\x01\x00\x04\x20\x01\x0d\xb8" + strings.Repeat("\x00", 11) + "\x09\x00\x15", "\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x15" + greets}}},
		{"socks5h://p.example", target, talk{{"\x05\x01\x00", "\x05\x00"}, {"\x05\x01\x00\x03\x0bftp.example\x00\x15", "\x05\x00\x00\x03\x01x\x00\x15" + greets}}},
		{"socks5h://me:secret@p.example", v4, talk{{"\x05\x02\x00\x02", "\x05\x02"}, {"\x01\x02me\x06secret", "\x01\x00"}, {"\x05\x01\x00\x01\xc0\x00\x02\x07\x01\x02", "\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x15" + greets}}},
	} {
		p, err := Parse(tc.proxy)
		if err != nil {
			t.Fatal(err)
		}
		p.LookUp = known("2001:db8::9", "192.0.2.9")
		if got, err := connect(t, p, nil, tc.target, tc.talk); got != greets || err != nil {
			t.Errorf("%s to %s: %q, %v", tc.proxy, tc.target.Host, got, err)
		}
	}
}

// TestVia checks that a proxy is reached through another: its name is sent to that one, whose connection
// then speaks to it.
func TestVia(t *testing.T) {
	p, err := Parse("http://q.example:3128")
	if err != nil {
		t.Fatal(err)
	}
	if p.Via, err = Parse("socks5h://p.example"); err != nil {
		t.Fatal(err)
	}
	got, err := connect(t, p, nil, fetch.Target{Host: "ftp.example", Port: 21}, talk{
		{"\x05\x01\x00", "\x05\x00"}, {"\x05\x01\x00\x03\x09q.example\x0c\x38", "\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x15"},
		{"CONNECT ftp.example:21 HTTP/1.1\r\nHost: ftp.example:21\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n220 ready\r\n"},
	})
	if err != nil || got != "220 ready\r\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestHeader(t *testing.T) {
	p := &Proxy{Scheme: "http", HTTP10: true, Server: locator.Server{HostPort: locator.HostPort{Host: "p.example"}, Login: &locator.Login{User: "me", Password: "secret"}}}
	p.Header = map[string][]string{"User-Agent": {"x"}, "Proxy-Authorization": {"Bearer canary"}, "Cookie": {"canary"}}
	var sent strings.Builder
	ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Sent: func(b []byte) { sent.Write(b) }})
	here, there := net.Pipe()
	heard := make(chan string)
	go func() {
		b := make([]byte, 1000)
		n, _ := there.Read(b)
		io.WriteString(there, "HTTP/1.0 200 OK\r\n\r\n")
		there.Close()
		heard <- string(b[:n])
	}()
	env := &fetch.Env{Dial: func(context.Context, string, string) (net.Conn, error) { return here, nil }}
	c, err := p.Connect(ctx, driver.NewEnv(env), fetch.Target{Host: "h", Port: 70})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	want := "CONNECT h:70 HTTP/1.0\r\nHost: h:70\r\nCookie: canary\r\nProxy-Authorization: Bearer canary\r\nUser-Agent: x\r\n\r\n"
	if got := <-heard; got != want || sent.String() != strings.NewReplacer("Bearer canary", "****", "Cookie: canary", "Cookie: ****").Replace(want) {
		t.Errorf("the proxy received %q; it was connected for %q", got, sent.String())
	}
}

// TestInjection checks that no host or header field can end a line of the request. The proxy is not
// even connected to.
func TestInjection(t *testing.T) {
	for name, tc := range map[string]struct {
		host   string
		header map[string][]string
	}{
		"host":   {host: "h\r\nX: y"},
		"NUL":    {host: "h\x00"},
		"space":  {host: "h HTTP/1.0"},
		"header": {host: "h", header: map[string][]string{"User-Agent": {"a\r\nX: y"}}},
		"name":   {host: "h", header: map[string][]string{"A: b\nX": {"y"}}},
	} {
		for _, scheme := range Schemes() {
			if tc.header != nil && scheme != "http" {
				continue
			}
			p := &Proxy{Scheme: scheme, Header: tc.header, Server: locator.Server{HostPort: locator.HostPort{Host: "p.example"}}}
			env := &fetch.Env{Dial: func(context.Context, string, string) (net.Conn, error) {
				t.Errorf("%s: the proxy was dialed", name)
				return nil, errors.New("no")
			}}
			if _, err := p.Connect(t.Context(), driver.NewEnv(env), fetch.Target{Host: tc.host, Port: 70}); fetch.KindOf(err) != fetch.ErrBadURL {
				t.Errorf("%s through %s: %v", name, scheme, err)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	target := fetch.Target{Host: "ftp.example", Port: 21}
	for name, tc := range map[string]struct {
		proxy  string
		target fetch.Target
		hear   string
		say    string
		kind   fetch.ErrorKind
		text   string
	}{
		"socks4 rejects":      {"socks4a://p.example", target, "\x04", "\x00\x5b\x00\x00\x00\x00\x00\x00", fetch.ErrUnreachable, "rejected"},
		"socks4 identd":       {"socks4a://p.example", target, "\x04", "\x00\x5c\x00\x00\x00\x00\x00\x00", fetch.ErrUnreachable, "identd"},
		"socks4 other user":   {"socks4a://p.example", target, "\x04", "\x00\x5d\x00\x00\x00\x00\x00\x00", fetch.ErrUnreachable, "another one"},
		"socks4 strange code": {"socks4a://p.example", target, "\x04", "\x00\x00\x00\x00\x00\x00\x00\x00", fetch.ErrUnreachable, "unexpected reply code"},
		"not socks4":          {"socks4a://p.example", target, "\x04", "HTTP/1.1 400", fetch.ErrUnreachable, "not a SOCKS 4 proxy"},
		"socks4 cut":          {"socks4a://p.example", target, "\x04", "\x00\x5a", fetch.ErrUnreachable, ""},
		"socks4 IPv6":         {"socks4a://p.example", fetch.Target{Host: "::1", Port: 21}, "", "", fetch.ErrUnreachable, "use socks5h"},
		"socks4 no IPv4":      {"socks4://p.example", target, "", "", fetch.ErrUnreachable, "no IPv4 address"},
		"socks4 NUL":          {"socks4a://a%00b@p.example", target, "", "", fetch.ErrUnreachable, "NUL"},
		"socks4 long":         {"socks4a://p.example", fetch.Target{Host: strings.Repeat("h", 256), Port: 21}, "", "", fetch.ErrUnreachable, "255"},
		"socks5 no method":    {"socks5h://p.example", target, "\x05\x01\x00", "\x05\xff", fetch.ErrUnreachable, "auth"},
		"socks5 refuses":      {"socks5h://p.example", target, "\x05\x01\x00", "\x05\x00", fetch.ErrUnreachable, ""},
		"http is cut":         {"http://p.example", target, "CONNECT", "HTTP/1.1 200 OK\r\n", fetch.ErrUnreachable, ""},
		"http has no end":     {"http://p.example", target, "CONNECT", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20), fetch.ErrTooLarge, "too long"},
		"udp":                 {"http://p.example", fetch.Target{Network: "udp", Host: "h", Port: 191}, "", "", fetch.ErrUnreachable, "do not support udp"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, err := Parse(tc.proxy)
			if err != nil {
				t.Fatal(err)
			}
			p.LookUp = known("2001:db8::9")
			env := &fetch.Env{Dial: func(context.Context, string, string) (net.Conn, error) {
				here, there := net.Pipe()
				go func() {
					defer there.Close()
					go io.Copy(io.Discard, there)
					io.WriteString(there, tc.say)
				}()
				return here, nil
			}}
			c, err := p.Connect(t.Context(), driver.NewEnv(env), tc.target)
			if fetch.KindOf(err) != tc.kind || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("%s: %v, %v (%v)", name, c, err, fetch.KindOf(err))
			}
		})
	}
}

// TestPolicyOfAddresses checks that, if names are looked up on this host, the policy judges the
// addresses. The proxy receives the first one that is permitted.
func TestPolicyOfAddresses(t *testing.T) {
	p := &Proxy{Scheme: "socks5", Server: locator.Server{HostPort: locator.HostPort{Host: "p.example"}}, LookUp: known("10.0.0.1", "192.0.2.9")}
	env := &fetch.Env{Allow: func(_ context.Context, t fetch.Target) error {
		if t.Addr.Addr().IsPrivate() {
			return errors.New("denied")
		}
		return nil
	}}
	target := fetch.Target{Host: "h.example", Port: 21}
	steps := talk{{"\x05\x01\x00", "\x05\x00"}, {"\x05\x01\x00\x01\xc0\x00\x02\x09\x00\x15", "\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x15x"}}
	if got, err := connect(t, p, env, target, steps); got != "x" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	p.LookUp = known("10.0.0.1", "10.0.0.2")
	if _, err := connect(t, p, env, target, nil); fetch.KindOf(err) != fetch.ErrRefused {
		t.Errorf("private: %v", err)
	}
}

// TestDial checks that Dial works for every scheme: the target comes from the context.
func TestDial(t *testing.T) {
	p := &Proxy{Scheme: "socks4a", Server: locator.Server{HostPort: locator.HostPort{Host: "p.example"}}}
	here, there := net.Pipe()
	done := make(chan string)
	go func() {
		done <- talk{{"\x04\x01\x00\x46\x00\x00\x00\x01\x00h.example\x00", "\x00\x5a\x00\x00\x00\x00\x00\x00"}}.hold(there)
	}()
	var purposes []fetch.Purpose
	allow := func(_ context.Context, t fetch.Target) error { purposes = append(purposes, t.Purpose); return nil }
	toProxy := &fetch.Env{Allow: allow, Dial: func(context.Context, string, string) (net.Conn, error) { return here, nil }}
	env := &fetch.Env{Dial: p.Dial(toProxy)}
	c, err := driver.NewEnv(env).Connect(t.Context(), fetch.Target{Host: "h.example", Port: 70})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if at := c.RemoteAddr(); at.Network() != "proxied" || at.String() != "h.example:70" {
		t.Errorf("at %s %s", at.Network(), at)
	}
	if want := []fetch.Purpose{fetch.PurposeControl, fetch.PurposeProxy}; !slices.Equal(purposes, want) {
		t.Errorf("the policy was called with %v", purposes)
	}
	if heard := <-done; heard != "" {
		t.Errorf("received %q", heard)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"p.example:3128", "socks5h://me:secret@[::1]:1080", "socks4://a%00b@h", "http://h/x", "://", "socks5://%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		if !slices.Contains(Schemes(), p.Scheme) || p.Host == "" || strings.ContainsAny(p.Host, "\r\n\x00 ") {
			t.Errorf("%q is %+v", text, p)
		}
		if p.Login != nil && strings.ContainsAny(p.Authorization(), "\r\n") {
			t.Errorf("%q: %q", text, p.Authorization())
		}
	})
}

// FuzzAnswer has a proxy that sends any answer: a connection is only returned if the proxy has
// granted it, and nothing is read beyond the answer.
func FuzzAnswer(f *testing.F) {
	f.Add("http", []byte("HTTP/1.1 200 OK\r\n\r\nx"))
	f.Add("http", []byte("HTTP/1.1 407 No\r\nX: y\r\n\r\n"))
	f.Add("socks4a", []byte("\x00\x5a\x00\x00\x00\x00\x00\x00x"))
	f.Add("socks5h", []byte("\x05\x00\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x15x"))
	f.Fuzz(func(t *testing.T, scheme string, answer []byte) {
		if !slices.Contains(Schemes(), scheme) {
			return
		}
		here, there := net.Pipe()
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() { io.Copy(io.Discard, there) })
		wg.Go(func() { there.Write(answer); there.Close() })
		p := &Proxy{Scheme: scheme, Server: locator.Server{HostPort: locator.HostPort{Host: "p.example"}}, LookUp: known("192.0.2.9")}
		env := &fetch.Env{Dial: func(context.Context, string, string) (net.Conn, error) { return here, nil }}
		c, err := p.Connect(t.Context(), driver.NewEnv(env), fetch.Target{Host: "h.example", Port: 21})
		if err != nil {
			here.Close()
			return
		}
		rest, _ := io.ReadAll(c)
		c.Close()
		granted := answer[:len(answer)-len(rest)]
		switch scheme {
		case "http":
			if !strings.HasPrefix(string(granted), "HTTP/") || granted[len(granted)-1] != '\n' {
				t.Errorf("granted by %q", granted)
			}
		case "socks4", "socks4a":
			if len(granted) != 8 || granted[1] != 90 {
				t.Errorf("granted by %q", granted)
			}
		default:
			if len(granted) < 4 || granted[0] != 5 || granted[3] != 0 {
				t.Errorf("granted by %q", granted)
			}
		}
	})
}
