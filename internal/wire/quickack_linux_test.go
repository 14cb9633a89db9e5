package wire

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
)

// TestConnAcknowledgesWhileItWaits checks in the kernel whether acknowledgements are delayed after
// a read that had to wait.
func TestConnAcknowledgesWhileItWaits(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if below := belowAll(tls.Client(BelowTLS(nc), nil)); below != nc {
		t.Errorf("below TLS is %v", below)
	}
	raw, err := nc.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	option := func(f func(fd int) error) {
		t.Helper()
		var failed error
		if err := raw.Control(func(fd uintptr) { failed = f(int(fd)) }); err != nil || failed != nil {
			t.Fatal(err, failed)
		}
	}
	option(func(fd int) error { return syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 0) })
	c := NewConn(t.Context(), BelowTLS(nc), 5*stall)
	defer c.Close()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("nothing came, and %v", err)
	}
	option(func(fd int) error {
		on, err := syscall.GetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_QUICKACK)
		if on != 1 {
			t.Error("acknowledgements are delayed")
		}
		return err
	})
}
