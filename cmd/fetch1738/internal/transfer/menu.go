package transfer

import (
	"context"
	"errors"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/form"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/listing"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/locator"
)

// lists reports whether a directory or menu is shown as a listing and not as the bytes of the
// server, as menus and newsgroups are on a terminal.
func lists(t *Transfer, res *fetch.Resource) bool {
	return res.Items != nil && (t.Op.Output.List || t.Op.Output.JSON || browses(t, res))
}

// browses reports whether a menu or newsgroup is shown to a user at a terminal.
func browses(t *Transfer, res *fetch.Resource) bool {
	o := &t.Op.Output
	return (res.Kind == fetch.KindMenu || client.IsNews(res.Locator)) && !o.List && !o.JSON && !o.Raw && t.place.Browses(t.Sink)
}

// list writes a listing to the sink.
func (t *Transfer) list(res *fetch.Resource) error {
	_, isProspero := res.Locator.(*locator.Prospero)
	list := &listing.Listing{
		Charset: t.Op.Output.Charset, JSON: t.Op.Output.JSON, References: res.Kind == fetch.KindMenu && browses(t, res), Columns: t.Sink.Columns(),
		Detailed: res.Kind != fetch.KindMenu || res.MediaType == "application/gopher+-menu" || isProspero,
	}
	r := list.Read(res)
	defer r.Close() // also if the sink fails
	t.Sink.UTF8()
	if err := t.Sink.Take(paced(t, r)); err != nil {
		return err
	}
	tellOlder(t, res)
	return nil
}

// follow fetches the n-th link of a listing, and closes the listing. The policy treats
// it as a link. Those with the further numbers are followed after it.
func (t *Transfer) follow(ctx context.Context, res *fetch.Resource, n int, further []int) (*fetch.Resource, error) {
	defer res.Close()
	if res.Items == nil {
		return nil, fault.Usagef("--number %d: neither a directory nor a menu: %s", n, res.Locator.Redacted())
	}
	item, mirrors, err := listing.Pick(res.Items, n)
	if err != nil {
		return nil, err
	}
	res.Close()
	t.Pick()
	t.picked = t.Op.Output.Charset.Decode(item.Name)
	next, err := client.Request(t.Op, item.Locator)
	if err != nil {
		return nil, err
	}
	next.From = res.Origin()
	askArticles(t, next, further)
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
	t.Locator, t.Answer.Effective = next.Locator, next.Locator
	found, err := t.Resolver.Fetch(ctx, next)
	if err != nil {
		return nil, err
	}
	return fillForm(ctx, t, next, found)
}

// submit fills in the form of a resource and fetches the response.
func (t *Transfer) submit(ctx context.Context, req *fetch.Request, attributes *gopher.Attributes) (*fetch.Resource, error) {
	answers, err := formAnswers(ctx, t, req, attributes.Ask)
	if err != nil {
		return nil, err
	}
	view := "" // the first, as the UMN client does
	if len(attributes.Views) > 0 {
		view = attributes.Views[0].Label
	}
	filled, err := attributes.Ask.Fill(view, answers)
	if err != nil {
		return nil, fault.Usagef("the form: %w", err)
	}
	if t.Op.Verbose && t.watch.Remark != nil {
		t.watch.Remark(form.AsURL(req.Locator, filled))
	}
	again := *req
	again.Options = &gopher.Options{Form: filled}
	t.Answer.submitted = true
	return t.Resolver.Fetch(ctx, &again)
}

// formAnswers returns the answers of the options, or else those of the user.
func formAnswers(ctx context.Context, t *Transfer, req *fetch.Request, f *gopher.Form) ([]string, error) {
	if len(t.Op.Gopher.Answers) > 0 {
		return form.Match(f, t.Op.Gopher.Answers)
	}
	err := ErrNobody
	var answers []string
	if t.engine.Console != nil {
		answers, err = t.engine.Console.Answer(ctx, &t.Result, f)
	}
	if errors.Is(err, ErrNobody) {
		err = fault.Errorf(fault.BadURL, "%s is a form; fill it in with --form NAME=VALUE; its fields are %s", req.Locator.Redacted(), strings.Join(form.Prompts(f), ", "))
	}
	return answers, err
}
