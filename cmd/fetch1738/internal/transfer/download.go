package transfer

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/listing"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/internal/file/resume"
	"github.com/fetch1738/fetch1738/internal/file/segments"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// receive fetches a document into the sink.
func (a *attempt) receive(ctx context.Context, req *fetch.Request) error {
	if a.Op.Ask.Span != nil && a.Op.Ask.Span.Empty {
		return localerr.New(localerr.Range, errors.New("the range is empty"))
	}
	if err := setOffset(a.Op, a.Sink, req); err != nil {
		return err
	}
	requestModTime(a.Op, req)
	a.newest = askArticles(&a.Op.Output, req, a.Op.Ask.Numbers, a.place.Browses(a.Sink))
	whole := req
	req, res, err := a.fetch(ctx, req)
	if err != nil {
		return err
	}
	if res, err = a.fillForm(ctx, req, res); err != nil {
		return err
	}
	for i, n := range a.Op.Ask.Numbers {
		if res, err = a.follow(ctx, res, n, a.Op.Ask.Numbers[i+1:]); err != nil {
			return err
		}
	}
	defer res.Close()
	if len(a.Op.Form) > 0 && !a.submitted && !client.IsHTTP(res.Locator) {
		return localerr.Usagef("--form: %s is not a form", res.Locator.Redacted())
	}
	note(a.Result, a.host, res)
	if err := a.checkStatus(req, res); err != nil {
		return err
	}
	if unmet(a.Op.Ask.Time, a.etag != "", a.Answer.Modified, req, res) {
		if _, isHTTP := res.Info.(*fetchhttp.Info); isHTTP {
			a.Answer.Status = http.StatusNotModified // as the server should have sent
		}
		if client.IsHTTP(res.Locator) {
			return writeHead(a.Result, res)
		}
		return nil
	}
	if err := a.listWeb(res); err != nil {
		return err
	}
	if skip, err := a.nameFile(res); skip || err != nil {
		return err
	}
	if said, err := a.handleOther(ctx, res); said || err != nil {
		return err
	}
	if done, err := a.describe(res); done || err != nil {
		return err
	}
	a.watch.expect(whole, res.Size)
	if done, err := a.inSegments(ctx, req, res); done || err != nil {
		return err
	}
	return a.store(res)
}

// setOffset sets the offset of -C.
func setOffset(o *plan.Operation, sink *output.Sink, req *fetch.Request) error {
	switch o.Ask.Resume {
	case plan.ResumeGiven:
		sink.Resume() // at its end, wherever the document resumes
		req.Offset = o.Ask.ResumeAt
	case plan.ResumeFound:
		req.Offset = sink.Resume()
		if l, isFTP := req.Locator.(*locator.FTP); isFTP && l.Type == 'a' && req.Offset > 0 {
			return localerr.New(localerr.Resume, errors.New("cannot resume an ASCII transfer: line-ending conversion changes the size"))
		}
	}
	return nil
}

// nameFile gives the file the name that the server chooses, if it may. It reports
// whether that file exists and the transfer is to be skipped.
func (a *attempt) nameFile(res *fetch.Resource) (skip bool, err error) {
	if a.Sink.File() {
		return false, nil // it was named in an earlier attempt
	}
	if err := nameByServer(a.place, a.Sink, a.picked, res); err != nil || a.Sink.Served == "" {
		return false, err
	}
	return a.skip()
}

// nameByServer gives the file the name in the HTTP response, for -J, or else the name of the link
// that --number has picked, which may be a title.
func nameByServer(place *output.Place, sink *output.Sink, picked string, res *fetch.Resource) error {
	name, o := picked, &place.Op.Output
	if !place.Destination.Remote || !o.RemoteHeaderName && name == "" {
		return nil
	}
	if name != "" {
		name = filename.WithSuffix(name, output.DecodedName(res.Locator, ""), res.MediaType)
	}
	if info, ok := res.Info.(*fetchhttp.Info); ok && o.RemoteHeaderName {
		name = cmp.Or(output.HeaderName(info.Header), name)
	}
	return sink.NameByServer(o.Dir, name)
}

