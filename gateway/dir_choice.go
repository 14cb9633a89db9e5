package gateway

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
)

const (
	pageRows    = 500      // on a page for a browser
	heldRows    = 5000     // of a listing whose order is chosen by the gateway
	gridTiles   = 48       // on a page of pictures or sounds
	maxPicture  = 4 << 20  // of a picture that is shown among others
	sortedRows  = 100_000  // of a listing that is sorted on demand
	heldNames   = 32 << 20 // bytes of the names and links of either
	unreadLines = 100      // that are shown
	readmeBytes = 64 << 10
)

// A choice is what the query of a page selects.
type choice struct {
	Order  string // "name", "size" or "time", with "-" for the reverse; empty for the usual one
	Filter string // a part of the names that are shown
	Grid   bool   // pictures are shown, with the folders, and nothing else
	Play   bool   // sounds are a list to be played, and nothing else is shown
	Page   int    // 0 for all rows
	// Unsorted is the page with a number in the order of the server.
	Unsorted bool
}

// choiceOf reads the query of the page. A folder of an archive has no pages of pictures or sounds:
// each would read the archive once more.
func choiceOf(q *request, packed bool) (c choice) {
	if q.native {
		return c
	}
	query := q.query
	switch order := query.Get("sort"); strings.TrimPrefix(order, "-") {
	case "name", "size", "time":
		c.Order = order
	}
	c.Filter = strings.TrimSpace(query.Get("filter"))
	c.Grid = query.Has("grid") && !packed
	c.Play = query.Has("play") && !c.Grid && !packed
	if c.Grid || c.Play || q.r.Header.Get("Sec-Fetch-Mode") != "" {
		n, _ := strconv.Atoi(query.Get("page"))
		c.Page = min(max(1, n), maxPage)
		c.Unsorted = c.Order == "" && query.Has("page")
	}
	return c
}

// link is the link to the choice, on the page at a link.
func (c choice) link(to place.Link) place.Link {
	if c.Order != "" {
		to = to.With("sort=" + c.Order)
	}
	if c.Filter != "" {
		to = to.With("filter=" + url.QueryEscape(c.Filter))
	}
	if c.Grid {
		to = to.With("grid")
	}
	if c.Play {
		to = to.With("play")
	}
	if c.Page > 0 {
		to = to.With("page=" + strconv.Itoa(c.Page))
	}
	return to
}

// perPage is the number of rows on a page.
func (c choice) perPage() int {
	if c.Grid || c.Play {
		return gridTiles
	}
	return pageRows
}

// keeps reports whether the page shows an entry at all.
func (c choice) keeps(e *dirEntry, filter string) bool {
	if c.Grid && e.kind != kindFolder && !e.isPicture() {
		return false
	}
	if c.Play && !e.isSound() {
		return false
	}
	return filter == "" || strings.Contains(strings.ToLower(visible.Name(e.name)), filter)
}
