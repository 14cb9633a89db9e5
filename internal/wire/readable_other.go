//go:build !unix

package wire

import "net"

func readable(net.Conn) (waiting, known bool) { return false, false }
