//go:build !unix

package ftp

import "net"

func canSplice(net.Conn) bool { return false }

func connectionError(error) bool { return false }
