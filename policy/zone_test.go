package policy

import (
	"bufio"
	"net/netip"
	"os"
	"reflect"
	"strings"
	"testing"
)

// The addresses of cases 171 to 177 with their zones.
func TestZoneOf(t *testing.T) {
	for _, tc := range []struct {
		zone  Zone
		addrs string
	}{
		{ZoneLoopback, "127.0.0.1 127.255.255.254 ::1 ::ffff:127.0.0.1 ::127.0.0.1 64:ff9b::7f00:1 2002:7f00:1:: ::ffff:7f00:1 ::1%lo"},
		{ZoneLinkLocal, "169.254.0.1 169.254.169.254 fe80::1 fe80::1%eth0 febf::1 fd00:ec2::254 100.100.100.200 168.63.129.16 192.0.0.192" +
			" ::ffff:169.254.169.254 64:ff9b::a9fe:a9fe 2002:a9fe:a9fe::1 ::a9fe:a9fe"},
		{ZonePrivate, "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 100.127.255.255 192.0.0.1 192.0.0.170 198.18.0.1 198.19.255.255" +
			" fc00::1 fd12:3456::1 fec0::1 feff::1 64:ff9b:1::a00:1 64:ff9b::a00:1 2002:a00:1:: ::10.0.0.1 ::ffff:192.168.1.1"},
		{ZoneReserved, "0.0.0.0 0.1.2.3 :: 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 ff02::1 ff0e::1 2001:0:1:: 2001::1 2001:2::1" +
			" 100::1 5f00::1 192.88.99.1 ::ffff:0:127.0.0.1 ::224.0.0.1 64:ff9b::e000:1 2002:e000:1:: 4000::1 200::1"},
		{ZoneDocumentation, "192.0.2.1 198.51.100.1 203.0.113.7 2001:db8::1 3fff::1 ::ffff:203.0.113.7"},
		{ZonePublic, "1.1.1.1 8.8.8.8 11.0.0.1 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1 172.15.0.1 172.32.0.1 169.253.255.255" +
			" 192.0.1.1 192.167.0.1 198.17.0.1 198.20.0.1 223.255.255.255 2606:4700::1111 2a00::1 2001:200::1 2003::1 64:ff9b::808:808 2002:808:808:: ::ffff:8.8.8.8"},
	} {
		for s := range strings.FieldsSeq(tc.addrs) {
			if got := ZoneOf(netip.MustParseAddr(s)); got != tc.zone {
				t.Errorf("%s: %v, want %v", s, got, tc.zone)
			}
		}
	}
	if got := ZoneOf(netip.Addr{}); got != ZoneReserved {
		t.Errorf("no address: %v", got)
	}
}

// Case 173: a prefix that the registries call not globally reachable is not public, from its first
// address to its last.
func TestZoneAgainstRegistries(t *testing.T) {
	f, err := os.Open("testdata/special-purpose.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if fields[0] == "#" {
			continue
		}
		rows++
		prefix := netip.MustParsePrefix(fields[0])
		if fields[1] == "yes" || prefix.String() == "2002::/16" { // the zone of a 6to4 address is that of the address inside
			continue
		}
		for _, addr := range []netip.Addr{prefix.Addr(), lastAddr(prefix)} {
			if ZoneOf(addr) == ZonePublic {
				t.Errorf("%s of %s is public", addr, lines.Text())
			}
		}
	}
	if rows < 50 {
		t.Errorf("only %d rows", rows)
	}
}

func lastAddr(p netip.Prefix) netip.Addr {
	octets := p.Addr().AsSlice()
	for i := p.Bits(); i < len(octets)*8; i++ {
		octets[i/8] |= 0x80 >> (i % 8)
	}
	addr, _ := netip.AddrFromSlice(octets)
	return addr
}