// handleOther handles a resource that is not a document: it prints what the user can do,
// or conducts the session. It reports false for a document.
func (a *attempt) handleOther(ctx context.Context, res *fetch.Resource) (bool, error) {
	switch res.Kind {
	case fetch.KindQuery:
		if res.Advice != "" {
			return true, a.Sink.Take(strings.NewReader(res.Advice + "\n"))
		}
		return true, localerr.Errorf(localerr.BadURL, "%s requires search words; add %s to the URL", res.Locator.Redacted(), client.QueryForm(res))
	case fetch.KindInteractive:
		return true, a.converse(ctx, res)
	case fetch.KindAdvice:
		return true, a.Sink.Take(strings.NewReader(res.Advice + "\n"))
	}
	names := false
	if a.Op.FTP.ListOnly && res.Items != nil {
		if p := output.Pattern(a.Locator, a.URL); p != nil {
			names, res.Items = true, listing.Matching(res, p)
		}
	}
	_, isProspero := res.Locator.(*locator.Prospero)
	if (names || isProspero && res.Items != nil) && !a.Op.Output.List && !a.Op.Output.JSON {
		return true, a.Sink.Take(listing.Lines(res))
	}
	return false, nil
}

// store writes a response to the sink: its head if requested, and its body.
func (a *attempt) store(res *fetch.Resource) error {
	a.Sink.Charset = cmp.Or(a.Op.Output.Charset, charset.Declared(res.Charset))
	if err := writeHead(a.Result, res); err != nil {
		return err
	}
	if lists(a.place, a.Sink, res) {
		return a.list(res)
	}
	switch isNews := entry.IsNews(res.Locator); {
	case isNews && res.MediaType == "application/mbox" && a.place.Destination.Remote:
		return articleFiles(a.place, output.LastSegment(a.Locator, a.URL), res, a.incoming)
	case isNews && res.MediaType == "message/rfc822":
		if shown, err := showArticle(a.Sink, a.Op.Output.Charset, a.incoming(res.Body)); shown || err != nil {
			return err
		}
	}
	if a.Verbatim() {
		a.came = resume.Of(res)
	}
	if err := a.Sink.Take(a.incoming(res.Body)); err != nil {
		return err
	}
	if trailer := a.Heads.Trailer(); a.Op.Output.Include && client.IsHTTP(res.Locator) && len(trailer) > 0 {
		a.Answer.ShownHead += len(trailer)
		if err := output.TakeHead(a.Sink, trailer); err != nil {
			return err
		}
	}
	if info, ok := res.Info.(*fetchhttp.Info); ok && (info.FailedPart != "" || a.Op.HTTP.FailWithBody && info.StatusCode >= 400) {
		return localerr.Errorf(localerr.Status, "%s: %s", a.Answer.Effective.Redacted(), cmp.Or(info.FailedPart, info.Status))
	}
	return nil
}

// inSegments fetches a document over several connections; res is the response to req, and becomes
// the first segment. Only it shows whether the document is large and available in parts. It reports
// false if segments are not requested or not possible.
func (a *attempt) inSegments(ctx context.Context, req *fetch.Request, res *fetch.Resource) (done bool, err error) {
	if a.Op.Ask.Segments < 2 || a.Op.Archive.Path != "" { // which records whole documents
		return false, nil
	}
	job := segments.Job{
		Connections: a.Op.Ask.Segments, Request: req, Fetcher: a.ResolverFor(req.Locator),
		Incoming: a.incoming, Warn: a.Warn, Remark: a.watch.Remark,
		Missing: func(octets int64) {
			a.Heads.Stop()
			a.watch.expect(req, octets)
		},
	}
	if !a.Verbatim() || a.data != nil || a.Sink.Path == "" || a.Sink.File() || !job.Worth(res) {
		return false, nil
	}
	if done, err = output.TakeSegments(ctx, a.Sink, job, res); done && err == nil {
		a.Account.Replied(226) // of FTP; the sessions have received other replies since
	}
	return done, err
}

