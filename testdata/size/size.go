package gateway

import "net/http"

// A sizePage says how large a document is; it is empty if that is not known.
type sizePage string

// size shows how large a document is.
func (v documentPages) size() error {
	req := v.request(v.loc)
	v.prepare(req)
	found, err := v.h.resolver().FindAttributes(v.context(), req)
	if err != nil {
		return err
	}
	return v.render("size", http.StatusOK, &page{Main: sizePage(sizeText(found.Size)).html})
}
