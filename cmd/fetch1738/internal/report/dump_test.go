package report

import (
	"strings"
	"testing"
)

// The expected output is that of curl 7.88.1 for the same bytes.
func TestDumps(t *testing.T) {
	a := func(n int) string { return strings.Repeat("a", n) }
	for _, c := range []struct{ octets, hex, ascii string }{
		{"", "", ""},
		{"Hi\x00\xff~", "0000: 48 69 00 ff 7e                                  Hi..~\n", "0000: Hi..~\n"},
		{a(17), "0000: " + strings.Repeat("61 ", 16) + a(16) + "\n0010: 61 " + strings.Repeat("   ", 15) + "a\n", "0000: " + a(17) + "\n"},
		{"a\r\n\r\nb\n", "0000: 61 0d 0a 0d 0a 62 0a                            a....b.\n", "0000: a\n0003: \n0005: b.\n"},
	} {
		if got := string(appendHex(nil, []byte(c.octets))); got != c.hex {
			t.Errorf("%q in hexadecimal:\n%swant:\n%s", c.octets, got, c.hex)
		}
		if got := string(appendASCII(nil, []byte(c.octets))); got != c.ascii {
			t.Errorf("%q in ASCII:\n%swant:\n%s", c.octets, got, c.ascii)
		}
	}
	for octets, want := range map[string]string{
		a(63) + "\r\nb": "0000: " + a(63) + "\n0041: b\n",
		a(64) + "\r\nb": "0000: " + a(64) + "\n0042: b\n", // the CR LF gets no line of its own
		a(65) + "\r\nb": "0000: " + a(64) + "\n0040: a\n0043: b\n",
		a(64) + "\r":    "0000: " + a(64) + "\n0040: .\n",
	} {
		if got := string(appendASCII(nil, []byte(octets))); got != want {
			t.Errorf("%q in ASCII:\n%swant:\n%s", octets, got, want)
		}
	}
}
