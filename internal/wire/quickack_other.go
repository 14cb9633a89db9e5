//go:build !linux

package wire

import "net"

// QuickAck does nothing where the system has no such wish.
func QuickAck(net.Conn) {}
