package transfer

import (
	"context"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/listing"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/locator"
)

// lists reports whether a directory or menu is shown as a listing and not as the bytes of the
// server, as menus and newsgroups are on a terminal.
func lists(place *output.Place, sink *output.Sink, res *fetch.Resource) bool {
	o := &place.Op.Output
	return res.Items != nil && (o.List || o.JSON || browses(place, sink, res))
}

// browses reports whether a menu or newsgroup is shown to a user at a terminal.
func browses(place *output.Place, sink *output.Sink, res *fetch.Resource) bool {
	o := &place.Op.Output
	return (res.Kind == fetch.KindMenu || entry.IsNews(res.Locator)) && !o.List && !o.JSON && !o.Raw && place.Browses(sink)
}

// list writes a listing to the sink.
func (a *attempt) list(res *fetch.Resource) error {
	_, isProspero := res.Locator.(*locator.Prospero)
	list := &listing.Listing{
		Charset: a.Op.Output.Charset, JSON: a.Op.Output.JSON, References: res.Kind == fetch.KindMenu && browses(a.place, a.Sink, res), Columns: a.Sink.Columns(),
		Detailed: res.Kind != fetch.KindMenu || res.MediaType == "application/gopher+-menu" || isProspero,
	}
	r := list.Read(res)
	defer r.Close() // also if the sink fails
	a.Sink.UTF8()
	if err := a.Sink.Take(a.paced(a.Locator, r)); err != nil {
		return err
	}
	if warning := older(res); a.newest && warning != "" {
		a.Warn("%s", warning)
	}
	return nil
}

// follow fetches the n-th link of a listing, and closes the listing. The policy treats
// it as a link. Those with the further numbers are followed after it.
func (a *attempt) follow(ctx context.Context, res *fetch.Resource, n int, further []int) (*fetch.Resource, error) {
	defer res.Close()
	if _, err := listing.ReadWeb(res); err != nil {
		return nil, err
	}
	if res.Items == nil {
		return nil, localerr.Usagef("--number %d: neither a directory nor a menu: %s", n, res.Locator.Redacted())
	}
	item, mirrors, err := listing.Pick(res.Items, n)
	if err != nil {
		return nil, err
	}
	res.Close()
	a.Pick()
	a.picked = a.Op.Output.Charset.Decode(item.Name)
	next, err := client.Request(a.Op, item.Locator)
	if err != nil {
		return nil, err
	}
	next.From = res.Origin()
	a.newest = askArticles(&a.Op.Output, next, further, a.place.Browses(a.Sink)) || a.newest
	if plus := entry.Field(item, gopher.HeaderPlus); plus != nil && *plus == "?" {
		next.Locator = client.WithForm(next.Locator)
	}
	if _, isGopher := item.Locator.(*locator.Gopher); isGopher && len(mirrors) > 0 {
		options, _ := next.Options.(*gopher.Options)
		if options == nil {
			options = new(gopher.Options)
		}
		options.Mirrors, next.Options = mirrors, options
	}
	a.Locator, a.Answer.Effective = next.Locator, next.Locator
	found, err := a.Resolver.Fetch(ctx, next)
	if err != nil {
		return nil, err
	}
	return a.fillForm(ctx, next, found)
}
