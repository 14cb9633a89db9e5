package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// withName returns l for an upload of a file. If l is a directory, the name of the file
// is added.
func withName(l locator.Locator, file string) (locator.Locator, error) {
	name := filepath.Base(file)
	if stdio.IsStdin(file) {
		name = ""
	}
	missing := false
	switch u := l.(type) {
	case *locator.FTP:
		if missing = u.Name == ""; missing {
			l = client.Rewritten(l, func(path *locator.FTP) { path.Name, path.HasPath = name, true })
		}
	case *locator.HTTP:
		if missing = !u.HasSearch && (!u.HasPath || u.Path == "" || u.Path[len(u.Path)-1] == '/'); missing {
			named := *u
			named.Path, named.HasPath = u.Path+url.PathEscape(name), true
			l = &named
		}
	case *locator.File:
		last := len(u.Segments) - 1
		if missing = last >= 0 && u.Segments[last] == ""; missing {
			named := *u
			named.Segments = append(slices.Clone(u.Segments[:last]), name)
			l = &named
		}
	}
	if missing && name == "" {
		return nil, &fetch.Error{Op: fetch.OpParse, URL: l.Redacted(), Kind: fetch.ErrBadURL, Err: errors.New("standard input has no file name; add one to the URL")}
	}
	return l, nil
}

// send uploads the source.
func (a *attempt) send(ctx context.Context, req *fetch.Request) error {
	if client.IsHTTP(req.Locator) {
		return a.put(ctx, req)
	}
	if current, err := keepsRemote(ctx, a.Resolver, a.Op.Ask.Time, req); current || err != nil {
		return err
	}
	body, err := a.openSource(ctx)
	if err != nil {
		return err
	}
	defer body.Close()
	if options, isFTP := req.Options.(*ftp.Options); isFTP && a.Op.Output.RemoteTime {
		options.SetModTime = body.ModTime()
	}
	switch req.Locator.(type) {
	case *locator.Telnet:
		a.input = body
		return a.receive(ctx, req)
	case *locator.Mailto:
		_, err := a.Resolver.Update(ctx, req, body)
		return err
	}
	can := a.Resolver.Can(req.Locator.Scheme())
	switch {
	case a.Op.Ask.Resume != plan.ResumeNot && can.Replace:
		return resumeUpload(ctx, a.Result, req, body)
	case can.Replace && !a.Op.Ask.Append:
		var data io.Reader = body
		if _, isFTP := req.Locator.(*locator.FTP); isFTP {
			if file := body.File(); file != nil { // the trace counts what is sent
				a.Account.Uploading, data = false, file
			}
		}
		_, err = a.Resolver.Replace(ctx, req, data)
	case can.Update:
		err = appendUpload(ctx, a.Result, req, body)
	default:
		err = driver.Fail(fetch.OpUpload, req.Locator, fetch.ErrUnsupported, fmt.Errorf("%s does not support uploads", req.Locator.Scheme()))
	}
	return err
}

// put uploads by HTTP. The response is a document.
func (a *attempt) put(ctx context.Context, req *fetch.Request) error {
	if a.Op.Ask.Resume != plan.ResumeNot {
		a.Warn("HTTP cannot resume an upload; uploading the whole file")
	}
	body, err := a.openSource(ctx)
	if err != nil {
		return err
	}
	defer body.Close()
	options := req.Options.(*fetchhttp.Options)
	if options.Body = body.Reader(); options.Method == "" {
		options.Method = http.MethodPut
	}
	res, err := a.Resolver.Fetch(ctx, req)
	if err != nil {
		return a.uploadToRedirect(ctx, body, err)
	}
	defer res.Close()
	note(a.Result, a.host, res)
	if err := a.checkStatus(req, res); err != nil {
		return err
	}
	if err := nameByServer(a.place, a.Sink, a.picked, res); err != nil {
		return err
	}
	a.watch.expect(req, res.Size)
	return a.store(res)
}

// uploadToRedirect uploads the source to the URL that an HTTP server redirects to, for -L. If the
// source cannot be read again, it returns err; also for POST, which could add the data twice.
func (a *attempt) uploadToRedirect(ctx context.Context, body *source, err error) error {
	ref, ok := errors.AsType[*fetch.Referral](err)
	if !ok || ref.Op != http.MethodPut || body.Size() < 0 || !a.Resolver.Can(ref.To.Scheme()).Replace {
		return err
	}
	if !a.Op.HTTP.LocationTrusted {
		a.Warn("the data is also sent to another server: %s", ref.To.Redacted())
	}
	next, err := redirect(a.Result, ref)
	if err != nil {
		return err
	}
	a.Account.Moved.Store(0)
	showHeads(a.Result)
	return a.send(ctx, next)
}

// redirect changes the transfer to the URL that an HTTP server refers to.
func redirect(r *Result, ref *fetch.Referral) (*fetch.Request, error) {
	next, err := client.Request(r.Op, ref.To)
	if err == nil {
		next.From = ref.From
		r.Locator, r.Answer.Effective = next.Locator, next.Locator
		r.Answer.Redirects++
	}
	return next, err
}

// openSource opens the upload.
func (a *attempt) openSource(ctx context.Context) (*source, error) {
	s, err := newSource(ctx, a.Source, a.in, a.outgoing, &a.Account.Moved)
	if err == nil && a.watch.Total != nil && s.Size() >= 0 {
		a.watch.Total(s.Size())
	}
	return s, err
}
