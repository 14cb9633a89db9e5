//go:build !linux

package ftp

import (
	"io"
	"net"
)

// direct knows no way here.
func direct(net.Conn, io.Writer) move { return nil }
