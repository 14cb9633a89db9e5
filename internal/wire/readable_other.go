//go:build !unix

package wire

import "net"

func readable(net.Conn) bool { return false }
