package core

import (
	"context"
	"net"

	"github.com/fetch1738/fetch1738/testserver/memnet"
)

// Net is what a server listens on and dials: a network in memory, or this computer.
type Net struct{ Memory *memnet.Network }

// Dial connects to an address.
func (n Net) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if n.Memory != nil {
		return n.Memory.Dial(ctx, network, address)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// Listen opens an address for connections.
func (n Net) Listen(ctx context.Context, network, address string) (net.Listener, error) {
	if n.Memory != nil {
		return n.Memory.Listen(ctx, network, address)
	}
	return new(net.ListenConfig).Listen(ctx, network, address)
}

// ListenPacket opens an address for datagrams.
func (n Net) ListenPacket(ctx context.Context, network, address string) (net.PacketConn, error) {
	if n.Memory != nil {
		return n.Memory.ListenPacket(ctx, network, address)
	}
	return new(net.ListenConfig).ListenPacket(ctx, network, address)
}
