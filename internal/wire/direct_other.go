//go:build !linux

package wire

import (
	"io"
	"net"
)

// DirectMove returns nil: only Linux has such system calls.
func DirectMove(net.Conn, io.Writer) Move { return nil }
