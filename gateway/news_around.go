package gateway

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/gateway/internal/article"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/internal/text/date822"
	"github.com/fetch1738/fetch1738/locator"
)

// What is requested around an article, by one command. An article is shown without it after aroundTime.
const (
	aroundBefore = 100 // numbers
	aroundAfter  = 100
	maxAround    = 300 // entries that are read, whatever was requested
	aroundTime   = 5 * time.Second
)

// A neighbour is a link to an article near the one of the page.
type neighbour struct {
	crumb
	Rel string // as browsers have it, or empty
}

// The surroundings are what stands around an article in its group.
type surroundings struct {
	Parent         *crumb  // what it replies to; nil if that is nothing
	References     []crumb // the articles before it in its thread, oldest first
	Neighbours     []neighbour
	Thread         []*article.Thread // the one with the article, if it has others
	Near           bool              // only those near the article are in Thread
	Count, Replies int               // of the articles in the thread; of those that reply to this one
}

// here is the article of the page as a post of its group, and the number where others are looked for:
// 0 means among the newest. The group is empty if it is not known.
func (v articlePages) here(h article.Fields) (group string, number int64, post *article.Post) {
	post = &article.Post{
		Subject: subject(h.Get("Subject"), charset.Charset{}), From: author(h.Get("From"), charset.Charset{}), Date: date822.Parse(h.Get("Date")),
		Link: v.req.linkTo(v.req.loc), References: article.MessageIDs(h.Get("References")),
	}
	post.Text = post.Subject
	if ids := article.MessageIDs(h.Get("Message-ID")); len(ids) == 1 {
		post.ID = ids[0]
	}
	if l, ok := v.req.loc.(*locator.NNTP); ok {
		number, _ = strconv.ParseInt(l.Article, 10, 64)
		post.Number = strconv.FormatInt(number, 10)
		return l.Group, number, post
	}
	group, number = h.Stands()
	return group, number, post
}

// around returns what stands around the article of the page, from one listing of its group. The second
// result says why it is not known, for the reader.
func (v articlePages) around(h article.Fields) (*article.Setting, string) {
	group, number, post := v.here(h)
	l := newsPages(v).groupOf(group)
	if l == nil {
		return article.Around(nil, post), ""
	}
	ctx, cancel := context.WithTimeout(v.up.ctx, aroundTime)
	defer cancel()
	options := nntp.Options{OverviewOnly: true, Newest: aroundBefore + aroundAfter}
	if number > 0 {
		options = nntp.Options{OverviewOnly: true, List: true, Articles: fmt.Sprintf("%d-%d", max(1, number-aroundBefore), number+aroundAfter)}
	}
	req := v.up.news(l, options)
	req.Query = ""
	res, err := v.up.resolver.Fetch(ctx, req)
	if err != nil {
		return article.Around(nil, post), v.unlisted(err)
	}
	defer res.Close()
	var posts []*article.Post
	for item, err := range res.Items {
		if err != nil {
			return article.Around(posts, post), v.unlisted(err)
		}
		if posts = append(posts, newsPages(v).postOf(&item)); len(posts) == maxAround {
			break
		}
	}
	return article.Around(posts, post), ""
}

// unlisted says that the group of an article cannot be listed. In an archive, that is usual.
func (v articlePages) unlisted(err error) string {
	if v.req.h.Archive != nil {
		return ""
	}
	return "The other articles of the group are not shown: " + visible.Name(err.Error())
}

// settle shows where the article stands in its group. It adds a remark to notes if that is not known.
func (v articlePages) settle(h article.Fields, notes []string) (a surroundings, more []string) {
	if v.req.r.Method == http.MethodHead {
		return a, notes
	}
	s, note := v.around(h)
	if note != "" {
		notes = append(notes, note)
	}
	for _, n := range []struct {
		post      *article.Post
		text, rel string
	}{{s.Previous, "Previous article", "prev"}, {s.Next, "Next article", "next"}, {s.Before, "Previous in thread", ""}, {s.After, "Next in thread", ""}} {
		if n.post != nil && !n.post.Link.Empty() {
			a.Neighbours = append(a.Neighbours, neighbour{crumb{Text: n.text, Link: n.post.Link}, n.rel})
		}
	}
	a.Thread, a.Count, a.Near, a.Replies = s.Thread, s.Count, s.Shown < s.Count, s.Replies
	newsPages(v).label(a.Thread, nil)
	article.Shorten(a.Thread)
	article.MarkRepeated(a.Thread)
	references := article.MessageIDs(h.Get("References"))
	for i, id := range references {
		reference := crumb{Text: visible.Name(id), Link: newsPages(v).articleLink(id)}
		if p := s.Of(id); p != nil {
			reference = crumb{Text: article.Shortened(p.Subject) + " (" + article.Shortened(p.From) + ")", Link: p.Link}
		}
		if i == len(references)-1 {
			a.Parent = &reference
		}
		a.References = append(a.References, reference)
	}
	return a, notes
}

// byAuthor is the link to the articles of an author in the group of the page.
func (v articlePages) byAuthor(h article.Fields) crumb {
	group, _, _ := v.here(h)
	address := article.Address(h.Get("From"))
	if group == "" || address == "" {
		return crumb{}
	}
	return crumb{Text: "Articles by this author", Link: newsPages(v).groupLink(group).With("author=" + url.QueryEscape(address)), NoFollow: true}
}
