package scaletest

import (
	"encoding/binary"
	"net"
	"syscall"
)

// established is the state of a connection that neither side has closed.
const established = 1

// isLeft reports whether the peer has closed a connection.
func isLeft(c *net.TCPConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return true
	}
	left := true
	err = raw.Control(func(fd uintptr) {
		info, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_INFO)
		var state [4]byte // of struct tcp_info only the first octets: the state is the first
		binary.NativeEndian.PutUint32(state[:], uint32(info))
		left = err != nil || state[0] != established
	})
	return left || err != nil
}
