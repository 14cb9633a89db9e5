package transfer

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/listing"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/file/resume"
	"github.com/fetch1738/fetch1738/internal/file/segments"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// receive fetches a document into the sink.
func (t *Transfer) receive(ctx context.Context, req *fetch.Request) error {
	if t.Op.Ask.Span != nil && t.Op.Ask.Span.Empty {
		return fault.New(fault.Range, errors.New("the range is empty"))
	}
	if err := setOffset(t, req); err != nil {
		return err
	}
	requestModTime(t, req)
	askArticles(t, req, t.Op.Ask.Numbers)
	whole := req
	req, res, err := t.fetch(ctx, req)
	if err != nil {
		return err
	}
	if res, err = fillForm(ctx, t, req, res); err != nil {
		return err
	}
	for i, n := range t.Op.Ask.Numbers {
		if res, err = t.follow(ctx, res, n, t.Op.Ask.Numbers[i+1:]); err != nil {
			return err
		}
	}
	defer res.Close()
	if len(t.Op.Gopher.Answers) > 0 && !t.Answer.submitted {
		return fault.Usagef("--form: %s is not a form", res.Locator.Redacted())
	}
	t.note(res)
	if err := t.checkStatus(req, res); err != nil {
		return err
	}
	if unmet(t, req, res) {
		if client.IsHTTP(res.Locator) {
			return writeHead(t, res)
		}
		return nil
	}
	if skip, err := nameFile(t, res); skip || err != nil {
		return err
	}
	if said, err := handleOther(ctx, t, res); said || err != nil {
		return err
	}
	if done, err := t.describe(res); done || err != nil {
		return err
	}
	expect(t, whole, res.Size)
	if done, err := inSegments(ctx, t, req, res); done || err != nil {
		return err
	}
	return t.store(res)
}

// setOffset sets the offset of -C.
func setOffset(t *Transfer, req *fetch.Request) error {
	switch t.Op.Ask.Resume {
	case plan.ResumeGiven:
		t.Sink.Resume() // at its end, wherever the document resumes
		req.Offset = t.Op.Ask.ResumeAt
	case plan.ResumeFound:
		req.Offset = t.Sink.Resume()
		if l, isFTP := req.Locator.(*locator.FTP); isFTP && l.Type == 'a' && req.Offset > 0 {
			return fault.New(fault.Resume, errors.New("cannot resume an ASCII transfer: line-ending conversion changes the size"))
		}
	}
	return nil
}

// nameFile gives the file the name that the server chooses, if it may. It reports
// whether that file exists and the transfer is to be skipped.
func nameFile(t *Transfer, res *fetch.Resource) (skip bool, err error) {
	if t.Sink.File() {
		return false, nil // it was named in an earlier attempt
	}
	if err := nameByServer(t, res); err != nil || t.Sink.Served == "" {
		return false, err
	}
	return skips(t)
}

// nameByServer gives the file the name in the HTTP response, for -J, or else the name of the link
// that --number has selected.
func nameByServer(t *Transfer, res *fetch.Resource) error {
	name := t.picked
	if !t.place.Destination.Remote || !t.Op.Output.RemoteHeaderName && name == "" {
		return nil
	}
	if info, ok := res.Info.(*fetchhttp.Info); ok && t.Op.Output.RemoteHeaderName {
		name = cmp.Or(output.HeaderName(info.Header), name)
	}
	return t.Sink.NameByServer(t.Op.Output.Dir, name)
}

// handleOther handles a resource that is not a document: it prints what the user can do,
// or conducts the session. It reports false for a document.
func handleOther(ctx context.Context, t *Transfer, res *fetch.Resource) (bool, error) {
	switch res.Kind {
	case fetch.KindQuery:
		if res.Advice != "" {
			return true, t.Sink.Take(strings.NewReader(res.Advice + "\n"))
		}
		return true, fault.Errorf(fault.BadURL, "%s requires search words; add %s to the URL", res.Locator.Redacted(), client.QueryForm(res))
	case fetch.KindInteractive:
		return true, converse(ctx, t, res)
	case fetch.KindAdvice:
		return true, t.Sink.Take(strings.NewReader(res.Advice + "\n"))
	}
	names := false
	if t.Op.FTP.ListOnly && res.Items != nil {
		if p := output.Pattern(t.Locator, t.URL); p != nil {
			names, res.Items = true, listing.Matching(res, p)
		}
	}
	_, isProspero := res.Locator.(*locator.Prospero)
	if (names || isProspero && res.Items != nil) && !t.Op.Output.List && !t.Op.Output.JSON {
		return true, t.Sink.Take(listing.Lines(res))
	}
	return false, nil
}

