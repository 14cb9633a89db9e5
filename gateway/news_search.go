package gateway

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/gateway/internal/article"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
)

// searchTime is the limit of the time of a search.
const searchTime = time.Minute

// A newsForm is the form that searches a group, or all groups.
type newsForm struct {
	Action        place.Link
	Hidden        []fetch.Field
	Words, Author string // that are filled in
	InGroup       bool   // an author can be given
}

// newsQuery is what the client searches for in the group of the page.
func (v newsPages) newsQuery() article.Query {
	if v.native {
		return article.Query{}
	}
	return article.NewQuery(v.query.Get("q"), v.query.Get("author"))
}

// searches reports whether the client searches a group.
func (v newsPages) searches() bool {
	switch l := v.loc.(type) {
	case *locator.News:
		return l.Group != "" && !v.newsQuery().Empty() && !v.wants("atom")
	case *locator.NNTP:
		return l.Article == "" && !v.newsQuery().Empty() && !v.wants("atom")
	}
	return false
}

// search shows the articles of a group that have the words of the query, the newest first.
func (v newsPages) search() error {
	ctx, cancel := context.WithTimeout(v.context(), searchTime)
	defer cancel()
	q, number := v.newsQuery(), v.number()
	req := v.request(v.loc)
	req.Options = &nntp.Options{Newest: searchRows, Skip: int64(number-1) * searchRows, Match: q.Matches(), OverviewOnly: true}
	v.prepare(req)
	req.Query = ""
	res, err := v.h.resolver().Fetch(ctx, req)
	if err != nil {
		return err
	}
	defer res.Close()
	res.Items = q.Found(res.Items)
	if format := directoryPages(v).format(); format != nil {
		return directoryPages(v).formatted(res, format)
	}
	var posts []*article.Post
	count := 0
	for item, err := range res.Items {
		if err != nil {
			v.err = err
			break
		}
		if count++; len(posts) == 2*groupRows {
			posts = slices.Delete(posts, 0, groupRows)
		}
		posts = append(posts, v.postOf(&item))
	}
	posts = posts[max(0, len(posts)-groupRows):]
	slices.Reverse(posts)
	g := &groupPage{About: aboutFound(res, count, number), Posts: posts, Search: v.searchForm(), Cut: v.cut(), Found: true}
	query := url.Values{}
	for _, name := range []string{"q", "author"} {
		if value := v.query.Get(name); value != "" {
			query.Set(name, value)
		}
	}
	here := v.linkTo(v.loc)
	if _, last, first := numbersOf(res); last-first >= int64(number)*searchRows {
		query.Set("page", strconv.Itoa(number+1))
		g.Views = append(g.Views, crumb{"search older articles", here.With(query.Encode()), true})
	}
	actions := append([]crumb{{Text: "All articles", Link: here}}, rawAndHow(here)...)
	return v.render("group", http.StatusOK, &page{Heading: groupName(v.loc), Actions: actions, Main: g})
}

// aboutFound says how many articles were found, and among which.
func aboutFound(res *fetch.Resource, count, page int) string {
	text := fmt.Sprintf("%d articles match", count)
	switch {
	case count == 0:
		text = "No articles match"
	case count == 1:
		text = "1 article matches"
	case count > groupRows:
		text += fmt.Sprintf("; these are the newest %d", groupRows)
	}
	if numbers, _, _ := numbersOf(res); numbers > searchRows {
		text += fmt.Sprintf(". Searched: article numbers %d to %d of %d, the newest first", (page-1)*searchRows+1, min(int64(page)*searchRows, numbers), numbers)
	}
	return text + "."
}

// numbersOf returns how many article numbers a group has, the last one and the first one.
func numbersOf(res *fetch.Resource) (count, last, first int64) {
	header := article.Fields(res.Header)
	first, _ = strconv.ParseInt(header.Get("First"), 10, 64)
	last, _ = strconv.ParseInt(header.Get("Last"), 10, 64)
	return max(0, last-first+1), last, first
}

// searchForm is the form on the page of a group, or of all groups; nil if the client cannot use it.
func (v newsPages) searchForm() *newsForm {
	if v.native {
		return nil
	}
	l, ok := v.loc.(*locator.News)
	form := &newsForm{Words: visible(v.query.Get("q")), Author: visible(v.query.Get("author")), InGroup: !ok || !l.All}
	form.Action, form.Hidden = v.linkTo(v.loc).Form()
	return form
}
