package gateway

import "github.com/fetch1738/fetch1738/gateway/internal/place"

// Pages is the number of pages; 0 if it is not known.
func (d *directory) Pages() int {
	switch {
	case !d.Known:
		return 0
	case d.Choice.Page == 0: // all of it
		return 1
	}
	return (d.Files + d.Folders + d.perPage() - 1) / d.perPage()
}

// Pager are the links to the other pages of the listing.
func (d *directory) Pager() pager { return pager{d} }

// A pager leads to the other pages of a listing.
type pager struct{ d *directory }

// Page is the number of this page, and Pages that of all; 0 if it is not known.
func (p pager) Page() int  { return p.d.Choice.Page }
func (p pager) Pages() int { return p.d.Pages() }

// to is the link to another page, in the same order.
func (p pager) to(page int) place.Link {
	c := p.d.Choice
	if c.Page = page; p.d.Known && c.Order == "" {
		c.Order = "name" // without it, the page is in the order of the server
	}
	return p.d.link(c)
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
	if !p.d.more && p.Page() >= p.Pages() {
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
