package gateway

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
)

// withQuery returns the request with its query and its login. A query without a name is the words of a
// search, where one is possible.
func (q *request) withQuery() *request {
	copied := *q
	if !q.native {
		copied.query = q.r.URL.Query()
		g, _ := q.loc.(*locator.Gopher)
		w, _ := q.loc.(*locator.WAIS)
		words, err := url.QueryUnescape(q.r.URL.RawQuery)
		if err == nil && copied.isWords() && (g != nil && strings.ContainsRune("27", rune(g.Type)) || w != nil && w.Form != locator.WAISDocument) {
			copied.query = url.Values{"q": {words}}
		}
	}
	copied.user = findLogin(q)
	return &copied
}

// isWords reports whether the query of the request consists of words, as in a URL of wais, and not of
// a name that the gateway gives a meaning.
func (q *request) isWords() bool {
	for name := range q.query {
		own := slices.Contains([]string{"q", "raw", "explain", "tar", "info", "login", "atom", "threads", "grid", "wrap", "play", "download", "open", "captures", "timemap"}, name)
		return !own && len(q.query) == 1 && !strings.Contains(q.r.URL.RawQuery, "=")
	}
	return false
}

// withWords returns the request with the search words of its query in the Locator, so that the page,
// its links and the log have the URL of the search.
func (q *request) withWords() *request {
	l, ok := q.loc.(*locator.Gopher)
	if !ok || l.Type != '7' && l.Type != '2' {
		return q
	}
	words, selector := q.query.Get("q"), l.Selector
	if before, after, ok := l.SearchWords(); ok && q.native {
		// The form of a page has added "?q=words" to the URL.
		if q, ok := strings.CutPrefix(after, "q="); ok {
			selector, words = before, q
		}
	}
	words = strings.TrimSpace(place.OneLine(words))
	if words == "" {
		return q
	}
	with := *l
	with.Selector, with.Search, with.Fields, with.HasPath = selector, words, max(l.Fields, 1), true
	copied := q.of(&with)
	copied.query = maps.Clone(q.query)
	copied.query.Del("q")
	return copied
}
