package gateway

import (
	"net/http"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/locator"
)

// A homePage is the data of the page where a person enters a URL.
type homePage struct {
	Setup, Help       place.Link
	News              *newsCard // nil without a news server
	Examples, Schemes []example
}

// A newsCard is what the first page shows of the news server.
type newsCard struct {
	Server string
	All    place.Link
	Groups []crumb
}

// home is the page where a person enters a URL.
func (v front) home() error {
	if v.req.h.Archive != nil {
		return v.archive()
	}
	if v.out.enter(v.req) {
		return nil
	}
	data := homePage{Setup: v.req.ownPage("/setup"), Help: v.req.ownPage("/help"), News: v.news()}
	for _, scheme := range []string{"ftp", "gopher", "nntp"} {
		form, _ := place.FormOf(scheme)
		data.Examples = append(data.Examples, v.examples(form.Examples...)...)
	}
	for _, s := range [][2]string{{"ftp", "files and folders"}, {"gopher", "menus, documents and searches"}, {"news", "newsgroups of a news server"}, {"nntp", "newsgroups of any server"}, {"wais", "databases to search"}, {"prospero", "files and folders"}} {
		data.Schemes = append(data.Schemes, example{s[0], v.req.ownPage("/" + s[0] + "/"), s[1]})
	}
	return v.out.render(v.req, "home", http.StatusOK, &page{Heading: "Pages of ftp, gopher, news and wais", Title: "fetch1738 gateway", Early: true, Main: data})
}

// news is what the first page shows of the news server. The page does not wait for the server: it has
// the groups that have come so far. A link of another site does not make the gateway ask.
func (v front) news() *newsCard {
	host := v.up.resolver.Env.NewsServer
	if host == "" {
		return nil
	}
	card := &newsCard{Server: visible.Name(host), All: v.req.linkTo(&locator.News{All: true})}
	if !v.req.crossSite {
		ctx := fetch.WithAllow(v.req.r.Context(), v.req.allow)
		for _, group := range v.req.h.groups.Get(ctx, v.up.resolver) {
			card.Groups = append(card.Groups, crumb{Text: visible.Name(group), Link: v.req.linkTo(&locator.News{Group: group})})
		}
	}
	return card
}

// help is the page about the gateway itself.
func (v front) help() error {
	return v.out.render(v.req, "help", http.StatusOK, &page{Heading: "Help", Title: "Help of the fetch1738 gateway", Early: true, Main: helpPage{v.req.ownPage("/"), v.req.ownPage("/setup"), v.req.origin() + v.req.prefix, v.req.h.Archive != nil}})
}

// A helpPage is the data of the page about the gateway itself.
type helpPage struct {
	Home, Setup place.Link
	Base        string // the URL of the gateway, without a slash at the end
	Archive     bool   // the pages are those of an archive
}
