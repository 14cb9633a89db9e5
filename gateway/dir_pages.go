package gateway

import "github.com/fetch1738/fetch1738/gateway/internal/place"

// Pages is the number of pages; 0 if it is not known.
func (d *directory) Pages() int {
	if !d.Known {
		return 0
	}
	return (d.Files + d.Folders + d.perPage() - 1) / d.perPage()
}

// Paged reports whether the listing has more than one page, as far as that is known.
func (d *directory) Paged() bool { return d.Pages() > 1 }

// page is the link to another page, in the same order.
func (d *directory) page(n int) place.Link {
	c := d.Choice
	if c.Page = n; d.Known && c.Order == "" {
		c.Order = "name" // without it, the page is in the order of the server
	}
	return d.link(c)
}

// First is the link to the first page; empty if this is it.
func (d *directory) First() place.Link {
	if d.Choice.Page <= 1 {
		return place.Link{}
	}
	return d.page(1)
}

// Previous is the link to the page before this one.
func (d *directory) Previous() place.Link {
	if d.Choice.Page <= 1 {
		return place.Link{}
	}
	return d.page(d.Choice.Page - 1)
}

// Next is the link to the page after this one.
func (d *directory) Next() place.Link {
	if !d.more && d.Choice.Page >= d.Pages() {
		return place.Link{}
	}
	return d.page(d.Choice.Page + 1)
}

// Last is the link to the last page; empty if this is it, or if it is not known.
func (d *directory) Last() place.Link {
	if d.Choice.Page >= d.Pages() {
		return place.Link{}
	}
	return d.page(d.Pages())
}
