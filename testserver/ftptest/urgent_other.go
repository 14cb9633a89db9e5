//go:build !unix

package ftptest

import "net"

func receiveUrgent(net.Conn) {}
