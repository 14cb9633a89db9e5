package telnet

import "testing"

func TestDescribe(t *testing.T) {
	for octets, want := range map[string]string{
		"":                                  "",
		"\xff\xfd\x18\xff\xfb\x63":          "IAC DO TERMINAL-TYPE\nIAC WILL 99",
		"\xff\xfa\x18\x00VT100\xff\xf0":     `IAC SB TERMINAL-TYPE 00 "VT100" IAC SE`,
		"\xff\xfa\x1f\x00P\xff\xff\xff\xf0": "IAC SB NAWS 00 50 FF IAC SE",
		"\xff\xf1\xff\xf6\xff\x07":          "IAC NOP\nIAC AYT\nIAC 7",
	} {
		if got := Describe([]byte(octets)); got != want {
			t.Errorf("%q: %q, want %q", octets, got, want)
		}
	}
}
