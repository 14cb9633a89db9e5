package gateway

import (
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/article"
	"github.com/fetch1738/fetch1738/gateway/internal/groups"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/text/newssearch"
)

// pageGroups is the number of groups of a page, for a browser.
const pageGroups = 5000

// A groupRow is a newsgroup in the list of all.
type groupRow struct {
	*row
	About   string // the description
	Count   int64  // of the numbers of articles; -1 if it is not known
	Posting string
}

// A groupsPage is the data of the page of all newsgroups.
type groupsPage struct {
	out    *response
	Rows   iter.Seq[*groupRow]
	Search *newsForm
	more   bool
	Pages  func() []crumb // after the rows
}

// Cut says why there are no more rows, if the listing has failed.
func (g *groupsPage) Cut() string { return g.out.cut() }

// postings are what the status of a group says about posting (RFC 3977 §7.6.3).
var postings = map[string]string{"y": "yes", "n": "no", "m": "moderated"}

// groups shows all newsgroups of a server, in its order and as they arrive.
func (v newsPages) groups(res *fetch.Resource) error {
	first, size := 0, pageGroups
	if v.req.r.Header.Get("Sec-Fetch-Mode") == "" { // not a browser
		size = 1 << 30
	} else {
		first = (v.number() - 1) * pageGroups
	}
	g, words := &groupsPage{out: v.out, Search: v.searchForm()}, v.newsQuery().Words
	g.Rows = func(yield func(*groupRow) bool) {
		n := 0
		for row := range v.out.rows(v.req, res.Items) {
			if !newssearch.HasAll(words, row.Name, article.Fields(row.Header).Get("Description")) {
				continue
			}
			n++
			if g.more = n > first+size; g.more {
				return
			}
			if n > first && !yield(groupRowOf(row)) {
				return
			}
		}
	}
	g.Pages = func() []crumb {
		var pages []crumb
		page, here := v.number(), v.req.linkTo(v.req.loc)
		if q := v.req.query.Get("q"); q != "" {
			here = here.With("q=" + url.QueryEscape(q))
		}
		if first > 0 {
			pages = append(pages, crumb{Text: "previous groups", Link: here.With("page=" + strconv.Itoa(page-1))})
		}
		if g.more {
			pages = append(pages, crumb{Text: "next groups", Link: here.With("page=" + strconv.Itoa(page+1))})
		}
		return pages
	}
	return v.out.render(v.req, "groups", http.StatusOK, &page{Main: g})
}

func groupRowOf(r *row) *groupRow {
	h := article.Fields(r.Header)
	return &groupRow{row: r, About: visible.Name(h.Get("Description")), Count: groups.Count(r.Header), Posting: postings[h.Get("Status")]}
}
