package gateway

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// otherOwner returns the user who listens on a port of this computer, if it is not the user of this
// process. The kernel lists who listens; no request is sent.
func otherOwner(port uint16) (uid int, other bool) {
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		uids := listening(f, port)
		f.Close()
		for _, uid := range uids {
			if uid != os.Getuid() {
				return uid, true
			}
		}
	}
	return 0, false
}

// listening returns the users in a table like /proc/net/tcp who listen on a port of an address
// that a connection to 127.0.0.1 reaches.
func listening(table io.Reader, port uint16) (uids []int) {
	const local, state, user = 1, 3, 7 // columns
	const listens = "0A"
	for lines := bufio.NewScanner(table); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) <= user || fields[state] != listens {
			continue
		}
		host, service, _ := strings.Cut(fields[local], ":")
		addr, err := kernelAddr(host)
		if err != nil || service != fmt.Sprintf("%04X", port) {
			continue
		}
		uid, err := strconv.Atoi(fields[user])
		if err == nil && (addr.IsUnspecified() || addr == netip.AddrFrom4([4]byte{127, 0, 0, 1})) {
			uids = append(uids, uid)
		}
	}
	return uids
}

// kernelAddr parses an address of /proc/net/tcp: words of 32 bits in the order of the processor.
func kernelAddr(text string) (netip.Addr, error) {
	octets, err := hex.DecodeString(text)
	if err != nil || len(octets)%4 != 0 {
		return netip.Addr{}, fmt.Errorf("%q is not an address", text)
	}
	for word := octets; len(word) > 0; word = word[4:] {
		binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
	}
	addr, _ := netip.AddrFromSlice(octets)
	return addr.Unmap(), nil
}
