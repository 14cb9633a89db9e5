//go:build !unix

package traffic

import "net"

// ReceiveUrgent does nothing here.
func ReceiveUrgent(net.Conn) {}
