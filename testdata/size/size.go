package gateway

import (
	"net/http"

	"github.com/fetch1738/fetch1738/gateway/internal/visible"
)

// size shows how large a document is.
func (v documentPages) size() error {
	found, err := v.up.attributes(v.up.request(v.req.loc))
	if err != nil {
		return err
	}
	return v.out.render(v.req, "size", http.StatusOK, &page{Main: visible.Size(found.Size)})
}
