package gateway

import "github.com/fetch1738/fetch1738/gateway/internal/place"

// A pager leads to the other pages of a listing.
type pager struct {
	listing *listing
	here    place.Link // the page without a choice
}

// Page is the number of this page, and Pages that of all; 0 if it is not known.
func (p pager) Page() int  { return p.listing.Choice.Page }
func (p pager) Pages() int { return p.listing.Pages() }

// to is the link to another page, in the same order.
func (p pager) to(page int) place.Link {
	c := p.listing.Choice
	if c.Page = page; p.listing.Known && c.Order == "" {
		c.Order = "name" // without it, the page is in the order of the server
	}
	return c.link(p.here)
}

// First is the link to the first page; empty if this is it.
func (p pager) First() place.Link {
	if p.Page() <= 1 {
		return place.Link{}
	}
	return p.to(1)
}

// Previous is the link to the page before this one.
func (p pager) Previous() place.Link {
	if p.Page() <= 1 {
		return place.Link{}
	}
	return p.to(p.Page() - 1)
}

// Next is the link to the page after this one.
func (p pager) Next() place.Link {
	if !p.listing.more && p.Page() >= p.Pages() {
		return place.Link{}
	}
	return p.to(p.Page() + 1)
}

// Last is the link to the last page; empty if this is it, or if it is not known.
func (p pager) Last() place.Link {
	if p.Page() >= p.Pages() {
		return place.Link{}
	}
	return p.to(p.Pages())
}