// fillForm returns res, or, if that is a form, the response to the filled form.
func fillForm(ctx context.Context, t *Transfer, req *fetch.Request, res *fetch.Resource) (*fetch.Resource, error) {
	info, ok := res.Info.(*gopher.Info)
	if !ok || res.Kind != fetch.KindQuery || info.Attributes == nil {
		return res, nil
	}
	res.Close()
	return t.submit(ctx, req, info.Attributes)
}

// store writes a response to the sink: its head if requested, and its body.
func (t *Transfer) store(res *fetch.Resource) error {
	t.Sink.Charset = cmp.Or(t.Op.Output.Charset, charset.Declared(res.Charset))
	if err := writeHead(t, res); err != nil {
		return err
	}
	if lists(t, res) {
		return t.list(res)
	}
	switch isNews := client.IsNews(res.Locator); {
	case isNews && res.MediaType == "application/mbox" && t.place.Destination.Remote:
		return articleFiles(t, res)
	case isNews && res.MediaType == "message/rfc822":
		if shown, err := showArticle(t, res); shown || err != nil {
			return err
		}
	}
	if t.Verbatim() {
		t.came = resume.Of(res)
	}
	if err := t.Sink.Take(t.incoming(res.Body)); err != nil {
		return err
	}
	if trailer := t.Heads.Trailer(); t.Op.Output.Include && client.IsHTTP(res.Locator) && len(trailer) > 0 {
		t.Answer.ShownHead += len(trailer)
		if err := output.TakeHead(t.Sink, trailer); err != nil {
			return err
		}
	}
	if info, ok := res.Info.(*fetchhttp.Info); ok && (info.FailedPart != "" || t.Op.HTTP.FailWithBody && info.StatusCode >= 400) {
		return fault.Errorf(fault.Status, "%s: %s", t.Answer.Effective.Redacted(), cmp.Or(info.FailedPart, info.Status))
	}
	return nil
}

// showHeads writes the heads of responses that led to a failure or to an upload elsewhere,
// for -i and -I. An existing file is not changed.
func showHeads(t *Transfer) {
	head := t.Heads.Shown()
	if !t.Op.Output.Include && !t.Op.Ask.Head || len(head) == 0 || t.Answer.ShownHead > 0 || t.Sink.Count > 0 || t.Sink.Exists() {
		return
	}
	t.Answer.ShownHead = len(head)
	_ = output.TakeHead(t.Sink, head) // there is an error already, or no document
}

// writeHead writes the heads of an HTTP response, and of the redirects to it, for -i
// and -I. For a file it writes lines in the same format.
func writeHead(t *Transfer, res *fetch.Resource) error {
	head := t.Heads.Shown()
	if res.Locator.Scheme() == "file" {
		head = []byte(listing.FileHead(&res.Attributes) + "\r\n")
		t.Heads.Add(string(head))
	}
	if !t.Op.Output.Include && !t.Op.Ask.Head {
		return nil
	}
	t.Answer.ShownHead = len(head)
	return output.TakeHead(t.Sink, head)
}

// inSegments fetches a document over several connections; res is the response to req, and becomes
// the first segment. Only it shows whether the document is large and available in parts. It reports
// false if segments are not requested or not possible.
func inSegments(ctx context.Context, t *Transfer, req *fetch.Request, res *fetch.Resource) (done bool, err error) {
	if t.Op.Ask.Segments < 2 || t.Op.Archive.Path != "" { // which records whole documents
		return false, nil
	}
	job := segments.Job{
		Connections: t.Op.Ask.Segments, Request: req, Fetcher: t.ResolverFor(req.Locator),
		Incoming: t.incoming, Warn: t.Warn, Remark: t.watch.Remark,
		Missing: func(octets int64) {
			t.Heads.Stop()
			expect(t, req, octets)
		},
	}
	if !t.Verbatim() || t.watch.Data != nil || t.Sink.Path == "" || t.Sink.File() || !job.Worth(res) {
		return false, nil
	}
	if done, err = output.TakeSegments(ctx, t.Sink, job, res); done && err == nil {
		t.Account.Replied(226) // of FTP; the sessions have received other replies since
	}
	return done, err
}
