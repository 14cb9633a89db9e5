package gateway

import (
	"path"

	"github.com/fetch1738/fetch1738/gateway/internal/webapp"
)

// manifest sends the description of the gateway as an app.
func (v front) manifest() {
	var schemes []string
	for _, scheme := range registered {
		schemes = append(schemes, scheme.Scheme)
	}
	v.out.static(v.req, "manifest", "application/manifest+json", webapp.Manifest(v.req.prefix+"/", schemes))
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
	v.out.static(v.req, "icon", mediaType, v.req.h.templates().icons[name])
}
