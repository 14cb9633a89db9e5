package gateway

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/article"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/internal/entry"
)

// A groupPage is the data of the page of a newsgroup.
type groupPage struct {
	About   string            // how many articles the group has
	Posts   []*article.Post   // without threads
	Threads []*article.Thread // or these
	Views   []crumb           // other pages
	Search  *newsForm         // nil without a form
	Found   bool              // the articles are those of a search
	Cut     string
}

// group shows the articles of a newsgroup, the newest first, or all groups.
func (v newsPages) group(res *fetch.Resource) error {
	if entry.IsGroups(v.req.loc) {
		return v.groups(res)
	}
	posts := v.posts(res.Items)
	if v.req.wants("atom") {
		return v.atom(posts)
	}
	g := &groupPage{About: "The newsgroup has " + aboutGroup(res) + ".", Search: v.searchForm(), Cut: v.out.cut()}
	if v.req.wants("threads") {
		g.Threads = article.Threads(posts)
		v.label(g.Threads, nil)
	} else {
		slices.Reverse(posts)
		g.Posts = posts
	}
	article.MarkRepeatedPosts(posts)
	p := &page{Heading: groupName(v.req.loc), Feed: v.req.linkTo(v.req.loc).With("atom"), Main: g}
	if !v.req.native {
		g.Views = v.groupPages(res)
		p.Actions = v.groupActions()
	}
	return v.out.render(v.req, "group", http.StatusOK, p)
}

// aboutGroup says how many articles a group has.
func aboutGroup(res *fetch.Resource) string {
	count := article.Fields(res.Header).Get("Articles")
	switch count {
	case "", "0":
		return "no articles"
	case "1":
		return "1 article"
	}
	return "about " + count + " articles"
}

// groupAt is the link to a page of the group, from 1, as threads or as a list.
func (v newsPages) groupAt(page int, threads bool) place.Link {
	var query []string
	if threads {
		query = append(query, "threads")
	}
	if page > 1 {
		query = append(query, "page="+strconv.Itoa(page))
	}
	if len(query) == 0 {
		return v.req.linkTo(v.req.loc)
	}
	return v.req.linkTo(v.req.loc).With(strings.Join(query, "&"))
}

// groupPages are the links to other pages of a group.
func (v newsPages) groupPages(res *fetch.Resource) []crumb {
	var pages []crumb
	threads, page := v.req.wants("threads"), v.number()
	_, last, first := numbersOf(res)
	if page > 1 {
		pages = append(pages, crumb{"newer articles", v.groupAt(page-1, threads), threads})
	}
	if last-first >= int64(page)*groupRows {
		pages = append(pages, crumb{"older articles", v.groupAt(page+1, threads), threads})
	}
	return pages
}

// groupActions are the actions of the page of a group: the other view, the feed, and those of every URL.
func (v newsPages) groupActions() []crumb {
	other, threads, here := "Threads", v.req.wants("threads"), v.req.linkTo(v.req.loc)
	if threads {
		other = "List"
	}
	return append([]crumb{{other, v.groupAt(v.number(), !threads), !threads}, {"Atom feed", here.With("atom"), true}}, rawAndHow(here)...)
}
