package client

import (
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

// What Debian's curl 7.88 does with the same lists, asked of it.
func TestBypasses(t *testing.T) {
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
	} {
		o := &plan.Proxy{None: &c.list}
		if got := bypasses(o, c.host); got != c.want {
			t.Errorf("bypasses(%q) with %q: %v", c.host, c.list, got)
		}
	}
}

func TestProxyFromTheEnvironment(t *testing.T) {
	explicit := "http://given:1"
	none := ""
	for _, c := range []struct {
		env    map[string]string
		given  *string
		scheme string
		want   string
	}{
		{nil, nil, "ftp", ""},
		{map[string]string{"ftp_proxy": "a"}, nil, "ftp", "a"},
		{map[string]string{"FTP_PROXY": "b"}, nil, "ftp", "b"},
		{map[string]string{"ftp_proxy": "a", "FTP_PROXY": "b"}, nil, "ftp", "a"},
		{map[string]string{"HTTP_PROXY": "evil"}, nil, "http", ""},
		{map[string]string{"http_proxy": "a"}, nil, "http", "a"},
		{map[string]string{"all_proxy": "c"}, nil, "gopher", "c"},
		{map[string]string{"ALL_PROXY": "d", "gopher_proxy": "a"}, nil, "gopher", "a"},
		{map[string]string{"ALL_PROXY": "d"}, nil, "file", ""},
		{map[string]string{"ftp_proxy": "a"}, &explicit, "ftp", explicit},
		{map[string]string{"ftp_proxy": "a"}, &none, "ftp", ""},
	} {
		for _, name := range []string{"http_proxy", "HTTP_PROXY", "ftp_proxy", "FTP_PROXY", "gopher_proxy", "GOPHER_PROXY", "all_proxy", "ALL_PROXY"} {
			t.Setenv(name, c.env[name])
		}
		o := &plan.Proxy{URL: c.given}
		got, named := proxyText(o, c.scheme)
		if got != c.want {
			t.Errorf("%v: proxy of %s is %q, want %q", c.env, c.scheme, got, c.want)
		}
		if want := got != "" && got != "c" && got != "d"; got != "" && named != want {
			t.Errorf("%v: the proxy of %s is named for it: %v", c.env, c.scheme, named)
		}
	}
}
