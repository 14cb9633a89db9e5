package core

import (
	"context"
	"fmt"
	"net"
	"net/netip"
)

// Network is what a server listens on and dials.
type Network interface {
	ListenPacket(ctx context.Context, network, address string) (net.PacketConn, error)
	Dial(ctx context.Context, network, address string) (net.Conn, error)
	Listen(ctx context.Context, network, address string) (net.Listener, error)
}

// host is the network of this computer.
type host struct{ net.ListenConfig }

func (*host) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, address)
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
