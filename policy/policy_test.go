package policy

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// at returns a target: a URL, the address of its host ("" before the lookup), and who wrote the URL.
func at(t *testing.T, url, addr string, from fetch.Provenance) fetch.Target {
	t.Helper()
	ref, err := locator.Parser{Tolerate: locator.ModernHosts}.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	target := fetch.Target{Locator: ref.Locator, From: from}
	server, _ := locator.ServerOf(ref.Locator)
	if ref.Locator.Scheme() != "file" {
		target.Network, target.Host, target.Port = "tcp", server.Host, server.Port
	}
	if addr != "" {
		target.Addr = netip.AddrPortFrom(netip.MustParseAddr(addr), target.Port)
	}
	return target
}

// link returns a link in a page that came from an address, or from an unknown one.
func link(page, peer string) fetch.Provenance {
	ref, err := locator.Parser{}.Parse(page)
	if err != nil {
		panic(err)
	}
	p := fetch.Provenance{Kind: fetch.OriginRemote, By: ref.Locator}
	if peer != "" {
		p.Peer = netip.MustParseAddr(peer)
	}
	return p
}

func redirect(page, peer string) fetch.Provenance {
	p := link(page, peer)
	p.Kind = fetch.OriginRedirect
	return p
}

// check expects a refusal by the rule; "" means no refusal.
func check(t *testing.T, r *Rules, target fetch.Target, rule string) {
	t.Helper()
	err := r.Allow(t.Context(), target)
	var d *Denied
	if errors.As(err, &d); err != nil && d == nil {
		t.Fatalf("%T, want *Denied", err)
	}
	got := ""
	if d != nil {
		got = d.Rule
	}
	if got != rule {
		t.Errorf("%s at %s, %v: rule %q, want %q", target.Locator.Redacted(), target.Addr, target.From, got, rule)
	}
}

var (
	typed  = fetch.Provenance{}
	config = fetch.Provenance{Kind: fetch.OriginConfig}
	user   = &Rules{}
	public = &Rules{PublicOnly: true}
)

func TestZonesByProvenance(t *testing.T) {
	for _, tc := range []struct {
		url, addr    string
		from         fetch.Provenance
		user, public string
	}{
		{"http://localhost/", "127.0.0.1", typed, "", "loopback-address"},
		{"http://localhost/", "::1", config, "", "loopback-address"},
		{"http://intranet.example/", "10.0.0.5", typed, "", "private-address"},
		{"http://example.com/", "93.184.216.34", typed, "", ""},
		{"http://example.com/", "", typed, "", ""},
		{"ftp://example.com/", "0.0.0.0", typed, "reserved-address", "reserved-address"},
		{"ftp://example.com/", "224.0.0.1", typed, "reserved-address", "reserved-address"},
		{"ftp://example.com/", "203.0.113.7", typed, "documentation-address", "documentation-address"},

		// Link-local addresses only if written as addresses: a name with such an address is an attack.
		{"http://169.254.169.254/latest/", "169.254.169.254", typed, "", "link-local-address"},
		{"http://metadata.example/", "169.254.169.254", typed, "link-local-address", "link-local-address"},
		{"http://metadata.example/", "fd00:ec2::254", typed, "link-local-address", "link-local-address"},
		{"http://169.254.1.1/", "169.254.169.254", typed, "link-local-address", "link-local-address"},
		{"http://[::ffff:169.254.169.254]/", "169.254.169.254", typed, "", "link-local-address"},

		// A host that is an address is checked before a connection.
		{"http://127.0.0.1/", "", link("http://example.com/", "93.184.216.34"), "loopback-address", "loopback-address"},
		{"http://[::1]/", "", link("http://example.com/", "93.184.216.34"), "loopback-address", "loopback-address"},
		{"http://10.0.0.5/", "", typed, "", "private-address"},

		// Links may not lead closer to this computer.
		{"http://a.example/", "93.184.216.34", link("http://example.com/", "1.1.1.1"), "", ""},
		{"http://a.example/", "10.0.0.5", link("http://example.com/", "1.1.1.1"), "private-address", "private-address"},
		{"http://a.example/", "127.0.0.1", link("http://example.com/", "1.1.1.1"), "loopback-address", "loopback-address"},
		{"http://a.example/", "10.0.0.5", link("http://intranet/", "192.168.0.1"), "", "private-address"},
		{"http://a.example/", "127.0.0.1", link("http://intranet/", "192.168.0.1"), "loopback-address", "loopback-address"},
		{"http://a.example/", "8.8.8.8", link("http://intranet/", "192.168.0.1"), "", ""},
		{"http://localhost:8080/", "127.0.0.1", link("http://localhost/", "127.0.0.1"), "", "loopback-address"},
		{"http://a.example/", "10.0.0.5", link("http://localhost/", "::1"), "", "private-address"},
		{"http://169.254.169.254/", "", link("http://intranet/", "10.0.0.1"), "link-local-address", "link-local-address"},
		{"http://metadata.example/", "169.254.169.254", link("http://localhost/", "127.0.0.1"), "link-local-address", "link-local-address"},
		{"http://a.example/", "169.254.1.1", link("http://x.example/", "1.1.1.1"), "link-local-address", "link-local-address"},
		{"http://localhost:9090/", "127.0.0.1", redirect("http://localhost:8080/", "127.0.0.1"), "", "loopback-address"},

		// If the address of the page is not known, as through a proxy, it counts as public.
		{"http://a.example/", "8.8.8.8", link("http://localhost/", ""), "", ""},
		{"http://a.example/", "127.0.0.1", link("http://localhost/", ""), "loopback-address", "loopback-address"},
		{"http://a.example/", "8.8.8.8", link("http://x.example/", "224.0.0.1"), "", ""},
	} {
		target := at(t, tc.url, tc.addr, tc.from)
		check(t, user, target, tc.user)
		check(t, public, target, tc.public)
	}
}

