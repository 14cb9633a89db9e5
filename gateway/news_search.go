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
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/locator"
)

// searchTime is the limit of the time of a search.
const searchTime = time.Minute

// searches reports whether the client searches a group.
func (v newsPages) searches() bool {
	switch l := v.req.loc.(type) {
	case *locator.News:
		return l.Group != "" && !v.newsQuery().Empty() && !v.req.wants("atom")
	case *locator.NNTP:
		return l.Group != "" && l.Article == "" && !v.newsQuery().Empty() && !v.req.wants("atom")
	}
	return false
}

// search shows the articles of a group that have the words of the query, the newest first.
func (v newsPages) search() error {
	ctx, cancel := context.WithTimeout(v.up.ctx, searchTime)
	defer cancel()
	q, number := v.newsQuery(), v.number()
	req := v.up.news(v.req.loc, nntp.Options{Newest: searchRows, Skip: int64(number-1) * searchRows, Match: q.Matches(), OverviewOnly: true})
	req.Query = ""
	res, err := v.up.resolver.Fetch(ctx, req)
	if err != nil {
		return err
	}
	defer res.Close()
	res.Items = q.Found(res.Items)
	if format := formatOf(v.req); format != nil {
		return v.out.formatted(v.req, res, format)
	}
	var posts []*article.Post
	count := 0
	for item, err := range res.Items {
		if err != nil {
			v.out.err = err
			break
		}
		if count++; len(posts) == 2*groupRows {
			posts = slices.Delete(posts, 0, groupRows)
		}
		posts = append(posts, v.postOf(&item))
	}
	posts = posts[max(0, len(posts)-groupRows):]
	slices.Reverse(posts)
	g := &groupPage{About: aboutFound(res, count, number), Posts: posts, Search: v.searchForm(), Cut: v.out.cut(), Found: true}
	query := url.Values{}
	for _, name := range []string{"q", "author"} {
		if value := v.req.query.Get(name); value != "" {
			query.Set(name, value)
		}
	}
	here := v.req.linkTo(v.req.loc)
	if _, last, first := numbersOf(res); last-first >= int64(number)*searchRows {
		query.Set("page", strconv.Itoa(number+1))
		g.Views = append(g.Views, crumb{"search older articles", here.With(query.Encode()), true})
	}
	actions := append([]crumb{{Text: "All articles", Link: here}}, rawAndHow(here)...)
	return v.out.render(v.req, "group", http.StatusOK, &page{Heading: groupName(v.req.loc), Actions: actions, Main: g})
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

// findArticle leads from a message-id to the article of that number, in the group that the Locator names.
func (v newsPages) findArticle() error {
	id := "<" + v.req.query.Get("id") + ">"
	req := v.up.news(v.req.loc, nntp.Options{Newest: searchRows})
	res, err := v.up.fetch(req)
	if err != nil {
		return err
	}
	defer res.Close()
	for item, err := range res.Items {
		if err != nil {
			return err
		}
		if article.Fields(item.Header).Get("Message-ID") == id && item.Locator != nil {
			v.out.redirect(v.req, place.Of(item.Locator))
			return nil
		}
	}
	return &failure{Status: http.StatusNotFound, Text: "The group does not have this article.", Detail: visible.Name(id)}
}
