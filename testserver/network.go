package testserver

import (
	"context"
	"net"

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