// Cases 170, 175 and 176: a host that only looks like an address.
func TestAmbiguousHosts(t *testing.T) {
	for host, rule := range map[string]string{
		"0177.0.0.1": "ambiguous-address", "0x7f.1": "ambiguous-address", "2130706433": "ambiguous-address",
		"127.1": "ambiguous-address", "017700000001": "ambiguous-address", "0x7F000001": "ambiguous-address",
		"127.0.0.1.": "ambiguous-address", "0x7f.": "ambiguous-address", "a.0x": "", "a.1": "", "a.1.": "", "1.2.3.4.5": "ambiguous-address",
		"::1%.example.com": "ambiguous-address", "::1%lo": "ambiguous-address",
		"": "empty-host", "fe80::1%eth0": "", "localhost.": "", "localhost6": "", "3com.example": "", "0xy": "", "1.a": "",
	} {
		l := &locator.HTTP{Server: locator.Server{HostPort: locator.HostPort{Host: host}}}
		check(t, user, fetch.Target{Locator: l, Network: "tcp", Host: host, Port: 80}, rule)
	}
	// A network interface may be named in a typed URL, and in a link from that address to itself.
	zoned := &locator.HTTP{Server: locator.Server{HostPort: locator.HostPort{Host: "fe80::1%eth0"}}}
	near := netip.MustParseAddr("fe80::1%eth0")
	for _, tc := range []struct {
		from    fetch.Provenance
		purpose fetch.Purpose
		rule    string
	}{
		{typed, fetch.PurposeControl, ""},
		{config, fetch.PurposeControl, ""},
		{fetch.Provenance{Kind: fetch.OriginRemote, By: zoned, Peer: near}, fetch.PurposeControl, ""},
		{fetch.Provenance{Kind: fetch.OriginRedirect, By: zoned, Peer: near}, fetch.PurposeControl, ""},
		{link("http://localhost/", "127.0.0.1"), fetch.PurposeControl, "zone-id"},
		{redirect("http://localhost/", "127.0.0.1"), fetch.PurposeControl, "zone-id"},
		{fetch.Provenance{Kind: fetch.OriginRemote}, fetch.PurposeControl, "zone-id"},
		{link("http://localhost/", "127.0.0.1"), fetch.PurposeData, ""}, // its control connection was permitted
	} {
		target := fetch.Target{Locator: zoned, Network: "tcp", Host: "fe80::1%eth0", Port: 8080, From: tc.from, Purpose: tc.purpose}
		check(t, user, target, tc.rule)
		check(t, &Rules{AllowZones: []Zone{ZoneLinkLocal}}, target, tc.rule)
	}
	l := &locator.HTTP{}
	check(t, user, fetch.Target{Locator: l, Network: "unix", Host: "h", Port: 80}, "network")
	// The address of a name decides, whatever its spelling (cases 176, 180).
	for _, name := range []string{"localhost", "LOCALHOST", "localhost.", "localhost6", "127.0.0.1.example"} {
		target := at(t, "http://"+name+"/", "127.0.0.1", link("http://example.com/", "1.1.1.1"))
		check(t, user, target, "loopback-address")
		target.Addr = netip.MustParseAddrPort("8.8.8.8:80")
		check(t, user, target, "")
	}
}

