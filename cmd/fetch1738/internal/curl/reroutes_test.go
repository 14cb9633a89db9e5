package curl

import (
	"strings"
	"testing"
)

func TestReroutes(t *testing.T) {
	for line, want := range map[string]bool{
		"": false, "-sO": false, "-o x": false, "--output=-x": false, "-L -v --limit-rate 1k": false, "--max-time 3 -C -": false, "-- -x": true,
		"-x socks5://h": true, "-xh": true, "-sx h": true, "--proxy h": true, "--proxy=h": true, "--expand-proxy {{p}}": true, "-sOxh": true,
		"--ssl-reqd": true, "-k": true, "--no-ssl-reqd": true, "-u me": true, "-n": true, "--netrc-file f": true, "--connect-to a:b:c:d": true,
		"--interface tun0": true, "--resolve h:1:2": true, "--dns-servers 1.1.1.1": true, "--gateway ftp=http://h/": true, "-K f": true, "-q": true, "-4": true,
		"'-x' h": true, `"-x" h`: true, `\-x h`: true, "$options": true, `"$options"`: true, "`cat`": true, `--pro"xy" h`: true, "--$x": true,
		"mirror -l --delete": false, "-oxk": false, "é": false, "--no-such-option": false, "'ftp://h/a b": false,
	} {
		if got := Reroutes(strings.Fields(line)); got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}