// describe sets what --json says about a document. If no file gets the document, it is read only
// for its size or for --include-body, and describe reports true.
func (a *attempt) describe(res *fetch.Resource) (done bool, err error) {
	if !a.Op.Output.JSON || res.Items != nil {
		return false, nil
	}
	a.document = describes(a.name(res.Locator), res.Locator, &res.Attributes)
	if a.place.Keeps() {
		return false, nil
	}
	return true, measure(a.document, a.Op.Output.IncludeBody, a.incoming(res.Body))
}

// name returns the name of a document for --json.
func (a *attempt) name(l locator.Locator) string {
	return cmp.Or(a.picked, output.DecodedName(l, a.URL))
}

// attributes shows the attributes of a document, for -I.
func (a *attempt) attributes(ctx context.Context, req *fetch.Request) error {
	head, modified, err := findHead(ctx, a.ResolverFor(req.Locator), a.Op, req)
	if err != nil {
		return err
	}
	if l, isFTP := req.Locator.(*locator.FTP); isFTP && l.Name == "" && head == "" && modified.IsZero() && len(a.Op.FTP.Quotes) == 0 {
		a.Warn("the directory is there; the server says no more of it, because it does not support MLST")
	}
	a.Answer.Modified, a.Answer.ShownHead = modified, len(head)
	a.Heads.Add(head)
	return a.Sink.Take(strings.NewReader(head))
}

// note records facts about a response, in the Result and in the state of its server, which may be nil.
func note(r *Result, h *host, res *fetch.Resource) {
	if r.AskedProxy(r.Locator) == nil {
		r.Answer.Effective = res.Locator
	}
	if !res.ModTime.IsZero() {
		r.Answer.Modified = res.ModTime
	}
	switch info := res.Info.(type) {
	case *fetchhttp.Info:
		if n := len(info.Redirects); n > 0 && info.Redirects[n-1].Locator.Secure && res.Locator.Scheme() == "http" {
			r.Warn("redirected from https to http: %s", res.Locator.Redacted())
		}
		if !r.Op.HTTP.LocationTrusted {
			warnOfForwarded(r.Warn, info.Redirects, res.Locator)
		}
		r.Answer.Web, r.Answer.Header = info, res.Header
		r.Answer.Status, r.Answer.Redirects = info.StatusCode, len(info.Redirects)
		r.Answer.ContentType = info.Header.Get("Content-Type")
		if h != nil && client.IsShared(info) {
			h.shared.Store(true)
		}
	case *ftp.Info:
		r.Answer.EntryPath = info.EntryPath
	}
}

// warnOfForwarded warns about data that redirects have sent to further servers.
func warnOfForwarded(warn func(format string, args ...any), redirects []fetchhttp.Redirect, last locator.Locator) {
	for i, r := range redirects {
		to := last
		if i+1 < len(redirects) {
			to = redirects[i+1].Locator
		}
		from, _ := locator.ServerOf(r.Locator)
		there, _ := locator.ServerOf(to)
		if r.SentOn && from.HostPort != there.HostPort {
			warn("status %d: the data was also sent to another server: %s", r.StatusCode, to.Redacted())
		}
	}
}

// listWeb gives a page that lists a directory of a web server its entries, for --list and --json. For
// --list, another page is an error.
func (a *attempt) listWeb(res *fetch.Resource) error {
	o := &a.Op.Output
	if !client.IsHTTP(res.Locator) || o.IncludeBody || !o.List && (!o.JSON || a.place.Keeps()) {
		return nil
	}
	listed, err := listing.ReadWeb(res)
	if err == nil && !listed && o.List {
		err = localerr.Usagef("--list: %s is not a page that lists a directory in a known way; without --list it is fetched", res.Locator.Redacted())
	}
	return err
}
