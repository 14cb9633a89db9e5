package testserver

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/fetch1738/fetch1738/internal/memnet"
)

// Network is a network in memory that several servers may share, so that one Dial reaches them all.
// The zero value is ready to use. A Network must not be copied.
type Network struct{ mem memnet.Network }

// Dial connects to a server on the network by a loopback address, such as "localhost:70" or
// "mem:70".
func (n *Network) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return n.mem.Dial(ctx, network, address)
}

// Listen lets a client accept connections from servers, as in FTP's active mode. Port 0 means any
// free port.
func (n *Network) Listen(ctx context.Context, network, address string) (net.Listener, error) {
	return n.mem.Listen(ctx, network, address)
}

// ListenPacket is Listen for datagrams.
func (n *Network) ListenPacket(ctx context.Context, network, address string) (net.PacketConn, error) {
	return n.mem.ListenPacket(ctx, network, address)
}

// network is what a server listens on and dials.
type network interface {
	ListenPacket(ctx context.Context, network, address string) (net.PacketConn, error)
	Dial(ctx context.Context, network, address string) (net.Conn, error)
	Listen(ctx context.Context, network, address string) (net.Listener, error)
}

// host is the network of this computer.
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

// checkLoopback returns an error for an address that may be on another host.
func checkLoopback(address string) error {
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip, err := netip.ParseAddr(name); name != "localhost" && (err != nil || !ip.IsLoopback()) {
		return fmt.Errorf("testserver: %s is not a loopback address", address)
	}
	return nil
}
