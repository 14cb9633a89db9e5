package interop

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files of testdata/gateway instead of comparing with them")

// TestGatewayDumps compares what lynx and w3m show of each page with testdata/gateway.
func TestGatewayDumps(t *testing.T) {
	t.Parallel()
	lynx, w3m := requireTool(t, "lynx"), requireTool(t, "w3m")
	w := newWorld(t)
	for _, tt := range slices.Concat(gatewayPages, pastPages) {
		if tt.name == "error-login" {
			continue // both ask for a name, and show nothing
		}
		t.Run(tt.name, func(t *testing.T) {
			start := w.gateway
			if slices.Contains(pastPages, tt) {
				start = pastGateway
			}
			for name, cmd := range map[string][]string{
				"lynx": {lynx, "-dump", "-nolist", "-width=80", "-display_charset=utf-8", "-assume_charset=utf-8"},
				"w3m":  {w3m, "-dump", "-cols", "80", "-I", "UTF-8", "-O", "UTF-8"},
			} {
				gw := start(t) // a new one: it has no session that another page has opened
				out := completePage(tt.path, func() string {
					out, _ := runTool(t, cmd[0], append(cmd[1:], gw+tt.path)...) // the code is that of the page's status
					return out
				})
				got := strings.ReplaceAll(out, strings.TrimPrefix(gw, "http://"), "GATEWAY")
				golden := filepath.Join("testdata", "gateway", tt.name+"."+name)
				if *update {
					writeFile(t, golden, got)
					continue
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("%s shows another page than %s, got:\n%s", name, golden, got)
				}
			}
		})
	}
}