func TestPorts(t *testing.T) {
	remote := link("http://example.com/", "1.1.1.1")
	for _, tc := range []struct {
		url  string
		from fetch.Provenance
		rule string
	}{
		{"gopher://h.example/", typed, ""},
		{"gopher://h.example:7070/", typed, ""},
		{"gopher://h.example:25/", typed, "reserved-port"}, // case 57
		{"gopher://h.example:80/", typed, "reserved-port"},
		{"gopher://h.example:1023/", typed, "reserved-port"},
		{"gopher://h.example:1024/", typed, ""},
		{"gopher://h.example:6667/", typed, "bad-port"},
		{"ftp://h.example:22/", typed, "reserved-port"},
		{"telnet://h.example:25/", typed, "reserved-port"},
		{"nntp://h.example:119/g", typed, ""},
		{"nntps://h.example/g", typed, ""},
		{"nntps://h.example:119/g", typed, "reserved-port"},
		{"snews://h.example/g", remote, ""},
		{"snews://h.example:25/g", typed, "reserved-port"},
		{"ftps://h.example/", remote, ""},
		{"ftps://h.example:990/", remote, ""},
		{"ftps://h.example:21/", typed, "reserved-port"},
		{"gophers://h.example/", remote, ""},
		{"gophers://h.example:443/", typed, "reserved-port"},
		{"x-own://h.example:25/", typed, "reserved-port"},
		{"wais://h.example:210/d", typed, ""},
		{"wais://h.example:70/d", typed, "reserved-port"},
		{"prospero://h.example:1525/x", typed, ""},
		{"http://h.example:443/", typed, ""},
		{"https://h.example:80/", typed, ""},
		{"http://h.example:81/", typed, "reserved-port"},
		{"http://h.example:6000/", typed, "bad-port"},
		{"http://h.example:10080/", typed, "bad-port"},
		{"http://h.example:8080/", remote, ""},
		{"http://h.example:22/", remote, "reserved-port"},
		{"https://h.example:8443/", remote, ""},
	} {
		check(t, user, at(t, tc.url, "", tc.from), tc.rule)
		check(t, public, at(t, tc.url, "", tc.from), tc.rule)
	}
	for _, port := range badPorts {
		target := at(t, "ftp://h.example/", "", typed)
		target.Port = port
		check(t, user, target, "bad-port")
	}

	cli := &Rules{AnyHTTPPort: true, AllowPorts: []uint16{25, 6667}}
	check(t, cli, at(t, "http://h.example:81/", "", typed), "")
	check(t, cli, at(t, "http://h.example:6000/", "", config), "")
	check(t, cli, at(t, "http://h.example:81/", "", remote), "reserved-port")
	check(t, cli, at(t, "gopher://h.example:25/", "", typed), "")
	check(t, cli, at(t, "gopher://h.example:25/", "", remote), "reserved-port")
	check(t, cli, at(t, "gopher://h.example:6667/", "", typed), "")
	check(t, cli, at(t, "gopher://h.example:81/", "", typed), "reserved-port")

	data := at(t, "ftp://h.example/x", "1.1.1.1", typed)
	data.Purpose = fetch.PurposeData
	for port, rule := range map[uint16]string{1024: "", 6000: "", 65535: "", 1023: "data-port", 22: "data-port", 21: "data-port", 0: "data-port"} {
		data.Port = port
		data.Addr = netip.AddrPortFrom(data.Addr.Addr(), port)
		check(t, &Rules{AllowPorts: []uint16{22}}, data, rule)
	}
	other := fetch.Target{Locator: &locator.Opaque{Name: "whois"}, Network: "tcp", Host: "h.example", Port: 43}
	check(t, user, other, "reserved-port")
	check(t, &Rules{AllowPorts: []uint16{43}}, other, "")
}

