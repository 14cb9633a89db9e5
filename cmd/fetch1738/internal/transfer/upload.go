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
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/source"
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
func (t *Transfer) send(ctx context.Context, req *fetch.Request) error {
	if client.IsHTTP(req.Locator) {
		return t.put(ctx, req)
	}
	if current, err := keepsRemote(ctx, t, req); current || err != nil {
		return err
	}
	body, err := openSource(ctx, t)
	if err != nil {
		return err
	}
	defer body.Close()
	if options, isFTP := req.Options.(*ftp.Options); isFTP && t.Op.Output.RemoteTime {
		options.SetModTime = body.ModTime()
	}
	switch req.Locator.(type) {
	case *locator.Telnet:
		t.input = body
		return t.receive(ctx, req)
	case *locator.Mailto:
		_, err := t.Resolver.Update(ctx, req, body)
		return err
	}
	can := t.Resolver.Can(req.Locator.Scheme())
	switch {
	case t.Op.Ask.Resume != plan.ResumeNot && can.Replace:
		return resumeUpload(ctx, t, req, body)
	case can.Replace && !t.Op.Ask.Append:
		var data io.Reader = body
		if _, isFTP := req.Locator.(*locator.FTP); isFTP {
			if file := body.File(); file != nil { // the trace counts what is sent
				t.Account.Uploading, data = false, file
			}
		}
		_, err = t.Resolver.Replace(ctx, req, data)
	case can.Update:
		err = appendUpload(ctx, t, req, body)
	default:
		err = driver.Fail(fetch.OpUpload, req.Locator, fetch.ErrUnsupported, fmt.Errorf("%s does not support uploads", req.Locator.Scheme()))
	}
	return err
}

// put uploads by HTTP. The response is a document.
func (t *Transfer) put(ctx context.Context, req *fetch.Request) error {
	if t.Op.Ask.Resume != plan.ResumeNot {
		t.Warn("HTTP cannot resume an upload; uploading the whole file")
	}
	body, err := openSource(ctx, t)
	if err != nil {
		return err
	}
	defer body.Close()
	options := req.Options.(*fetchhttp.Options)
	if options.Body = body.Reader(); options.Method == "" {
		options.Method = http.MethodPut
	}
	res, err := t.Resolver.Fetch(ctx, req)
	if err != nil {
		return uploadToRedirect(ctx, t, body, err)
	}
	defer res.Close()
	t.note(res)
	if err := t.checkStatus(req, res); err != nil {
		return err
	}
	if err := nameByServer(t, res); err != nil {
		return err
	}
	expect(t, req, res.Size)
	return t.store(res)
}

// uploadToRedirect uploads the source to the URL that an HTTP server redirects to, for -L. If the
// source cannot be read again, it returns err; also for POST, which could add the data twice.
func uploadToRedirect(ctx context.Context, t *Transfer, body *source.Source, err error) error {
	ref, ok := errors.AsType[*fetch.Referral](err)
	if !ok || ref.Op != http.MethodPut || body.Size() < 0 || !t.Resolver.Can(ref.To.Scheme()).Replace {
		return err
	}
	if !t.Op.HTTP.LocationTrusted {
		t.Warn("the data is also sent to another server: %s", ref.To.Redacted())
	}
	next, err := redirectUpload(t, ref)
	if err != nil {
		return err
	}
	t.Account.Moved.Store(0)
	showHeads(t)
	return t.send(ctx, next)
}

// redirectUpload changes the transfer to the URL that an HTTP server refers to.
func redirectUpload(t *Transfer, ref *fetch.Referral) (*fetch.Request, error) {
	next, err := client.Request(t.Op, ref.To)
	if err == nil {
		next.From = ref.From
		t.Locator, t.Answer.Effective = next.Locator, next.Locator
		t.Answer.Redirects++
	}
	return next, err
}

// openSource opens the upload.
func openSource(ctx context.Context, t *Transfer) (*source.Source, error) {
	s, err := source.Open(ctx, t.Source, t.engine.In, t.outgoing, &t.Account.Moved)
	if err == nil && t.watch.Total != nil && s.Size() >= 0 {
		t.watch.Total(s.Size())
	}
	return s, err
}
