package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/gateway"
	"github.com/fetch1738/fetch1738/testserver/memnet"
)

func TestPlace(t *testing.T) {
	for _, tc := range []struct {
		listen string
		client bool
		want   string // the addresses, or a part of the error
	}{
		{"", false, "127.0.0.1:8738 [::1]:8738"},
		{"127.0.0.2", false, "127.0.0.2:8738"},
		{"127.0.0.2:80", false, "127.0.0.2:80"},
		{"::ffff:127.0.0.1", false, "127.0.0.1:8738"},
		{"[::1]", false, "[::1]:8738"},
		{"192.168.1.5", true, "192.168.1.5:8738"},
		{"0.0.0.0:80", true, "0.0.0.0:80"},
		{"192.168.1.5", false, "reachable from other hosts; name the clients"},
		{"[::]:80", false, "reachable from other hosts"},
		{"::ffff:192.168.1.5", false, "reachable from other hosts"},
		{"host.example", true, "is not an IP address"},
		{"192.168.1.5:99999", true, "is not an IP address"},
		{":80", true, "is not an IP address"},
	} {
		o := &options{port: 8738, listen: tc.listen}
		if tc.client {
			o.clients = []string{"192.168.0.0/16"}
		}
		at, err := o.listenAddrs()
		var text []string
		for _, a := range at {
			text = append(text, a.String())
		}
		if got := strings.Join(text, " "); got != tc.want && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%q: %q, %v; want %q", tc.listen, got, err, tc.want)
		}
	}
}

func TestNamesAndURL(t *testing.T) {
	for _, tc := range []struct {
		listen string
		hosts  []string
		token  string
		names  string
		url    string
	}{
		{"", nil, "", "", "http://127.0.0.1:9000/"},
		{"", []string{"box.example"}, "", "box.example box.example:9000", "http://127.0.0.1:9000/"},
		{"", nil, "abc", "", "http://127.0.0.1:9000/?token=abc"},
		{"192.168.1.5", nil, "abc", "192.168.1.5:9000", "http://192.168.1.5:9000/?token=abc"},
		{"fd00::1", nil, "abc", "[fd00::1]:9000", "http://[fd00::1]:9000/?token=abc"},
		{"0.0.0.0", nil, "abc", "", "http://127.0.0.1:9000/?token=abc"},
		{"0.0.0.0", []string{"box.example:80"}, "abc", "box.example:80", "http://box.example:80/?token=abc"},
	} {
		o := &options{port: 8738, listen: tc.listen, hosts: tc.hosts, clients: []string{"fd00::/8"}}
		at, err := o.listenAddrs()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(o.names(at, 9000), " "); got != tc.names {
			t.Errorf("%q, %q: names %q, want %q", tc.listen, tc.hosts, got, tc.names)
		}
		if got := o.url(at, 9000, tc.token); got != tc.url {
			t.Errorf("%q, %q: %s, want %s", tc.listen, tc.hosts, got, tc.url)
		}
	}
}

func TestToken(t *testing.T) {
	local, far := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:1")}, []netip.AddrPort{netip.MustParseAddrPort("0.0.0.0:1")}
	if token, err := new(options).token(local); token != "" || err != nil {
		t.Errorf("on this computer: %q, %v", token, err)
	}
	first, err1 := new(options).token(far)
	second, err2 := new(options).token(far)
	if err := errors.Join(err1, err2); err != nil || len(first) < 26 || first == second {
		t.Errorf("%q, %q, %v", first, second, err)
	}
	for text, ok := range map[string]bool{"0123456789abcdef\n": true, "0123456789abcde\n": false, "": false, "0123456789 abcdef": false, "0123456789\x00abcdef": false} {
		file := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		token, err := (&options{tokenFile: file}).token(local)
		if ok != (err == nil) || ok && token != strings.TrimSpace(text) {
			t.Errorf("%q: %q, %v", text, token, err)
		}
		if text = strings.TrimSpace(text); err != nil && text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("the error shows the token: %v", err)
		}
	}
}

func TestAllowedClients(t *testing.T) {
	o := &options{clients: []string{"192.168.1.7/24", "10.0.0.1", "fd00::1"}}
	got, err := o.allowed()
	want := []netip.Prefix{netip.MustParsePrefix("192.168.1.0/24"), netip.MustParsePrefix("10.0.0.1/32"), netip.MustParsePrefix("fd00::1/128")}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if _, err := (&options{clients: []string{"all"}}).allowed(); err == nil || !strings.Contains(err.Error(), `"all" is not a network`) {
		t.Errorf("%v", err)
	}
}

// Both loopback addresses have the same port, also if the system chooses it.
func TestListen(t *testing.T) {
	at, err := (&options{}).listenAddrs()
	if err != nil {
		t.Fatal(err)
	}
	list, err := listen(at)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(list)
	port := list[0].Addr().(*net.TCPAddr).Port
	for _, l := range list {
		if got := l.Addr().(*net.TCPAddr); got.Port != port || !got.IP.IsLoopback() {
			t.Errorf("listens on %v", got)
		}
	}
	if want := 2; len(list) != want && !lacksAddr(at[1].Addr()) {
		t.Errorf("%d listeners, want %d", len(list), want)
	}
	if uid, other := otherOwner(uint16(port)); other {
		t.Errorf("the owner is %d", uid)
	}
}

