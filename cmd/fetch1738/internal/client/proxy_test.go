package client

import (
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

// -x and --noproxy replace the environment's variables; empty ones too.
func TestProxyOptions(t *testing.T) {
	t.Setenv("ftp_proxy", "a")
	t.Setenv("no_proxy", "listed")
	given, none := "http://given:1", ""
	for _, c := range []struct {
		url, none *string
		text      string
		bypassed  bool
	}{
		{nil, nil, "a", true},
		{&given, &given, given, false},
		{&none, &none, none, false},
	} {
		o := &plan.Proxy{URL: c.url, None: c.none}
		if text, named := proxyText(o, "ftp"); text != c.text || !named {
			t.Errorf("the proxy is %q, %v; want %q", text, named, c.text)
		}
		if got := bypasses(o, "listed"); got != c.bypassed {
			t.Errorf("with the proxy %q the host is bypassed: %v", c.text, got)
		}
	}
}
