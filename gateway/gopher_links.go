package gateway

import (
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/locator"
)

// maxMenuRows is how many lines of a menu are shown.
const maxMenuRows = 20_000

// gopherPages show menus, searches, phone books, Gopher+ items and their forms.
type gopherPages pages

// actions are those of a page of gopher; nil means the usual ones.
func (v gopherPages) actions() []crumb {
	l, ok := v.req.loc.(*locator.Gopher)
	if !ok || v.req.native {
		return nil
	}
	var links []crumb
	if (l.Type == '1' || l.Type == 0) && l.Search == "" && l.Plus == "" {
		links = append(links, crumb{"Download folder", v.req.linkTo(l).With("tar"), true})
	}
	links = append(links, rawAndHow(v.req.linkTo(l))...)
	if way := gopherWay(v.req, l); len(way) > 1 {
		links = append(links, crumb{Text: "Up (a guess)", Link: way[len(way)-2].Link})
	}
	return links
}

// A searchForm is a form for search words.
type searchForm struct {
	Action      place.Link    // the page of what is searched
	Hidden      []fetch.Field // the query of Action, which a form would replace
	ID          string        // of the input, unique in the page
	Label       string
	Words       string // what is filled in
	Placeholder string
}

// searchAt is the form for search words at a Locator; nil if nothing can be searched there. The
// words of the Locator are filled in.
func searchAt(q *request, l locator.Locator) *searchForm {
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
	form.Words = visible.Name(form.Words)
	form.Action, form.Hidden = q.linkTo(&at).Form()
	return form
}
