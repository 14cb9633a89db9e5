package proxy

import (
	"net/netip"
	"strings"
	"testing"
)

// What Debian's curl 7.88 does with the same lists, asked of it.
func TestListed(t *testing.T) {
	for _, c := range []struct {
		list, host string
		want       bool
	}{
		{"", "h", false}, {"*", "h", true}, {"h", "h", true}, {"h", "H", true}, {"h", "x.h", true}, {"h", "xh", false},
		{".h", "x.h", true}, {".h", "h", true}, {"h.", "h", true}, {"h", "h.", true},
		{"a,h", "h", true}, {"a, h", "h", true}, {"a h", "h", true}, {"a  , h", "h", true}, {",,", "h", false}, {",h", "h", true}, {".", "h", false},
		{"*,a", "h", false}, {"a,*", "h", false}, {"*.h", "x.h", false}, {"..h", "x.h", false}, {"h:2", "h", false},
		{"10.0.0.0/8", "10.1.2.3", true}, {"10.0.0.0/8", "11.1.2.3", false}, {"10.0.0.0/8", "x.10.0.0.0", false}, {"10.0.0.0/33", "10.1.2.3", false},
		{"10.1.2.3", "10.1.2.3", true}, {"10.1.2.3/32", "10.1.2.3", true}, {"10.1.2", "10.1.2.3", false}, {".1.2.3", "10.1.2.3", false},
		{"10.0.0.0/0", "10.0.0.0", true}, {"10.0.0.0/0", "11.0.0.0", false}, {"10.1.2.3:2", "10.1.2.3", false}, {"127.0.0.1.", "127.0.0.1", false},
		{"localhost", "127.0.0.1", false}, {"127.0.0.1", "::ffff:127.0.0.1", false}, {"::1", "::1", true},
		// Debian's curl 7.88 knows none of these; later ones do.
		{"[::1]", "::1", true}, {"::/8", "::1", true}, {"fe80::/10", "fe80::1", true}, {"fe80::/10", "::1", false}, {"0:0:0:0:0:0:0:1", "::1", true},
		// An entry without a zone holds the address in every zone.
		{"fe80::/10", "fe80::1%eth0", true}, {"[fe80::1]", "fe80::1%eth0", true}, {"fe80::1%eth0", "fe80::1%eth0", true},
		{"fe80::1%eth1", "fe80::1%eth0", false}, {"fe80::1%eth0", "fe80::1", false},
		// A name beyond ASCII is one name in both forms.
		{"münchen.example", "xn--mnchen-3ya.example", true}, {".MÜNCHEN.example.", "ftp.xn--mnchen-3ya.example", true},
		{"xn--mnchen-3ya.example", "münchen.example.", true}, {"münchen.example", "munchen.example", false},
	} {
		if got := Listed(c.list, c.host); got != c.want {
			t.Errorf("Listed(%q, %q): %v", c.list, c.host, got)
		}
	}
}

// The variables, in the order in which they count.
func TestVariable(t *testing.T) {
	for _, c := range []struct {
		env          map[string]string
		scheme, want string
	}{
		{nil, "ftp", ""},
		{map[string]string{"ftp_proxy": "a"}, "ftp", "a"},
		{map[string]string{"FTP_PROXY": "b"}, "ftp", "b"},
		{map[string]string{"ftp_proxy": "a", "FTP_PROXY": "b"}, "ftp", "a"},
		{map[string]string{"HTTP_PROXY": "evil"}, "http", ""},
		{map[string]string{"http_proxy": "a"}, "http", "a"},
		{map[string]string{"all_proxy": "c"}, "gopher", "c"},
		{map[string]string{"ALL_PROXY": "d", "gopher_proxy": "a"}, "gopher", "a"},
		{map[string]string{"ALL_PROXY": "d"}, "file", ""},
	} {
		setProxies(t, c.env)
		got, own := Variable(c.scheme)
		if got != c.want {
			t.Errorf("%v: the proxy of %s is %q, want %q", c.env, c.scheme, got, c.want)
		}
		if want := got != "" && got != "c" && got != "d"; got != "" && own != want {
			t.Errorf("%v: the proxy of %s is its own: %v", c.env, c.scheme, own)
		}
	}
}

// setProxies sets the variables for proxies, and no others of them.
func setProxies(t *testing.T, env map[string]string) {
	for _, name := range []string{"http_proxy", "HTTP_PROXY", "ftp_proxy", "FTP_PROXY", "gopher_proxy", "GOPHER_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"} {
		t.Setenv(name, env[name])
	}
}

func TestFromEnvironment(t *testing.T) {
	for _, c := range []struct {
		env                map[string]string
		scheme, host, want string
	}{
		{nil, "ftp", "h.example", ""},
		{map[string]string{"ftp_proxy": "p.example:3128"}, "ftp", "h.example", "http://p.example:3128"},
		{map[string]string{"ftp_proxy": "p.example:3128"}, "ftp", "127.0.0.1", "http://p.example:3128"},
		{map[string]string{"ftp_proxy": "p.example:3128"}, "gopher", "h.example", ""},
		{map[string]string{"all_proxy": "socks5h://p.example"}, "nntp", "h.example", "socks5h://p.example"},
		{map[string]string{"all_proxy": "p.example", "no_proxy": "example"}, "nntp", "h.example", ""},
		{map[string]string{"all_proxy": "p.example", "NO_PROXY": "*"}, "nntp", "h.example", ""},
		{map[string]string{"all_proxy": "p.example", "no_proxy": "other", "NO_PROXY": "*"}, "nntp", "h.example", "http://p.example"},
	} {
		setProxies(t, c.env)
		p, err := FromEnvironment(c.scheme, c.host)
		switch {
		case err != nil:
			t.Errorf("%v: %v", c.env, err)
		case p == nil && c.want != "", p != nil && p.String() != c.want:
			t.Errorf("%v: the proxy of %s to %s is %v, want %q", c.env, c.scheme, c.host, p, c.want)
		}
	}
	setProxies(t, map[string]string{"ftp_proxy": "https://me:secret@p.example"})
	if p, err := FromEnvironment("ftp", "h.example"); err == nil {
		t.Errorf("a proxy of an unknown scheme is %v", p)
	}
}

// FuzzListed checks that the case of letters, other entries and the end of a name change nothing, and
// that a host which is an entry itself needs no proxy.
func FuzzListed(f *testing.F) {
	f.Add("a, .h", "x.h")
	f.Add("10.0.0.0/8,[::1]", "10.1.2.3")
	f.Add("*", "h")
	f.Fuzz(func(t *testing.T, list, host string) {
		listed := Listed(list, host)
		if upper := strings.ToUpper(host); !strings.Contains(host, "%") && strings.ToLower(upper) == host && Listed(list, upper) != listed {
			t.Errorf("%q: %q %v, %q %v", list, host, listed, upper, !listed)
		}
		_, noAddr := netip.ParseAddr(host)
		if noAddr != nil && host != "" && !strings.HasSuffix(host, ".") && Listed(list, host+".") != listed {
			t.Errorf("%q: %q %v, with a dot %v", list, host, listed, !listed)
		}
		if list != "*" && Listed("other.example "+list, host) != (listed || Listed("other.example", host)) {
			t.Errorf("%q: %q %v, behind another entry %v", list, host, listed, !listed)
		}
		if strings.Trim(host, ".") == host && host != "" && !strings.ContainsAny(host, ", \t/[") && !Listed(list+","+host, host) {
			t.Errorf("%q is not listed in %q", host, list+","+host)
		}
	})
}
