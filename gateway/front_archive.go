package gateway

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/fetch1738/fetch1738/gateway/internal/place"
)

// An Archive is what a Handler shows if its Resolver answers from an archive. Its pages have no links
// to URLs of http and https, which would lead to the servers of today.
type Archive struct {
	// About is a sentence about the archive, such as its time.
	About string
	// Sites are the URLs of its sites.
	Sites []string
	// Search yields the documents whose URL or title has all of the words, and ends with an error if
	// it cannot go on. It is called concurrently.
	Search func(ctx context.Context, words string) iter.Seq2[Hit, error]
}

// A Hit is a document that a search in an archive has found.
type Hit struct {
	URL   string
	Title string    // "" if only the URL has the words
	Time  time.Time // of the capture
}

// An archivePage is the data of the first page for an archive.
type archivePage struct {
	About, Words, End string
	Action            place.Link
	Searched          bool
	Sites, Hits       []archiveRow
}

// An archiveRow is a site, or a document that a search has found.
type archiveRow struct {
	Text, URL string
	Link      place.Link // empty if it has no page here
	Time      time.Time
}

// maxArchiveHits is how many documents a search shows.
const maxArchiveHits = 200

// archive is the first page for an archive, with what a search has found.
func (v front) archive() error {
	if guard(v).enter() {
		return nil
	}
	rowOf := func(text, url string, at time.Time) archiveRow {
		r := archiveRow{Text: visible(text), URL: visible(url), Time: at}
		if l, err := place.Parse(url); err == nil {
			r.Link = v.linkTo(l)
		}
		return r
	}
	var data archivePage
	a := v.h.Archive
	data.About, data.Action = a.About, v.start()
	for _, url := range a.Sites {
		data.Sites = append(data.Sites, rowOf("", url, time.Time{}))
	}
	words := v.r.URL.Query().Get("q")
	if data.Searched = words != "" && !v.crossSite; data.Searched {
		data.Words = visible(words)
		for hit, err := range a.Search(v.r.Context(), words) {
			if err != nil {
				data.End = visible("The search ended early: " + err.Error())
				break
			}
			if len(data.Hits) == maxArchiveHits {
				data.End = "There are more documents. Add a word to find fewer."
				break
			}
			data.Hits = append(data.Hits, rowOf(hit.Title, hit.URL, hit.Time))
		}
	}
	return v.render("archive", http.StatusOK, &page{Heading: "An archive", Title: "fetch1738 gateway: an archive", Main: data})
}
