package testserver

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/fetch1738/fetch1738/internal/memnet"
)

// Network is a network in memory that several servers may share, so that one
// Dial reaches them all. The zero value is ready to use; it must not be copied.
type Network struct{ mem memnet.Network }

// Dial connects to a server on the network by a loopback address, "localhost:70" or "mem:70".
func (n *Network) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return n.mem.Dial(ctx, network, address)
}

// Listen is for clients that servers connect to, as in FTP's active mode.
// Port 0 takes a free one.
func (n *Network) Listen(ctx context.Context, network, address string) (net.Listener, error) {
	return n.mem.Listen(ctx, network, address)
}

// ListenPacket is for peers that speak in datagrams; see Listen.
func (n *Network) ListenPacket(ctx context.Context, network, address string) (net.PacketConn, error) {
	return n.mem.ListenPacket(ctx, network, address)
}

// network is where a server listens and dials.
type network interface {
	ListenPacket(ctx context.Context, network, address string) (net.PacketConn, error)
	Dial(ctx context.Context, network, address string) (net.Conn, error)
	Listen(ctx context.Context, network, address string) (net.Listener, error)
}

// host is the machine's own network.
type host struct{}

func (host) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

func (host) Listen(ctx context.Context, network, address string) (net.Listener, error) {
	var lc net.ListenConfig
	return lc.Listen(ctx, network, address)
}

func (host) ListenPacket(ctx context.Context, network, address string) (net.PacketConn, error) {
	var lc net.ListenConfig
	return lc.ListenPacket(ctx, network, address)
}

// checkLoopback refuses an address that may be on another machine.
func checkLoopback(address string) error {
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip, err := netip.ParseAddr(name); name != "localhost" && (err != nil || !ip.IsLoopback()) {
		return fmt.Errorf("testserver: %s is not on this machine", address)
	}
	return nil
}
