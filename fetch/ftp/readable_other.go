//go:build !unix

package ftp

import "net"

// readable cannot tell here: what waits is read as the next reply.
func readable(net.Conn) bool { return false }
