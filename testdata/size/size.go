package gateway

import "net/http"

// size shows how large a document is.
func (v documentPages) size() error {
	req := v.request(v.loc)
	v.prepare(req)
	found, err := v.h.resolver().FindAttributes(v.context(), req)
	if err != nil {
		return err
	}
	return v.render("size", http.StatusOK, &page{Main: sizeText(found.Size)})
}
