package dial

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fetch1738/fetch1738/locator"
)

func TestRoutes(t *testing.T) {
	place := func(host string, port uint16) locator.HostPort { return locator.HostPort{Host: host, Port: port} }
	for text, want := range map[string]Route{
		"a:1:b:2":         {place("a", 1), place("b", 2)},
		"::b:2":           {place("", 0), place("b", 2)},
		":1:b:":           {place("", 1), place("b", 0)},
		"::b":             {place("", 0), place("b", 0)},
		"a:1::2":          {place("a", 1), place("", 2)},
		"[::1]:1:[::2]:2": {place("::1", 1), place("::2", 2)},
		"::[::2]":         {place("", 0), place("::2", 0)},
		":::":             {},
	} {
		if got, err := ParseRoute(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "a", "a:1", "a:x:b:1", "a:0:b:1", "a:1:b:65536", "a:1:b:2:c", "[a:1:b:2", "[::1]x:1:b:2"} {
		if got, err := ParseRoute(bad); err == nil {
			t.Errorf("%s: %+v", bad, got)
		}
	}
}

func TestHostEntries(t *testing.T) {
	addr := netip.MustParseAddr
	for text, want := range map[string]HostEntry{
		"h:80:127.0.0.1":          {locator.HostPort{Host: "h", Port: 80}, []netip.Addr{addr("127.0.0.1")}},
		"+h:80:::1,[::2],1.2.3.4": {locator.HostPort{Host: "h", Port: 80}, []netip.Addr{addr("::1"), addr("::2"), addr("1.2.3.4")}},
		"*:0:::ffff:1.2.3.4":      {locator.HostPort{Host: "*"}, []netip.Addr{addr("1.2.3.4")}},
		"-h:80":                   {HostPort: locator.HostPort{Host: "h", Port: 80}},
		"[::1]:80:127.0.0.1":      {locator.HostPort{Host: "::1", Port: 80}, []netip.Addr{addr("127.0.0.1")}},
	} {
		got, err := ParseHostEntry(text)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(HostEntry{}), cmpopts.EquateComparable(netip.Addr{})); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
	for _, bad := range []string{"", "h", "h:80", "h:80:", "h:80:x", "h:80:1.2.3.4,", "h:x:1.2.3.4", "h:65536:1.2.3.4", ":80:1.2.3.4", "-h:80:1.2.3.4", "-h"} {
		if got, err := ParseHostEntry(bad); err == nil {
			t.Errorf("%s: %+v", bad, got)
		}
	}
}

func FuzzRoutes(f *testing.F) {
	for _, seed := range []string{"a:1:b:2", "::[::2]:7", "h:80:127.0.0.1,[::1]", "-h:80", "[::1]:1:x:", "+*:1:::1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := ParseRoute(text); err == nil && len(r.From.Host)+len(r.To.Host) > len(text) {
			t.Errorf("%q is %+v", text, r)
		}
		e, err := ParseHostEntry(text)
		if err != nil {
			return
		}
		if removes := strings.HasPrefix(text, "-"); removes != (len(e.Addrs) == 0) || e.Host == "" {
			t.Errorf("%q is %+v", text, e)
		}
		if addrs, ok := (HostTable{e}).find(e.Host, e.Port); ok != (len(addrs) > 0) || len(addrs) != len(e.Addrs) {
			t.Errorf("%q: found %v, %v", text, addrs, ok)
		}
	})
}
