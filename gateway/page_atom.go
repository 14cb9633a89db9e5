package gateway

import (
	"net/http"

	"github.com/fetch1738/fetch1738/gateway/internal/atom"
)

// sendFeed sends a feed. An error is that of the connection.
func sendFeed(v *visit, feed *atom.Feed) {
	v.secureOctets(atom.MediaType)
	v.w.Header().Set("Content-Type", atom.MediaType+"; charset=utf-8")
	v.w.WriteHeader(http.StatusOK)
	if v.r.Method != http.MethodHead {
		_ = feed.Write(v.w)
	}
}