// Cases 58, 69, 113, 114, 142: targets that links and redirects may not have.
func TestSchemesByProvenance(t *testing.T) {
	const page, peer = "http://example.com/", "1.1.1.1"
	for _, tc := range []struct {
		url          string
		from         fetch.Provenance
		user, public string
	}{
		{"file:///etc/passwd", typed, "", "local-file"},
		{"file:///etc/passwd", config, "", "local-file"},
		{"file:///etc/passwd", link(page, peer), "remote-to-local", "local-file"},
		{"file:///etc/passwd", redirect(page, peer), "remote-to-local", "local-file"},
		{"file:///etc/passwd", link("gopher://h/", "127.0.0.1"), "remote-to-local", "local-file"},
		{"file:///a/b", link("file:///a/", ""), "", "local-file"},
		{"http://host/", link("file:///a/", ""), "", ""},
		{"http://localhost/", link("file:///a/", ""), "loopback-address", "loopback-address"},
		{"http://127.0.0.1/", link("file:///a/", ""), "loopback-address", "loopback-address"},

		{"https://example.com/", redirect(page, peer), "", ""},
		{"ftp://example.com/", redirect(page, peer), "cross-scheme-redirect", "cross-scheme-redirect"},
		{"gopher://example.com:6600/", redirect(page, peer), "cross-scheme-redirect", "cross-scheme-redirect"},
		{"telnet://example.com/", redirect(page, peer), "cross-scheme-redirect", "cross-scheme-redirect"},
		{"wais://example.com/d", redirect(page, peer), "cross-scheme-redirect", "cross-scheme-redirect"},
		{"nntp://example.com/g", redirect(page, peer), "cross-scheme-redirect", "cross-scheme-redirect"},
		{"news:a.b", redirect(page, peer), "cross-scheme-redirect", "cross-scheme-redirect"},
		{"prospero://example.com/x", redirect(page, peer), "cross-scheme-redirect", "cross-scheme-redirect"},
		{"mailto:a@b", redirect(page, peer), "cross-scheme-redirect", "cross-scheme-redirect"},
		{"ftps://example.com/", redirect(page, peer), "cross-scheme-redirect", "cross-scheme-redirect"},
		{"gophers://example.com/", redirect(page, peer), "cross-scheme-redirect", "cross-scheme-redirect"},
		{"snews://example.com/a.b", redirect(page, peer), "cross-scheme-redirect", "cross-scheme-redirect"},
		{"x-anything:abc", redirect(page, peer), "cross-scheme-redirect", "cross-scheme-redirect"},
		{"ftp://example.com/", link(page, peer), "", ""},
		{"gopher://example.com/", redirect("prospero://h/x", peer), "", ""},
		{"gopher://example.com/", fetch.Provenance{Kind: fetch.OriginRedirect}, "cross-scheme-redirect", "cross-scheme-redirect"},
		{"http://example.com/", fetch.Provenance{Kind: fetch.OriginRedirect}, "", ""},
	} {
		check(t, user, at(t, tc.url, "", tc.from), tc.user)
		check(t, public, at(t, tc.url, "", tc.from), tc.public)
	}
	relaxed := &Rules{RedirectToFTP: true, LocalLinks: true}
	check(t, relaxed, at(t, "ftp://example.com/", "1.1.1.1", redirect(page, peer)), "")
	check(t, relaxed, at(t, "ftps://example.com/", "1.1.1.1", redirect(page, peer)), "")
	check(t, relaxed, at(t, "ftp://example.com/", "10.0.0.1", redirect(page, peer)), "private-address")
	check(t, relaxed, at(t, "gopher://example.com/", "", redirect(page, peer)), "cross-scheme-redirect")
	check(t, relaxed, at(t, "file:///a", "", link(page, peer)), "")
	check(t, relaxed, at(t, "file:///a", "", redirect(page, peer)), "cross-scheme-redirect")
}

func TestGopherForm(t *testing.T) {
	ask := &locator.Gopher{HostPort: locator.HostPort{Host: "h.example"}, Type: '0', Selector: "form", Plus: "+\t1\r\n+-1\r\nyes\r\n.\r\n", Fields: 2}
	view := &locator.Gopher{HostPort: locator.HostPort{Host: "h.example"}, Type: '0', Selector: "form", Plus: "+text/plain", Fields: 2}
	for _, from := range []fetch.Provenance{typed, config, link("gopher://h.example/", "1.1.1.1")} {
		rule := "state-changing-link"
		if from.Kind == fetch.OriginUser {
			rule = ""
		}
		check(t, user, fetch.Target{Locator: ask, From: from, Network: "tcp", Host: "h.example", Port: 70}, rule)
		check(t, user, fetch.Target{Locator: view, From: from, Network: "tcp", Host: "h.example", Port: 70}, "")
	}
}

