package main

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

func TestRoutes(t *testing.T) {
	place := func(host string, port uint16) locator.HostPort { return locator.HostPort{Host: host, Port: port} }
	for text, want := range map[string]route{
		"a:1:b:2":         {place("a", 1), place("b", 2)},
		"::b:2":           {place("", 0), place("b", 2)},
		":1:b:":           {place("", 1), place("b", 0)},
		"::b":             {place("", 0), place("b", 0)},
		"a:1::2":          {place("a", 1), place("", 2)},
		"[::1]:1:[::2]:2": {place("::1", 1), place("::2", 2)},
		"::[::2]":         {place("", 0), place("::2", 0)},
		":::":             {},
	} {
		if got, err := parseRoute(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "a", "a:1", "a:x:b:1", "a:0:b:1", "a:1:b:65536", "a:1:b:2:c", "[a:1:b:2", "[::1]x:1:b:2"} {
		if got, err := parseRoute(bad); err == nil {
			t.Errorf("%s: %+v", bad, got)
		}
	}
}

func TestRouted(t *testing.T) {
	d := dialer{routes: []route{
		{locator.HostPort{Host: "a", Port: 21}, locator.HostPort{Host: "b", Port: 2121}},
		{locator.HostPort{Host: "s", Port: 990}, locator.HostPort{Host: "b", Port: 9990}},
		{locator.HostPort{Host: "a"}, locator.HostPort{Host: "c"}},
		{locator.HostPort{Port: 70}, locator.HostPort{Port: 7070}},
	}}
	for _, c := range []struct {
		url     string
		purpose fetch.Purpose
		host    string
		port    uint16
		want    string
	}{
		{"ftp://a/", fetch.Control, "A", 21, "b:2121"},
		{"ftp://a/", fetch.Data, "a", 40000, "b:40000"},
		{"ftp://a/", fetch.Data, "a", 70, "b:70"},
		{"ftp://a/", fetch.Data, "192.0.2.1", 40000, "192.0.2.1:40000"}, // where the control connection leads
		{"ftps://s/", fetch.Data, "s", 40000, "b:40000"},
		{"http://a/", fetch.Control, "a", 80, "c:80"},
		{"gopher://h/", fetch.Control, "h", 70, "h:7070"},
		{"http://h/", fetch.Control, "h", 80, "h:80"},
	} {
		l, err := locator.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		at := d.routed(fetch.Target{Locator: l, Purpose: c.purpose, Host: c.host, Port: c.port})
		if got := hostOf(locator.Server{HostPort: at}); got != c.want {
			t.Errorf("%s, %v to %s:%d: %s, want %s", c.url, c.purpose, c.host, c.port, got, c.want)
		}
	}
}

func TestHostEntries(t *testing.T) {
	addr := netip.MustParseAddr
	for text, want := range map[string]hostEntry{
		"h:80:127.0.0.1":          {locator.HostPort{Host: "h", Port: 80}, []netip.Addr{addr("127.0.0.1")}},
		"+h:80:::1,[::2],1.2.3.4": {locator.HostPort{Host: "h", Port: 80}, []netip.Addr{addr("::1"), addr("::2"), addr("1.2.3.4")}},
		"*:0:::ffff:1.2.3.4":      {locator.HostPort{Host: "*"}, []netip.Addr{addr("1.2.3.4")}},
		"-h:80":                   {HostPort: locator.HostPort{Host: "h", Port: 80}},
		"[::1]:80:127.0.0.1":      {locator.HostPort{Host: "::1", Port: 80}, []netip.Addr{addr("127.0.0.1")}},
	} {
		got, err := parseHostEntry(text)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(hostEntry{}), cmpopts.EquateComparable(netip.Addr{})); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
	for _, bad := range []string{"", "h", "h:80", "h:80:", "h:80:x", "h:80:1.2.3.4,", "h:x:1.2.3.4", "h:65536:1.2.3.4", ":80:1.2.3.4", "-h:80:1.2.3.4", "-h"} {
		if got, err := parseHostEntry(bad); err == nil {
			t.Errorf("%s: %+v", bad, got)
		}
	}
}

func FuzzRoutes(f *testing.F) {
	for _, seed := range []string{"a:1:b:2", "::[::2]:7", "h:80:127.0.0.1,[::1]", "-h:80", "[::1]:1:x:", "+*:1:::1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := parseRoute(text); err == nil && len(r.from.Host)+len(r.to.Host) > len(text) {
			t.Errorf("%q is %+v", text, r)
		}
		e, err := parseHostEntry(text)
		if err != nil {
			return
		}
		if removes := strings.HasPrefix(text, "-"); removes != (len(e.addrs) == 0) || e.Host == "" {
			t.Errorf("%q is %+v", text, e)
		}
		if addrs, ok := (hostTable{e}).find(e.Host, e.Port); ok != (len(addrs) > 0) || len(addrs) != len(e.addrs) {
			t.Errorf("%q: found %v, %v", text, addrs, ok)
		}
	})
}

// The password behind a certificate's name is no part of it.
func FuzzCertificateName(f *testing.F) {
	f.Add("a.pem:secret")
	f.Add(`a\:b\\c`)
	f.Fuzz(func(t *testing.T, text string) {
		c := newCommandLine(streams{})
		if err := setCertificate(c, text); err != nil {
			return
		}
		i := c.op.tls.identity
		if len(i.file)+len(i.password) > len(text) || !strings.HasSuffix(text, i.password) {
			t.Errorf("%q is %q, %q", text, i.file, i.password)
		}
	})
}
