package dial

import (
	"context"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// TestKeepAlive asks the system what a connection has been told.
func TestKeepAlive(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ref, err := locator.Parser{}.Parse("gopher://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	target := fetch.Target{Locator: ref.Locator, Host: "127.0.0.1", Port: uint16(l.Addr().(*net.TCPAddr).Port)}
	for _, c := range []struct {
		alive       KeepAlive
		probes      bool
		idle, every int
	}{
		{KeepAlive{}, true, 60, 60},
		{KeepAlive{Every: 10 * time.Second}, true, 10, 10},
		{KeepAlive{Off: true, Every: 10 * time.Second}, false, 0, 0},
	} {
		d := Dialer{KeepAlive: c.alive}
		var conn net.Conn
		env := fetch.Env{Dial: func(ctx context.Context, network, address string) (c net.Conn, err error) {
			conn, err = d.Dial(ctx, network, address)
			return conn, err
		}}
		if _, err := driver.NewEnv(&env).Connect(t.Context(), target); err != nil {
			t.Fatal(err)
		}
		ask := func(level, option int) (value int) {
			raw, err := conn.(*net.TCPConn).SyscallConn()
			if err != nil {
				t.Fatal(err)
			}
			if err := raw.Control(func(fd uintptr) { value, err = syscall.GetsockoptInt(int(fd), level, option) }); err != nil {
				t.Fatal(err)
			}
			return value
		}
		if on := ask(syscall.SOL_SOCKET, syscall.SO_KEEPALIVE) == 1; on != c.probes {
			t.Errorf("%+v: probes %v", c.alive, on)
		}
		if idle, every := ask(syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE), ask(syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL); c.probes && (idle != c.idle || every != c.every) {
			t.Errorf("%+v: after %d seconds, each %d", c.alive, idle, every)
		}
		conn.Close()
	}
}
