package client

import (
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/locator"
)

// WithQuery returns l with the additions of --url-query and, with -G, --data to its
// query.
func WithQuery(o *plan.Operation, l locator.Locator) locator.Locator {
	parts := slices.Clone(o.HTTP.Query)
	if o.HTTP.Get && o.HTTP.Data != nil {
		parts = append(parts, string(o.HTTP.Data))
	}
	web, ok := l.(*locator.HTTP)
	if !ok || len(parts) == 0 {
		return l
	}
	longer := *web
	if web.Search != "" {
		parts = slices.Insert(parts, 0, web.Search)
	}
	longer.HasPath, longer.HasSearch, longer.Search = true, true, strings.Join(parts, "&")
	return &longer
}
