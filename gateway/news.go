package gateway

import (
	"cmp"
	"iter"
	"net/url"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/gateway/internal/article"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/internal/text/mime822"
	"github.com/fetch1738/fetch1738/locator"
)

// newsPages show newsgroups and articles.
type newsPages pages

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
func (v newsPages) newsOptions() nntp.Options {
	switch {
	case v.req.wants("atom"):
		return nntp.Options{Newest: feedEntries}
	case !v.req.accepts("text/html") && (v.req.accepts("application/json") || v.req.accepts("application/x-ndjson") || v.req.accepts("text/plain")):
		return nntp.Options{} // see formatted
	case v.req.native:
		return nntp.Options{Newest: proxyRows}
	}
	return nntp.Options{Newest: groupRows, Skip: int64(v.number()-1) * groupRows}
}

// postOf is the post of an entry of a group.
func (v newsPages) postOf(item *fetch.Item) *article.Post {
	h := article.Fields(item.Header)
	p := &article.Post{
		Number: visible.Name(item.Name), Subject: subject(h.Get("Subject"), charset.Charset{}), From: author(h.Get("From"), charset.Charset{}), Date: item.ModTime,
		Lines: visible.Name(h.Get("Lines")), Link: v.req.linkTo(item.Locator), References: article.MessageIDs(h.Get("References")),
	}
	if ids := article.MessageIDs(h.Get("Message-ID")); len(ids) == 1 {
		p.ID = ids[0]
	}
	p.Text = p.Subject
	return p
}

// posts are the articles of a group, in the order of their arrival. If the listing fails, they are
// those before; the page shows out.cut and is broken off.
func (v newsPages) posts(items iter.Seq2[fetch.Item, error]) []*article.Post {
	var posts []*article.Post
	for item, err := range items {
		if err != nil {
			v.out.err = err
			break
		}
		posts = append(posts, v.postOf(&item))
	}
	return posts
}

// subject is a subject to show. Old subjects contain encoded words, or octets of any charset.
func subject(field string, undeclared charset.Charset) string {
	if text := visible.Name(strings.TrimSpace(mime822.Text(field, undeclared))); text != "" {
		return text
	}
	return "(no subject)"
}

// author is who wrote an article.
func author(from string, undeclared charset.Charset) string {
	return visible.Name(cmp.Or(mime822.Author(from, undeclared), "(unknown)"))
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

// groupName is the name of the group that a URL names.
func groupName(l locator.Locator) string {
	switch l := l.(type) {
	case *locator.News:
		return visible.Name(l.Group)
	case *locator.NNTP:
		return visible.Name(l.Group)
	}
	return ""
}

// number is the number of the page of a long listing that the client asks for, from 1.
func (v newsPages) number() int {
	n, err := strconv.Atoi(v.req.query.Get("page"))
	if err != nil || v.req.native {
		return 1
	}
	return min(max(n, 1), maxPage)
}

// articleLink is the link to an article by its message-id, in angle brackets. It stays on the
// server of the page: an nntp URL has no message-ids, so the group is searched for it.
func (v newsPages) articleLink(id string) place.Link {
	id = strings.TrimSuffix(strings.TrimPrefix(id, "<"), ">")
	to := &locator.News{MessageID: id}
	switch l := v.req.loc.(type) {
	case *locator.News:
		to.HostPort, to.Secure = l.HostPort, l.Secure
	case *locator.NNTP:
		if !v.req.native {
			group := *l
			group.Article = ""
			return v.req.linkTo(&group).With("id=" + url.QueryEscape(id))
		}
	}
	if !named(to) {
		return place.Link{} // not a message-id that a URL can have
	}
	return v.req.linkTo(to)
}

// groupLink is the link to another group on the server of the page.
func (v newsPages) groupLink(name string) place.Link {
	if to := v.groupOf(name); to != nil {
		return v.req.linkTo(to)
	}
	return place.Link{}
}

// named reports whether a URL can name what a Locator does.
func named(to locator.Locator) bool {
	again, err := place.Parse(to.String())
	return err == nil && locator.Equal(again, to)
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

// groupOf is the Locator of a group on the server of the page; nil if no URL can have its name.
func (v newsPages) groupOf(name string) locator.Locator {
	var to locator.Locator = &locator.News{Group: name}
	switch l := v.req.loc.(type) {
	case *locator.News:
		to = &locator.News{Group: name, HostPort: l.HostPort, Secure: l.Secure}
	case *locator.NNTP:
		to = &locator.NNTP{Group: name, HostPort: l.HostPort, Secure: l.Secure}
	}
	if !named(to) {
		return nil
	}
	return to
}

// A newsForm is the form that searches a group, or all groups.
type newsForm struct {
	Action        place.Link
	Hidden        []fetch.Field
	Words, Author string // that are filled in
	InGroup       bool   // an author can be given
}

// newsQuery is what the client searches for in the group of the page.
func (v newsPages) newsQuery() article.Query {
	if v.req.native {
		return article.Query{}
	}
	return article.NewQuery(v.req.query.Get("q"), v.req.query.Get("author"))
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
	if v.req.native {
		return nil
	}
	form := &newsForm{Words: visible.Name(v.req.query.Get("q")), Author: visible.Name(v.req.query.Get("author")), InGroup: !entry.IsGroups(v.req.loc)}
	form.Action, form.Hidden = v.req.linkTo(v.req.loc).Form()
	return form
}

// articlePages show articles.
type articlePages pages
