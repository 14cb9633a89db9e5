package client

import (
	"context"
	"io"
	"net"
	"testing"
)

// TestHAProxyHeader checks the header that comes before everything else on a connection.
func TestHAProxyHeader(t *testing.T) {
	v4 := func(last byte, port int) net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, last), Port: port} }
	v6 := func(port int) net.Addr { return &net.TCPAddr{IP: net.ParseIP("2001:db8::7"), Port: port, Zone: "eth0"} }
	for _, tc := range []struct {
		from, to net.Addr
		client   string
		want     string
	}{
		{v4(1, 1025), v4(2, 80), "", "PROXY TCP4 192.0.2.1 192.0.2.2 1025 80\r\n"},
		{v6(1025), v6(443), "", "PROXY TCP6 2001:db8::7 2001:db8::7 1025 443\r\n"},
		{v4(1, 1025), v4(2, 80), "2001:db8::1", "PROXY TCP6 2001:db8::1 192.0.2.2 1025 80\r\n"},
		{&net.UnixAddr{Name: "x"}, &net.UnixAddr{Name: "y"}, "192.0.2.9", "PROXY UNKNOWN\r\n"},
	} {
		here, there := net.Pipe()
		dial := announced(func(context.Context, string, string) (net.Conn, error) { return addressed{here, tc.from, tc.to}, nil }, tc.client)
		heard := make(chan string)
		go func() {
			b, _ := io.ReadAll(there)
			heard <- string(b)
		}()
		conn, err := dial(t.Context(), "tcp", "h.example:80")
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		if got := <-heard; got != tc.want {
			t.Errorf("from %v to %v: %q, want %q", tc.from, tc.to, got, tc.want)
		}
	}
}

// addressed is a connection between two addresses.
type addressed struct {
	net.Conn
	local, remote net.Addr
}

func (c addressed) LocalAddr() net.Addr  { return c.local }
func (c addressed) RemoteAddr() net.Addr { return c.remote }
