//go:build !linux

package wire

import "net"

// QuickAck does nothing, because the system has no such setting.
func QuickAck(net.Conn) {}
