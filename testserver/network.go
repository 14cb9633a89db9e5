package testserver

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/fetch1738/fetch1738/testserver/memnet"
)

// Network is a network in memory that several servers may share, so that one Dial reaches them all.
// The zero value is ready to use. A Network must not be copied.
//
// Dial connects to a server on the network by a loopback address, such as "localhost:70" or "mem:70".
// Listen lets a client accept connections from servers, as in FTP's active mode, and ListenPacket
// datagrams. Port 0 means any free port.
type Network = memnet.Network

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
