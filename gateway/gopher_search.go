package gateway

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
)

// A searchForm is a form for search words.
type searchForm struct {
	Action      place.Link    // the page of what is searched
	Hidden      []fetch.Field // the query of Action, which a form would replace
	ID          string        // of the input, unique in the page
	Label       string
	Words       string // what is filled in
	Placeholder string
}

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
	if l, ok := v.loc.(*locator.Gopher); ok && l.Type == '2' {
		return v.phoneForm()
	}
	form := v.searchAt(v.loc)
	if form == nil {
		return &failure{Status: http.StatusBadRequest, Text: "The gateway cannot search here."}
	}
	return v.render("search", http.StatusOK, &page{Main: &searchPage{Form: form}, Actions: v.actions()})
}

// searchAt is the form for search words at a Locator; nil if nothing can be searched there. The
// words of the Locator are filled in.
func (v gopherPages) searchAt(l locator.Locator) *searchForm {
	g, ok := l.(*locator.Gopher)
	if !ok {
		return nil
	}
	at, form := *g, &searchForm{ID: "q", Label: "Search words", Words: g.Search}
	if selector, words, ok := g.SearchWords(); ok {
		at.Selector, form.Words = selector, words
	}
	at.Search, at.Plus, at.Fields = "", "", 0
	if strings.Contains(at.Selector, "?") {
		at.Fields = 1 // so that the "?" is a part of the selector
	}
	form.Words = visible(form.Words)
	form.Action, form.Hidden = v.linkTo(&at).Form()
	return form
}

// takeQuery takes a query without a name for the words of a search, where one is possible.
func (v gopherPages) takeQuery() {
	g, _ := v.loc.(*locator.Gopher)
	w, _ := v.loc.(*locator.WAIS)
	words, err := url.QueryUnescape(v.r.URL.RawQuery)
	if err == nil && front(v).strays() && (g != nil && strings.ContainsRune("27", rune(g.Type)) || w != nil && w.Form != locator.WAISDocument) {
		v.query = url.Values{"q": {words}}
	}
}

// takeWords puts the search words of the query into v.loc, so that the page, its links and the log
// have the URL of the search.
func (v gopherPages) takeWords() {
	l, ok := v.loc.(*locator.Gopher)
	if !ok || l.Type != '7' && l.Type != '2' {
		return
	}
	words, selector := v.query.Get("q"), l.Selector
	if before, after, ok := l.SearchWords(); ok && v.native {
		// The form of a page has added "?q=words" to the URL.
		if q, ok := strings.CutPrefix(after, "q="); ok {
			selector, words = before, q
		}
	}
	words = strings.TrimSpace(inOneLine(words))
	if words == "" {
		return
	}
	with := *l
	with.Selector, with.Search, with.Fields, with.HasPath = selector, words, max(l.Fields, 1), true
	v.loc = &with
	v.query.Del("q")
}

// inOneLine replaces the octets that would end a line or a field of a request by spaces.
func inOneLine(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c < ' ' || c == 0x7f {
			b[i] = ' '
		}
	}
	return string(b)
}
