package transfer

import (
	"context"
	"errors"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/form"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
)

// fillForm returns res, or, if that is a form, the response to the filled form.
func (a *attempt) fillForm(ctx context.Context, req *fetch.Request, res *fetch.Resource) (*fetch.Resource, error) {
	info, ok := res.Info.(*gopher.Info)
	if !ok || res.Kind != fetch.KindQuery || info.Attributes == nil {
		return res, nil
	}
	res.Close()
	return a.submit(ctx, req, info.Attributes)
}

// submit fills in the form of a resource and fetches the response.
func (a *attempt) submit(ctx context.Context, req *fetch.Request, attributes *gopher.Attributes) (*fetch.Resource, error) {
	answers, err := answersTo(ctx, a.Result, a.console, attributes.Ask)
	if err != nil {
		return nil, err
	}
	view := "" // the first, as the UMN client does
	if len(attributes.Views) > 0 {
		view = attributes.Views[0].Label
	}
	filled, err := attributes.Ask.Fill(view, answers)
	if err != nil {
		return nil, localerr.Usagef("the form: %w", err)
	}
	if a.Op.Verbose {
		a.watch.remark(form.AsURL(req.Locator, filled))
	}
	again := *req
	again.Options = &gopher.Options{Form: filled}
	a.submitted = true
	return a.Resolver.Fetch(ctx, &again)
}

// answersTo returns the answers of the options, or else those of the user at the console, which may be
// nil.
func answersTo(ctx context.Context, r *Result, console Console, f *gopher.Form) ([]string, error) {
	if len(r.Op.Form) > 0 {
		return form.Match(f, r.Op.Answers())
	}
	err := ErrNobody
	var answers []string
	if console != nil {
		answers, err = console.Answer(ctx, r, f)
	}
	if errors.Is(err, ErrNobody) {
		err = localerr.Errorf(localerr.BadURL, "%s is a form; fill it in with --form NAME=VALUE; its fields are %s", r.Locator.Redacted(), strings.Join(form.Prompts(f), ", "))
	}
	return answers, err
}