// NAT64 prefixes of a site, with the examples of RFC 6052 §2.4 for 192.0.2.33, a documentation address.
func TestZoneNAT64(t *testing.T) {
	for _, tc := range []struct{ prefix, addr string }{
		{"2001:db8::/32", "2001:db8:c000:221::"},
		{"2001:db8:100::/40", "2001:db8:1c0:2:21::"},
		{"2001:db8:122::/48", "2001:db8:122:c000:2:2100::"},
		{"2001:db8:122:300::/56", "2001:db8:122:3c0:0:221::"},
		{"2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::"},
		{"2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.33"},
	} {
		prefix := netip.MustParsePrefix(tc.prefix)
		if got := embedded(netip.MustParseAddr(tc.addr), prefix.Bits()); got != netip.MustParseAddr("192.0.2.33") {
			t.Errorf("%s in %s: %v", tc.addr, tc.prefix, got)
		}
	}
	site := Rules{NAT64: []netip.Prefix{netip.MustParsePrefix("2a00:64::/96"), netip.MustParsePrefix("2a00:65::/80")}}
	for addr, want := range map[string]Zone{
		"2a00:64::10.0.0.1": ZonePrivate, "2a00:64::127.0.0.1": ZoneLoopback, "2a00:64::8.8.8.8": ZonePublic,
		"2a00:66::10.0.0.1": ZonePublic,
		"2a00:65::8.8.8.8":  ZoneReserved, // not a prefix length of RFC 6052
	} {
		if got := site.zoneOf(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %v, want %v", addr, got, want)
		}
	}
}

func TestZoneNames(t *testing.T) {
	var r Rules
	for z := ZoneReserved; z <= ZoneLoopback; z++ {
		if err := r.AddZone(z.String()); len(r.AllowZones) != int(z)+1 || r.AllowZones[z] != z || err != nil {
			t.Errorf("%v: %v, %v", z, r.AllowZones, err)
		}
	}
	if err := r.AddZone("intranet"); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("an unknown zone: %v", err)
	}
}

// Every form of an IPv4 address inside an IPv6 address keeps its zone.
func FuzzZone(f *testing.F) {
	for _, s := range []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "8.8.8.8", "0.0.0.0", "255.255.255.255", "192.0.0.192"} {
		a := netip.MustParseAddr(s).As4()
		f.Add(a[0], a[1], a[2], a[3])
	}
	f.Fuzz(func(t *testing.T, a, b, c, d byte) {
		inner := [4]byte{a, b, c, d}
		plain := netip.AddrFrom4(inner)
		want := ZoneOf(plain)
		forms := map[string][]byte{
			"mapped":     append([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, inner[:]...),
			"compatible": append(make([]byte, 12), inner[:]...),
			"nat64":      append([]byte{0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0}, inner[:]...),
			"6to4":       append([]byte{0x20, 0x02}, append(inner[:], make([]byte, 10)...)...),
		}
		for name, octets := range forms {
			addr, _ := netip.AddrFromSlice(octets)
			got := ZoneOf(addr)
			if addr == netip.IPv6Loopback() {
				want := ZoneLoopback // ::1 is loopback, not 0.0.0.1
				if got != want {
					t.Errorf("%v: %v", addr, got)
				}
				continue
			}
			if got != want {
				t.Errorf("%s %v: %v, but %v is %v", name, addr, got, plain, want)
			}
		}
		local, _ := netip.AddrFromSlice(append([]byte{0, 0x64, 0xff, 0x9b, 0, 1, 0, 0, 0, 0, 0, 0}, inner[:]...))
		if ZoneOf(local) < ZonePrivate {
			t.Errorf("%v: %v", local, ZoneOf(local))
		}
	})
}

// A zone, a prefix and an address are permitted by their texts, and nothing else is accepted.
func TestAddZone(t *testing.T) {
	var r Rules
	for _, text := range []string{"private", "10.1.0.0/16", "127.0.0.1", "fe80::1%eth0"} {
		if err := r.AddZone(text); err != nil {
			t.Error(err)
		}
	}
	want := Rules{AllowZones: []Zone{ZonePrivate}, AllowPrefixes: []netip.Prefix{
		netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("fe80::1/128"),
	}}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("%+v, want %+v", r, want)
	}
	for _, text := range []string{"", "privat", "10.1.0.0/33", "10.1"} {
		if err := r.AddZone(text); err == nil || !strings.Contains(err.Error(), "10.1.0.0/16") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