// The time without a request begins again after each request, and does not pass during one.
func TestIdleServerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(http.NotFoundHandler(), io.Discard, time.Minute)
		ended := make(chan error, 1)
		go func() { ended <- s.serve(t.Context(), nil) }()
		expect := func(want bool) {
			t.Helper()
			synctest.Wait()
			if got := len(ended) == 1; got != want {
				t.Fatalf("ended %v, want %v", got, want)
			}
		}
		time.Sleep(59 * time.Second)
		s.begin()
		s.begin()
		time.Sleep(time.Hour)
		s.end()
		time.Sleep(time.Hour)
		expect(false)
		s.end()
		time.Sleep(59 * time.Second)
		expect(false)
		time.Sleep(time.Second)
		expect(true)
	})
}

// When the gateway ends, requests have two seconds to end. Then they are broken off.
func TestServerEndsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := new(memnet.Network)
		l, err := network.Listen(t.Context(), "tcp", "127.0.0.1:8738")
		if err != nil {
			t.Fatal(err)
		}
		s := newServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/short" {
				time.Sleep(lastRequests / 2)
				return
			}
			<-r.Context().Done()
		}), io.Discard, 0)
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.serve(ctx, []net.Listener{l}) }()
		client := &http.Transport{DialContext: network.Dial, DisableKeepAlives: true}
		answers := make(map[string]chan error)
		for _, path := range []string{"/short", "/long"} {
			answers[path] = make(chan error, 1)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:8738"+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				res, err := client.RoundTrip(req)
				if err == nil {
					res.Body.Close()
				}
				answers[path] <- err
			}()
		}
		synctest.Wait()
		began := time.Now()
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != lastRequests {
			t.Errorf("it ended after %v", took)
		}
		if err := <-answers["/short"]; err != nil {
			t.Errorf("a request that ended in time: %v", err)
		}
		if err := <-answers["/long"]; err == nil {
			t.Error("a request that did not end has an answer")
		}
	})
}

func TestAccessLine(t *testing.T) {
	var out bytes.Buffer
	j := &journal{w: &out}
	a := gateway.LogEntry{
		Time: time.Date(2026, time.November, 22, 12, 0, 0, 0, time.UTC), Client: netip.MustParseAddrPort("127.0.0.1:40000"),
		Method: "GET", URL: "ftp://ftp.example.org/pub/", Page: "directory", Status: 200, Bytes: 1738, Took: 12345 * time.Microsecond,
	}
	j.access(a)
	a.Page, a.URL, a.Status, a.Err = "", "/a b\n127.0.0.1 GET\x1b[2J", 404, errors.New("no such page")
	j.access(a)
	want := "2026-11-22T12:00:00Z 127.0.0.1 GET directory ftp://ftp.example.org/pub/ 200 1738 12ms\n" +
		"2026-11-22T12:00:00Z 127.0.0.1 GET - /a%20b␊127.0.0.1%20GET␛[2J 404 1738 12ms: no such page\n"
	if out.String() != want {
		t.Errorf("got  %q\nwant %q", out.String(), want)
	}
}

// A handler that panics does not end the gateway, and is reported in one line.
func TestHandlerPanics(t *testing.T) {
	at, err := (&options{}).listenAddrs()
	if err != nil {
		t.Fatal(err)
	}
	list, err := listen(at)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := newServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a defect\x1b") }), &journal{w: &out}, 0)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.serve(ctx, list) }()
	for range 2 {
		if res, err := http.Get("http://" + list[0].Addr().String()); err == nil {
			res.Body.Close()
			t.Error("a response in spite of the panic")
		}
	}
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := out.String(); strings.Count(got, "\n") != 2 || !strings.HasPrefix(got, "fetch1738: gateway: http: panic serving 127.0.0.1:") || !strings.Contains(got, "a defect") || strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
}

// What is said about a port that cannot be used names the address.
func TestListenFails(t *testing.T) {
	taken, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("the test needs IPv6, which this computer does not have: ", err)
	}
	port := func() uint16 { return uint16(taken.Addr().(*net.TCPAddr).Port) }
	for range 100 { // another program may have the port at the other address
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port())); err == nil {
			l.Close()
			break
		}
		other, err := net.Listen("tcp", "[::1]:0")
		if err != nil {
			t.Fatal(err)
		}
		taken.Close()
		taken = other
	}
	defer func() { taken.Close() }()
	o := &options{port: port()}
	at, err := o.listenAddrs()
	if err != nil {
		t.Fatal(err)
	}
	list, err := listen(at)
	if err == nil {
		closeAll(list)
		t.Fatal("no error, although one of the addresses is in use")
	}
	if got, want := o.explainListen(t.Context(), o.port, err), "cannot listen on "+taken.Addr().String()+": another program uses this port;"; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if l, err := net.Listen("tcp", at[0].String()); err != nil {
		t.Errorf("the other address is still in use: %v", err)
	} else {
		l.Close()
	}
	o = &options{listen: "192.0.2.1:80", clients: []string{"10.0.0.1"}}
	if at, err = o.listenAddrs(); err != nil {
		t.Fatal(err)
	}
	if list, err = listen(at); err == nil {
		closeAll(list) // the system permits addresses of other computers
	} else if got := o.explainListen(t.Context(), 80, err); !strings.HasPrefix(got, "cannot listen on 192.0.2.1:80: ") {
		t.Errorf("%q", got)
	}
}
