package memnet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/nettest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair returns two connected ends, dialled and accepted.
func pair(t *testing.T) (client, server net.Conn) {
	t.Helper()
	var n Network
	l, err := n.Listen(t.Context(), "tcp", "mem:21")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err = n.Dial(t.Context(), "tcp", "mem:21")
	if err != nil {
		t.Fatal(err)
	}
	server, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

func TestConnBehavesAsNetConn(t *testing.T) {
	nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
		c1, c2 = pair(t)
		return c1, c2, func() { c1.Close(); c2.Close() }, nil
	})
}

func TestAddressesAreTCP(t *testing.T) {
	client, server := pair(t)
	if got := client.RemoteAddr().(*net.TCPAddr).String(); got != "127.0.0.1:21" {
		t.Errorf("remote address %s", got)
	}
	if client.LocalAddr().String() != server.RemoteAddr().String() {
		t.Errorf("client is %v, server sees %v", client.LocalAddr(), server.RemoteAddr())
	}
}

func TestListenAndDialErrors(t *testing.T) {
	var n Network
	ctx := t.Context()
	l, err := n.Listen(ctx, "tcp", "127.0.0.1:70")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Listen(ctx, "tcp", "127.0.0.1:70"); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("second listener: %v", err)
	}
	for _, tt := range []struct {
		network, address string
		is               error
	}{
		{"tcp", "127.0.0.1:71", syscall.ECONNREFUSED},
		{"tcp", "10.0.0.5:70", syscall.EHOSTUNREACH},
		{"tcp", "example.test:70", nil},
		{"tcp", "127.0.0.1", nil},
		{"tcp", "127.0.0.1:99999", nil},
		{"unix", "127.0.0.1:70", nil},
	} {
		c, err := n.Dial(ctx, tt.network, tt.address)
		if err == nil {
			c.Close()
		}
		if err == nil || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("Dial(%s, %s): %v, want %v", tt.network, tt.address, err, tt.is)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := n.Dial(ended, "tcp", "127.0.0.1:70"); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}

	waiting, err := n.Dial(ctx, "tcp", "localhost:70")
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := waiting.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a connection that was not accepted: %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept after Close: %v", err)
	}
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("second Close: %v", err)
	}
	if l, err = n.Listen(ctx, "tcp", "127.0.0.1:70"); err != nil {
		t.Errorf("the port was not freed: %v", err)
	} else {
		l.Close()
	}
}

func TestFreePortsDiffer(t *testing.T) {
	var n Network
	seen := make(map[string]bool)
	for range 100 {
		l, err := n.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		seen[l.Addr().String()] = true
	}
	if len(seen) != 100 {
		t.Errorf("%d different addresses for 100 listeners", len(seen))
	}
}

func TestBothMayWriteFirst(t *testing.T) {
	client, server := pair(t)
	for _, c := range []net.Conn{client, server} {
		if _, err := c.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []net.Conn{client, server} {
		got := make([]byte, 5)
		if _, err := io.ReadFull(c, got); err != nil || string(got) != "hello" {
			t.Errorf("read %q, %v", got, err)
		}
	}
}

func TestCloseDeliversThenEnds(t *testing.T) {
	client, server := pair(t)
	io.WriteString(server, "last words")
	server.Close()
	got, err := io.ReadAll(client)
	if string(got) != "last words" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if _, err := client.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("write to a closed peer: %v", err)
	}
	if _, err := server.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("read after own Close: %v", err)
	}
	if err := server.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("second Close: %v", err)
	}
}

func TestHalfClose(t *testing.T) {
	client, server := pair(t)
	io.WriteString(client, "question")
	if err := client.(*Conn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(server); string(got) != "question" || err != nil {
		t.Errorf("server read %q, %v", got, err)
	}
	io.WriteString(server, "answer")
	server.Close()
	if got, err := io.ReadAll(client); string(got) != "answer" || err != nil {
		t.Errorf("client read %q, %v", got, err)
	}
	if _, err := client.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("write after CloseWrite: %v", err)
	}
}

func TestResetDeliversThenFails(t *testing.T) {
	client, server := pair(t)
	io.WriteString(server, "ab")
	server.(*Conn).SetLinger(0)
	server.Close()
	got, err := io.ReadAll(client)
	if string(got) != "ab" || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read %q, %v; want ab and a reset", got, err)
	}
	if _, err := client.Write([]byte("x")); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("write after a reset: %v", err)
	}
}

func TestWriterWaitsForReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := pair(t)
		sent := bytes.Repeat([]byte("0123456789"), bufferSize/4)
		var written int
		var wg sync.WaitGroup
		wg.Go(func() {
			written, _ = client.Write(sent)
			client.Close()
		})
		synctest.Wait()
		if written != 0 {
			t.Errorf("%d bytes written without a reader", written)
		}
		got, err := io.ReadAll(server)
		wg.Wait()
		if err != nil || !bytes.Equal(got, sent) || written != len(sent) {
			t.Errorf("read %d of %d bytes, %v", len(got), len(sent), err)
		}
	})
}

func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := pair(t)
		start := time.Now()
		client.SetReadDeadline(start.Add(time.Minute))
		_, err := client.Read(make([]byte, 1))
		if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		client.SetWriteDeadline(time.Now().Add(time.Second))
		if n, err := client.Write(make([]byte, 2*bufferSize)); n != bufferSize || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("wrote %d bytes, %v", n, err)
		}

		var n Network
		l, err := n.Listen(t.Context(), "tcp", "mem:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		l.(*Listener).SetDeadline(time.Now().Add(time.Hour))
		if _, err := l.Accept(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("Accept: %v", err)
		}
	})
}

func TestManyConnections(t *testing.T) {
	var n Network
	l, err := n.Listen(t.Context(), "tcp", "mem:7")
	if err != nil {
		t.Fatal(err)
	}
	var servers, clients sync.WaitGroup
	servers.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			servers.Go(func() {
				defer c.Close()
				io.Copy(c, c)
			})
		}
	})
	text := strings.Repeat("echo ", 1000)
	for range 200 {
		clients.Go(func() {
			c, err := n.Dial(context.Background(), "tcp", "mem:7")
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			io.WriteString(c, text)
			c.(*Conn).CloseWrite()
			if got, err := io.ReadAll(c); string(got) != text {
				t.Errorf("%d bytes back, %v", len(got), err)
			}
		})
	}
	clients.Wait()
	l.Close()
	servers.Wait()
}
