package policy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// Case 181: a name with a public address in one lookup and a loopback address in the next never reaches
// this computer. In this test 127.0.0.2 means the public address.
func TestRebinding(t *testing.T) {
	internet, canary := listenTwice(t)
	port := uint16(internet.Addr().(*net.TCPAddr).Port)
	served, sung := countAccepts(t, internet), countAccepts(t, canary)

	var lookups atomic.Int64
	useResolver(t, func() []netip.Addr {
		if lookups.Add(1)%2 == 0 {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.2")}
	})
	env := &fetch.Env{Allow: func(ctx context.Context, t fetch.Target) error {
		if t.Addr.Addr() == netip.MustParseAddr("127.0.0.2") {
			t.Addr = netip.AddrPortFrom(netip.MustParseAddr("93.184.216.34"), t.Addr.Port())
		}
		return Public(ctx, t)
	}}
	reached, refused := 0, 0
	for range 1000 {
		conn, err := driver.NewEnv(env).Connect(t.Context(), fetch.Target{Locator: &locator.Gopher{}, Host: "rebind.example", Port: port})
		var d *Denied
		switch {
		case err == nil:
			reached++
			// The server closes what it has accepted and counted.
			if _, err := io.Copy(io.Discard, conn); err != nil {
				t.Fatal(err)
			}
			conn.Close()
		case errors.As(err, &d) && d.Rule == "loopback-address" && errors.Is(err, fetch.ErrRefused):
			refused++
		default:
			t.Fatal(err)
		}
	}
	internet.Close()
	canary.Close()
	if <-sung != 0 || reached == 0 || refused == 0 || reached+refused != 1000 {
		t.Errorf("%d reached, %d refused", reached, refused)
	}
	if n := <-served; n != reached {
		t.Errorf("the permitted server was reached %d times, not %d", n, reached)
	}
}

// listenTwice listens on the same port of 127.0.0.2 and 127.0.0.1. If another program uses that port, it
// tries another one.
func listenTwice(t *testing.T) (internet, canary net.Listener) {
	for {
		internet, err := net.Listen("tcp", "127.0.0.2:0")
		if err != nil {
			t.Fatal(err)
		}
		port := uint16(internet.Addr().(*net.TCPAddr).Port)
		canary, err := net.Listen("tcp", netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port).String())
		if err == nil {
			return internet, canary
		}
		internet.Close()
		if !errors.Is(err, syscall.EADDRINUSE) {
			t.Fatal(err)
		}
	}
}

// If one address of a name is refused, another one is used.
func TestMixedAnswers(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	useResolver(t, func() []netip.Addr {
		return []netip.Addr{netip.MustParseAddr("0.0.0.0"), netip.MustParseAddr("240.0.0.1"), netip.MustParseAddr("127.0.0.2")}
	})
	env := &fetch.Env{Allow: User}
	port := uint16(ln.Addr().(*net.TCPAddr).Port)
	conn, err := driver.NewEnv(env).Connect(t.Context(), fetch.Target{Locator: &locator.Gopher{}, Host: "mixed.example", Port: port})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.RemoteAddr().String(); got != ln.Addr().String() {
		t.Errorf("reached %s", got)
	}
}

// countAccepts accepts connections until ln is closed, then sends their number.
func countAccepts(t *testing.T, ln net.Listener) <-chan int {
	t.Cleanup(func() { ln.Close() })
	total := make(chan int, 1)
	go func() {
		n := 0
		for {
			conn, err := ln.Accept()
			if err != nil {
				total <- n
				return
			}
			n++
			conn.Close()
		}
	}()
	return total
}

// useResolver answers every lookup of the test with the addresses from addrs.
func useResolver(t *testing.T, addrs func() []netip.Addr) {
	old := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = old })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			answerDNS(server, addrs)
		}()
		return client, nil
	}}
}

// answerDNS serves one connection of DNS over TCP (RFC 1035 §4.2.2).
func answerDNS(conn net.Conn, addrs func() []netip.Addr) {
	for {
		var length [2]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		query := make([]byte, int(length[0])<<8|int(length[1]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(query) != nil {
			return
		}
		m.Response, m.Authoritative, m.Additionals = true, true, nil
		if q := m.Questions[0]; q.Type == dnsmessage.TypeA && strings.HasSuffix(q.Name.String(), ".example.") {
			for _, addr := range addrs() {
				m.Answers = append(m.Answers, dnsmessage.Resource{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
					Body:   &dnsmessage.AResource{A: addr.As4()},
				})
			}
		}
		answer, err := m.Pack()
		if err != nil {
			return
		}
		if _, err := conn.Write(append([]byte{byte(len(answer) >> 8), byte(len(answer))}, answer...)); err != nil {
			return
		}
	}
}
