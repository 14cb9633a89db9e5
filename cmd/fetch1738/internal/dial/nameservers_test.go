package dial

import (
	"net/netip"
	"slices"
	"testing"
)

func TestParseNameServers(t *testing.T) {
	at := netip.MustParseAddrPort
	for text, want := range map[string]NameServers{
		"192.0.2.1":                {at("192.0.2.1:53")},
		"192.0.2.1:5353, ::1":      {at("192.0.2.1:5353"), at("[::1]:53")},
		"[::1]:5353,[2001:db8::1]": {at("[::1]:5353"), at("[2001:db8::1]:53")},
	} {
		if got, err := ParseNameServers(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "ns.example", "192.0.2.1,", "192.0.2.1:x"} {
		if got, err := ParseNameServers(bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

func TestParsePorts(t *testing.T) {
	for text, want := range map[string]PortRange{"80": {80, 80}, "20000-20100": {20000, 20100}, "1 - 2": {1, 2}} {
		if got, err := ParsePorts(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "x", "2-1", "65536", "1-", "-1"} {
		if got, err := ParsePorts(bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}