func TestAllowZones(t *testing.T) {
	page := link("http://example.com/", "1.1.1.1")
	r := &Rules{AllowZones: []Zone{ZonePrivate, ZoneDocumentation, ZoneReserved}}
	check(t, r, at(t, "http://h.example/", "10.0.0.1", page), "")
	check(t, r, at(t, "http://h.example/", "203.0.113.7", page), "")
	check(t, r, at(t, "http://h.example/", "127.0.0.1", page), "loopback-address")
	check(t, r, at(t, "http://h.example/", "0.0.0.0", typed), "reserved-address")
	r.PublicOnly = true
	check(t, r, at(t, "http://h.example/", "10.0.0.1", typed), "")
	check(t, r, at(t, "http://h.example/", "127.0.0.1", typed), "loopback-address")
	check(t, &Rules{AllowZones: []Zone{ZoneLinkLocal}}, at(t, "http://h.example/", "169.254.169.254", page), "")
}

// A prefix permits addresses as a zone does.
func TestAllowPrefixes(t *testing.T) {
	page := link("http://example.com/", "1.1.1.1")
	var prefixes []netip.Prefix
	for _, s := range []string{"10.1.0.0/16", "127.0.0.1/32", "0.0.0.0/0", "fd00:1::/32", "::ffff:192.168.7.0/120"} {
		prefixes = append(prefixes, netip.MustParsePrefix(s))
	}
	for _, r := range []*Rules{{AllowPrefixes: prefixes[:2]}, {PublicOnly: true, AllowPrefixes: prefixes[:2]}} {
		check(t, r, at(t, "http://h.example/", "10.1.2.3", page), "")
		check(t, r, at(t, "http://h.example/", "10.2.2.3", page), "private-address")
		check(t, r, at(t, "http://h.example/", "::ffff:10.1.2.3", page), "")
		check(t, r, at(t, "http://h.example/", "64:ff9b::10.1.2.3", page), "private-address")
		check(t, r, at(t, "http://h.example/", "127.0.0.1", page), "")
		check(t, r, at(t, "http://localhost/", "", page), "")
		check(t, r, at(t, "http://h.example/", "127.0.0.2", page), "loopback-address")
		check(t, r, at(t, "gopher://h.example:25/", "10.1.2.3", page), "reserved-port")
	}
	r := &Rules{PublicOnly: true, AllowPrefixes: prefixes[2:]}
	check(t, r, at(t, "http://h.example/", "169.254.169.254", page), "")
	check(t, r, at(t, "http://h.example/", "0.0.0.0", typed), "reserved-address")
	check(t, r, at(t, "http://h.example/", "255.255.255.255", typed), "reserved-address")
	check(t, r, at(t, "http://h.example/", "fd00:1::1", page), "")
	check(t, r, at(t, "http://h.example/", "fd00:2::1", page), "private-address")
	r = &Rules{AllowPrefixes: prefixes[4:]}
	check(t, r, at(t, "http://h.example/", "192.168.7.9", page), "")
	check(t, r, at(t, "http://h.example/", "192.168.8.9", page), "private-address")
}

// A list of hosts restricts. What addresses its names may have is for the other rules, so that they
// cannot be bound to others in the DNS.
func TestOnlyHosts(t *testing.T) {
	page := link("http://www.example.org/", "1.1.1.1")
	r := &Rules{OnlyHosts: []string{"ftp.example.com.", "*.Example.org", "127.0.0.1", "::1", "localhost"}}
	for host, want := range map[string]string{
		"ftp.example.com": "", "FTP.Example.Com": "", "ftp.example.com.": "", "www.example.org": "", "a.b.example.ORG": "",
		"127.0.0.1": "", "[::1]": "", "localhost": "", "[::ffff:127.0.0.1]": "",
		"example.org": "unlisted-host", "badexample.org": "unlisted-host", "example.com": "unlisted-host", "x.ftp.example.com": "unlisted-host",
		"127.0.0.2": "unlisted-host", "[::2]": "unlisted-host", "x.localhost": "unlisted-host", "www.example.org.evil.example": "unlisted-host",
	} {
		check(t, r, at(t, "http://"+host+"/", "", typed), want)
	}
	check(t, r, at(t, "http://www.example.org/", "1.1.1.1", page), "")
	check(t, r, at(t, "http://www.example.org/", "10.0.0.1", page), "private-address")
	check(t, r, at(t, "http://www.example.org/", "169.254.169.254", typed), "link-local-address")
	check(t, r, at(t, "http://other.example/", "", page), "unlisted-host")
	r.PublicOnly = true
	check(t, r, at(t, "http://www.example.org/", "127.0.0.1", typed), "loopback-address")
	r.AllowZones = []Zone{ZonePrivate}
	check(t, r, at(t, "http://www.example.org/", "10.0.0.1", page), "")
	check(t, r, at(t, "http://other.example/", "10.0.0.1", page), "unlisted-host")

	proxied := at(t, "http://www.example.org/", "10.0.0.1", typed)
	proxied.Purpose, proxied.Host = fetch.PurposeProxy, "proxy.example"
	check(t, r, proxied, "")
	check(t, &Rules{OnlyHosts: []string{"*", "*.", ""}}, at(t, "http://h.example/", "", typed), "unlisted-host")
}

