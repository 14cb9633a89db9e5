//go:build !unix

package record

import "net"

// ReceiveUrgent does nothing here.
func ReceiveUrgent(net.Conn) {}
