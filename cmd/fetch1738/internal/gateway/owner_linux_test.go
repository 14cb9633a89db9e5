package gateway

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// row returns a line of /proc/net/tcp, or of tcp6, as the kernel of this processor writes it.
func row(addr string, port uint16, state string, uid int) string {
	a := netip.MustParseAddr(addr)
	text := ""
	for word := range slices.Chunk(a.AsSlice(), 4) {
		text += fmt.Sprintf("%08X", binary.NativeEndian.Uint32(word))
	}
	return fmt.Sprintf("   0: %s:%04X 00000000:0000 %s 00000000:00000000 00:00000000 00000000  %d        0 12345 1 0000 100 0 0 10 0\n", text, port, state, uid)
}

func TestListening(t *testing.T) {
	const header = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	for _, tc := range []struct {
		name, row string
		reached   bool
	}{
		{"the loopback address", row("127.0.0.1", 8738, "0A", 1000), true},
		{"every address", row("0.0.0.0", 8738, "0A", 1000), true},
		{"every IPv6 address", row("::", 8738, "0A", 1000), true},
		{"IPv4 in IPv6", row("::ffff:127.0.0.1", 8738, "0A", 1000), true},
		{"another port", row("127.0.0.1", 8739, "0A", 1000), false},
		{"a connection", row("127.0.0.1", 8738, "01", 1000), false},
		{"another address", row("192.168.1.1", 8738, "0A", 1000), false},
		{"the IPv6 loopback address", row("::1", 8738, "0A", 1000), false},
		{"a line cut off", row("127.0.0.1", 8738, "0A", 1000)[:40], false},
		{"not hexadecimal", strings.Replace(row("127.0.0.1", 8738, "0A", 1000), "0", "x", 4), false},
	} {
		got := listening(strings.NewReader(header+tc.row), 8738)
		if want := []int{1000}; tc.reached != slices.Equal(got, want) {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}