// A proxy may be in any zone, because the user configured it.
func TestProxy(t *testing.T) {
	for addr, rule := range map[string]string{"127.0.0.1": "", "10.0.0.1": "", "8.8.8.8": "", "0.0.0.0": "reserved-address"} {
		target := at(t, "http://example.com/", addr, link("http://example.com/", "1.1.1.1"))
		target.Purpose, target.Host, target.Port = fetch.PurposeProxy, "proxy.example", 888
		check(t, user, target, rule)
		check(t, public, target, rule)
	}
}

func TestDeniedText(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, tc := range []struct {
		rules  *Rules
		target fetch.Target
		want   string
	}{
		{user, at(t, "http://x.example/", "10.0.0.5", redirect("http://example.com/", "1.1.1.1")),
			"denied (rule private-address): redirect from http://example.com/ to 10.0.0.5:80; use policy.Rules.AllowZones with private to permit"},
		{user, at(t, "gopher://h.example:25/", "", typed),
			"denied (rule reserved-port): gopher on port 25 (smtp); use policy.Rules.AllowPorts with 25 to permit"},
		{user, at(t, "gopher://h.example:25/", "", link("gopher://m.example/", "1.1.1.1")),
			"denied (rule reserved-port): link from gopher://m.example/ to gopher on port 25 (smtp)"},
		{&Rules{PublicOnly: true}, at(t, "http://intranet.example/", "fd00::1", typed),
			"denied (rule private-address): http://intranet.example/ at [fd00::1]:80; use policy.Rules.AllowZones with private to permit"},
		{&Rules{PublicOnly: true}, at(t, "gopher://h.example:25/", "", config),
			"denied (rule reserved-port): gopher on port 25 (smtp); use policy.Rules.AllowPorts with 25 to permit"},
		{public, at(t, "http://intranet.example/", "fd00::1", typed),
			"denied (rule private-address): http://intranet.example/ at [fd00::1]:80; use policy.Rules.AllowZones with private to permit"},
		{user, at(t, "ftp://me:secret@h.example/", "0.0.0.0", typed),
			"denied (rule reserved-address): ftp://me:***@h.example/ at 0.0.0.0:21"},
		{user, at(t, "file:///etc/passwd", "", link("gopher://h.example/", "")),
			"denied (rule remote-to-local): link from gopher://h.example/ to a local file; use policy.Rules.LocalLinks to permit"},
		{user, at(t, "ftp://me:secret@h.example/"+long, "", redirect("http://example.com/"+long, "")),
			"denied (rule cross-scheme-redirect): redirect from http://example.com/" + long[:47] + "... to ftp://me:***@h.example/" + long[:57] +
				"...; use policy.Rules.RedirectToFTP to permit"},
	} {
		err := tc.rules.Allow(t.Context(), tc.target)
		if err == nil || err.Error() != tc.want {
			t.Errorf("got  %v\nwant %s", err, tc.want)
			continue
		}
		wrapped := driver.NewEnv(&fetch.Env{Allow: tc.rules.Allow}).Permit(t.Context(), tc.target)
		if !errors.Is(wrapped, fetch.ErrRefused) || !strings.Contains(wrapped.Error(), tc.want) {
			t.Errorf("wrapped: %v", wrapped)
		}
		if strings.Contains(wrapped.Error(), "secret") {
			t.Errorf("shows the password: %v", wrapped)
		}
	}
}
