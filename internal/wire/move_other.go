//go:build !unix

package wire

import "net"

// CanMove returns false: no other system has such calls.
func CanMove(net.Conn) bool { return false }

// OfConnection returns false.
func OfConnection(error) bool { return false }
