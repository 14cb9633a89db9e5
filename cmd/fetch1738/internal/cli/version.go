package cli

import (
	"fmt"
	"runtime"
	"strings"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/version"
)

// features lists the features of curl that this program has, in curl's order and spelling.
const features = "AsynchDNS IPv6 Largefile libz SSL"

// Version returns the output of --version in the format of curl -V, for scripts that parse it.
func Version() string {
	return fmt.Sprintf("fetch1738 %s (%s-%s) %s\nRelease-Date: %s\nProtocols: %s\nFeatures: %s\n",
		version.String(), runtime.GOOS, runtime.GOARCH, strings.Replace(runtime.Version(), "go", "Go/", 1),
		version.Date(), strings.Join(fetch1738.Schemes(), " "), features)
}
