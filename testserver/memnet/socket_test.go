package memnet

import (
	"bytes"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// sockets returns a listening socket and one connected to it.
func sockets(t *testing.T, n *Network) (net.PacketConn, net.Conn) {
	t.Helper()
	server, err := n.ListenPacket(t.Context(), "udp", "127.0.0.1:1525")
	if err != nil {
		t.Fatal(err)
	}
	client, err := n.Dial(t.Context(), "udp", "mem:1525")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close(); client.Close() })
	return server, client
}

func TestDatagrams(t *testing.T) { synctest.Test(t, testDatagrams) }

func testDatagrams(t *testing.T) {
	var n Network
	server, client := sockets(t, &n)
	buf := make([]byte, 1<<16)
	for _, sent := range [][]byte{[]byte("request"), {}, make([]byte, maxDatagram)} {
		if _, err := client.Write(sent); err != nil {
			t.Fatal(err)
		}
		got, from, err := server.ReadFrom(buf)
		if err != nil || !bytes.Equal(buf[:got], sent) || from.String() != client.LocalAddr().String() {
			t.Errorf("%d bytes from %v, %v; sent %d from %v", got, from, err, len(sent), client.LocalAddr())
		}
	}
	if _, err := client.Write(make([]byte, maxDatagram+1)); !errors.Is(err, syscall.EMSGSIZE) {
		t.Errorf("a datagram that is too long: %v", err)
	}

	stranger, err := n.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	stranger.WriteTo([]byte("spoofed"), client.LocalAddr())
	server.WriteTo([]byte("a long answer"), client.LocalAddr())
	if got, err := client.Read(buf[:6]); err != nil || string(buf[:got]) != "a long" {
		t.Errorf("a connected socket with a short buffer: %q, %v", buf[:got], err)
	}
	client.SetReadDeadline(time.Now().Add(time.Second))
	if got, err := client.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%q, %v; want nothing more", buf[:got], err)
	}
}

func TestSocketErrors(t *testing.T) {
	var n Network
	ctx := t.Context()
	server, client := sockets(t, &n)
	if _, err := n.ListenPacket(ctx, "udp", "127.0.0.1:1525"); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("second socket: %v", err)
	}
	if _, err := n.ListenPacket(ctx, "tcp", "127.0.0.1:1"); err == nil {
		t.Error("datagrams over TCP")
	}
	if _, err := n.Dial(ctx, "udp", "10.0.0.5:1525"); !errors.Is(err, syscall.EHOSTUNREACH) {
		t.Errorf("elsewhere: %v", err)
	}
	if _, err := server.WriteTo(nil, client.LocalAddr()); err != nil {
		t.Error(err)
	}
	if _, err := server.(net.Conn).Write(nil); !errors.Is(err, syscall.EDESTADDRREQ) {
		t.Errorf("Write without a peer: %v", err)
	}
	if _, err := client.(net.PacketConn).WriteTo(nil, server.LocalAddr()); !errors.Is(err, syscall.EISCONN) {
		t.Errorf("WriteTo with a peer: %v", err)
	}
	server.Close()
	client.Read(nil) // the empty datagram
	client.Write([]byte("is anybody there?"))
	if _, err := client.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("nobody listens: %v", err)
	}
	client.Write([]byte("is anybody there?"))
	if _, err := client.Write(nil); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("nobody listens: %v", err)
	}
	client.Close()
	for name, err := range map[string]error{
		"read":  func() error { _, err := client.Read(nil); return err }(),
		"write": func() error { _, err := client.Write(nil); return err }(),
		"set":   client.SetDeadline(time.Time{}),
		"close": client.Close(),
	} {
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
}

func TestSocketQueueIsBounded(t *testing.T) { synctest.Test(t, testSocketQueueIsBounded) }

func testSocketQueueIsBounded(t *testing.T) {
	var n Network
	server, client := sockets(t, &n)
	for range 2 * queued {
		client.Write([]byte("x"))
	}
	server.SetReadDeadline(time.Now().Add(time.Second))
	got := 0
	for {
		if _, _, err := server.ReadFrom(make([]byte, 1)); err != nil {
			break
		}
		got++
	}
	if got != queued {
		t.Errorf("%d datagrams were held, want %d", got, queued)
	}
}

func TestSocketDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n Network
		server, client := sockets(t, &n)
		start := time.Now()
		client.SetReadDeadline(start.Add(4 * time.Second))
		if _, err := client.Read(nil); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != 4*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		client.SetReadDeadline(time.Time{})
		time.AfterFunc(time.Second, func() { server.WriteTo([]byte("late"), client.LocalAddr()) })
		if n, err := client.Read(make([]byte, 9)); n != 4 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	})
}
