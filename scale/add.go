package scale

import (
	"context"
	"fmt"

	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/locator"
)

// Add adds URLs to begin with. If one of them is wrong, none is added.
func Add(ctx context.Context, e Engine, u Units, urls ...string) error {
	links := make(map[string][]crawl.Link)
	for _, url := range urls {
		unit, link, err := u.Seed(url)
		if err != nil {
			return err
		}
		links[unit] = append(links[unit], link)
	}
	return e.Add(ctx, links)
}

// Seed returns the unit of a URL to begin with, and the link for Engine.Add. The policy of the nodes
// treats it as a link. A URL with a login, without a host, of a scheme without documents, or that
// crawl.Crawl.Skips is an error.
func (u Units) Seed(url string) (unit string, l crawl.Link, err error) {
	ref, err := locator.Parser{Tolerate: locator.TolerateUsual}.Parse(url)
	if err != nil {
		return "", l, err
	}
	if without, _ := locator.WithLogin(ref.Locator, nil); without.String() != ref.Locator.String() {
		return "", l, fmt.Errorf("%s: a crawl is anonymous, and this URL has a login", ref.Locator.Redacted())
	}
	switch ref.Locator.(type) {
	case *locator.Gopher, *locator.FTP, *locator.NNTP, *locator.WAIS, *locator.Prospero, *locator.HTTP:
	default:
		return "", l, fmt.Errorf("%s: a crawl cannot begin with a URL of the scheme %s", ref.Locator.Redacted(), ref.Locator.Scheme())
	}
	if unit = u.Of(ref.Locator); unit == "" {
		return "", l, fmt.Errorf("%s: the URL has no host", ref.Locator.Redacted())
	}
	if why := (&crawl.Crawl{HTTP: true}).Skips(ref.Locator); why != "" { // the nodes would
		return "", l, fmt.Errorf("%s: a crawl does not fetch this URL (%s)", ref.Locator.Redacted(), why)
	}
	return unit, crawl.Link{URL: ref.Locator.String()}, nil
}
