package gateway

import (
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/locator"
)

// An archivePage is the data of the first page for an archive.
type archivePage struct {
	About, Words, End string
	Search            place.Link // empty if the archive cannot be searched
	Dates             place.Link // where the query "at" chooses a time; empty if there is only one
	Date              string     // of the captures; empty if these are the last ones
	Searched          bool
	Sites             []archiveSite
	Hits              []archiveRow
}

// An archiveRow is a page of a site, or a document that a search has found.
type archiveRow struct {
	Text, URL string
	Link      place.Link // empty if it has no page here
	Time      time.Time
}

// An archiveSite is a site of an archive.
type archiveSite struct {
	archiveRow // its first page, if it has one
	Pages      []archiveRow
	Documents  place.Link // a list of what the archive has of it; may be empty
	Web        bool       // its documents have no pages here
}

// maxArchiveHits is how many documents a search shows.
const maxArchiveHits = 200

// archive is the first page for an archive, with what a search has found.
func (v front) archive() error {
	if v.req.r.URL.Query().Has("at") {
		return archivePages(v).chooseTime("/")
	}
	if !v.req.dated && v.out.enter(v.req) {
		return nil
	}
	data := archivePage{About: v.req.h.Archive.About, Date: mementos{v.req}.date()}
	if v.req.h.Archive.Search != nil {
		data.Search = v.req.ownPage("/")
	}
	if v.req.h.Archive.At != nil {
		data.Dates = v.req.ownPage("/")
	}
	if v.req.dated {
		data.About = "The captures as of " + v.req.at.UTC().Format("2006-01-02 15:04:05 UTC") + "."
	}
	for _, s := range v.req.h.Archive.Sites {
		data.Sites = append(data.Sites, v.site(s))
	}
	words := v.req.r.URL.Query().Get("q")
	if data.Searched = words != "" && !v.req.crossSite && !data.Search.Empty(); data.Searched {
		data.Words = visible.Name(words)
		for hit, err := range v.search(words) {
			if err != nil {
				data.End = visible.Name("The search ended early: " + err.Error())
				break
			}
			if len(data.Hits) == maxArchiveHits {
				data.End = "There are more documents. Add a word to find fewer."
				break
			}
			data.Hits = append(data.Hits, v.row(hit.Title, hit.URL, hit.Time))
		}
	}
	return v.out.render(v.req, "archive", http.StatusOK, &page{Heading: "An archive", Title: "fetch1738 gateway: an archive", Main: data})
}

// row is the row of a URL.
func (v front) row(text, url string, at time.Time) archiveRow {
	r := archiveRow{Text: visible.Name(text), URL: visible.Name(url), Time: at}
	if l, err := place.Parse(url); err == nil {
		r.Link = v.req.linkTo(l)
	}
	return r
}

// site is the row of a site.
func (v front) site(s Site) archiveSite {
	is := archiveSite{archiveRow: archiveRow{URL: visible.Name(s.URL)}, Web: strings.HasPrefix(s.URL, "http")}
	if v.req.h.Archive.Search != nil {
		is.Documents = v.req.ownPage("/").With("q=" + url.QueryEscape(s.URL))
	}
	for _, page := range s.Pages {
		text := strings.TrimPrefix(page, s.URL)
		if text == "*" {
			text = "all groups"
		}
		if r := v.row(text, page, time.Time{}); page == s.URL || len(s.Pages) == 1 && strings.HasPrefix(s.URL, "gopher") {
			r.Text = ""
			is.archiveRow = r
		} else {
			is.Pages = append(is.Pages, r)
		}
	}
	return is
}

// search yields the documents with some words. A URL finds what begins with it.
func (v front) search(words string) iter.Seq2[Hit, error] {
	a := v.req.h.Archive
	if scheme, _, ok := strings.Cut(words, ":"); ok && a.Documents != nil {
		if _, known := locator.SchemeOf(scheme); known && !strings.ContainsAny(words, " \t") {
			return a.Documents(v.req.r.Context(), v.req.at, words)
		}
	}
	return a.Search(v.req.r.Context(), v.req.at, words)
}
