package gateway

import (
	"net/http"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/locator"
)

// A searchPage is the data of the page of a search.
type searchPage struct {
	Form *searchForm
	Text string // what can be searched for; may be empty
}

// search shows the form of a search without words: gopher's type 7, a phone book or a Gopher+ form.
func (v gopherPages) search(res *fetch.Resource) error {
	if info, ok := res.Info.(*gopher.Info); ok && info.Attributes != nil && info.Attributes.Ask != nil {
		return v.form(info.Attributes)
	}
	if l, ok := v.req.loc.(*locator.Gopher); ok && l.Type == '2' {
		return v.phoneForm()
	}
	form := searchAt(v.req, v.req.loc)
	if form == nil {
		return &failure{Status: http.StatusBadRequest, Text: "The gateway cannot search here."}
	}
	return v.out.render(v.req, "search", http.StatusOK, &page{Main: &searchPage{Form: form}, Actions: v.actions()})
}
