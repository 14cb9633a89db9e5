package gateway

import (
	"cmp"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/gateway/internal/article"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/internal/text/mime822"
	"github.com/fetch1738/fetch1738/locator"
)

// newsPages show newsgroups and articles.
type newsPages struct{ *visit }

// How many article numbers of a group are requested: for a page, for a client that cannot ask for
// another page, for a feed, and for the number of a message-id.
const (
	groupRows   = 1000
	proxyRows   = 5000
	feedEntries = 100
	searchRows  = 20_000
)

// newsOptions are the options of a request for news: a page of a group needs no more of it.
// Programs get the whole group.
func (v newsPages) newsOptions() *nntp.Options {
	switch {
	case v.wants("atom"):
		return &nntp.Options{Newest: feedEntries}
	case !v.accepts("text/html") && (v.accepts("application/json") || v.accepts("application/x-ndjson") || v.accepts("text/plain")):
		return &nntp.Options{} // see formatted
	case v.native:
		return &nntp.Options{Newest: proxyRows}
	}
	return &nntp.Options{Newest: groupRows, Skip: int64(v.number()-1) * groupRows}
}

// postOf is the post of an entry of a group.
func (v newsPages) postOf(item *fetch.Item) *article.Post {
	h := article.Fields(item.Header)
	p := &article.Post{
		Number: visible(item.Name), Subject: subject(h.Get("Subject"), charset.Charset{}), From: author(h.Get("From"), charset.Charset{}), Date: item.ModTime,
		Lines: visible(h.Get("Lines")), Link: v.linkTo(item.Locator), References: article.MessageIDs(h.Get("References")),
	}
	if ids := article.MessageIDs(h.Get("Message-ID")); len(ids) == 1 {
		p.ID = ids[0]
	}
	p.Text = p.Subject
	return p
}

// posts are the articles of a group, in the order of their arrival. If the listing fails, they are
// those before; the page shows v.cut and is broken off.
func (v newsPages) posts(items iter.Seq2[fetch.Item, error]) []*article.Post {
	var posts []*article.Post
	for item, err := range items {
		if err != nil {
			v.err = err
			break
		}
		posts = append(posts, v.postOf(&item))
	}
	return posts
}

// subject is a subject to show. Old subjects contain encoded words, or octets of any charset.
func subject(field string, undeclared charset.Charset) string {
	if text := visible(strings.TrimSpace(mime822.Text(field, undeclared))); text != "" {
		return text
	}
	return "(no subject)"
}

// author is who wrote an article.
func author(from string, undeclared charset.Charset) string {
	return visible(cmp.Or(mime822.Author(from, undeclared), "(unknown)"))
}

// sameSubject reports whether two subjects are the same, apart from "Re:".
func sameSubject(a, b string) bool { return plainSubject(a) == plainSubject(b) }

// plainSubject is a subject in lower case without "re:".
func plainSubject(s string) string {
	for s = strings.ToLower(s); ; {
		rest, ok := strings.CutPrefix(s, "re:")
		if !ok {
			return s
		}
		s = strings.TrimSpace(rest)
	}
}

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
	if l, ok := v.loc.(*locator.News); ok && l.All {
		return v.groups(res)
	}
	posts := v.posts(res.Items)
	if v.wants("atom") {
		return v.atom(posts)
	}
	g := &groupPage{About: "The newsgroup has " + aboutGroup(res) + ".", Search: v.searchForm(), Cut: v.cut()}
	if v.wants("threads") {
		g.Threads = article.Threads(posts)
		v.label(g.Threads, nil)
	} else {
		slices.Reverse(posts)
		g.Posts = posts
	}
	article.MarkRepeatedPosts(posts)
	p := &page{Heading: groupName(v.loc), Feed: v.linkTo(v.loc).With("atom"), Main: g}
	if !v.native {
		g.Views = v.groupPages(res)
		p.Actions = v.groupActions()
	}
	return v.render("group", http.StatusOK, p)
}

// groupName is the name of the group that a URL names.
func groupName(l locator.Locator) string {
	switch l := l.(type) {
	case *locator.News:
		return visible(l.Group)
	case *locator.NNTP:
		return visible(l.Group)
	}
	return ""
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
		return v.linkTo(v.loc)
	}
	return v.linkTo(v.loc).With(strings.Join(query, "&"))
}

// groupPages are the links to other pages of a group.
func (v newsPages) groupPages(res *fetch.Resource) []crumb {
	var pages []crumb
	threads, page := v.wants("threads"), v.number()
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
	other, threads, here := "Threads", v.wants("threads"), v.linkTo(v.loc)
	if threads {
		other = "List"
	}
	return append([]crumb{{other, v.groupAt(v.number(), !threads), !threads}, {"Atom feed", here.With("atom"), true}}, rawAndHow(here)...)
}

// maxPage limits the number of a page.
const maxPage = 1_000_000

// number is the number of the page of a long listing that the client asks for, from 1.
func (v newsPages) number() int {
	n, err := strconv.Atoi(v.query.Get("page"))
	if err != nil || v.native {
		return 1
	}
	return min(max(n, 1), maxPage)
}

// articleLink is the link to an article by its message-id, in angle brackets. It stays on the
// server of the page: an nntp URL has no message-ids, so the group is searched for it.
func (v newsPages) articleLink(id string) place.Link {
	id = strings.TrimSuffix(strings.TrimPrefix(id, "<"), ">")
	to := &locator.News{MessageID: id}
	switch l := v.loc.(type) {
	case *locator.News:
		to.HostPort, to.Secure = l.HostPort, l.Secure
	case *locator.NNTP:
		if !v.native {
			group := *l
			group.Article = ""
			return v.linkTo(&group).With("id=" + url.QueryEscape(id))
		}
	}
	if !named(to) {
		return place.Link{} // not a message-id that a URL can have
	}
	return v.linkTo(to)
}

// groupLink is the link to another group on the server of the page.
func (v newsPages) groupLink(name string) place.Link {
	if to := v.groupOf(name); to != nil {
		return v.linkTo(to)
	}
	return place.Link{}
}

// named reports whether a URL can name what a Locator does.
func named(to locator.Locator) bool {
	again, err := place.Parse(to.String())
	return err == nil && locator.Equal(again, to)
}

// findArticle leads from a message-id to the article of that number, in the group that v.loc names.
func (v newsPages) findArticle() error {
	id := "<" + v.query.Get("id") + ">"
	req := v.request(v.loc)
	req.Options = &nntp.Options{Newest: searchRows}
	v.prepare(req)
	res, err := v.h.resolver().Fetch(v.context(), req)
	if err != nil {
		return err
	}
	defer res.Close()
	for item, err := range res.Items {
		if err != nil {
			return err
		}
		if article.Fields(item.Header).Get("Message-ID") == id && item.Locator != nil {
			v.redirect(place.Of(item.Locator))
			return nil
		}
	}
	return &failure{Status: http.StatusNotFound, Text: "The group does not have this article.", Detail: visible(id)}
}

// label chooses the texts of the links of threads: the subject, or the author of a reply with the
// same subject. above is the article that the threads reply to; it may be nil.
func (v newsPages) label(threads []*article.Thread, above *article.Post) {
	for _, t := range threads {
		next := above
		if t.Post == nil {
			t.Missing = v.articleLink(t.ID)
		} else {
			if next = t.Post; above != nil && sameSubject(next.Subject, above.Subject) {
				next.Text = next.From
			}
		}
		v.label(t.Replies, next)
	}
}
