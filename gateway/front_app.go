package gateway

import (
	"path"

	"github.com/fetch1738/fetch1738/gateway/internal/webapp"
)

// manifestPath is the path of the manifest, below the Prefix.
const manifestPath = "/manifest.webmanifest"

// manifest sends the description of the gateway as an app.
func (v front) manifest() {
	var schemes []string
	for _, scheme := range registered {
		schemes = append(schemes, scheme.Scheme)
	}
	v.static("manifest", "application/manifest+json", webapp.Manifest(v.h.Prefix+"/", schemes))
}

// icon sends an icon of the gateway.
func (v front) icon(name string) {
	if name == "favicon.ico" { // for a browser that has read no page
		name = "icon-192.png"
	}
	mediaType := "image/png"
	if path.Ext(name) == ".svg" {
		mediaType = "image/svg+xml"
	}
	v.static("icon", mediaType, v.h.templates().icons[name])
}
