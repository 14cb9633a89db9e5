package transfer

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/internal/file/resume"
	"github.com/fetch1738/fetch1738/locator"
)

// A Transfer is the transfer of one URL.
type Transfer struct {
	Result
	engine  *Engine
	place   output.Place
	placing // among others that run at once

	watch      Watch
	flow       flow
	early      *client.Early   // its document, requested before its turn; may be nil
	input      io.Reader       // what is sent in a session; if nil, the Console's input
	left       int             // attempts after this one
	more       func() bool     // reports whether a transfer with the same server follows
	again      bool            // another file of the same wildcard was transferred before
	retryAfter time.Duration   // as the server requests
	came       resume.Edition  // version of the document whose beginning is in the sink
	etag       string          // of --etag-compare, or ""
	picked     string          // name of the link that --number has selected
	document   *entry.Document // what --json says about it; nil for nothing
	bounded    bool            // only the newest articles of the group are listed
}

func (e *Engine) newTransfer(access *client.Access, url string, place output.Place) *Transfer {
	return &Transfer{Result: Result{Call: client.Call{Access: access}, URL: url, Out: stdio.CheckOutput(e.Out)}, engine: e, place: place}
}

// perform performs a prepared transfer.
func (t *Transfer) perform(ctx context.Context) {
	t.engine.wait(ctx, t.Op.Global)
	t.Account.Begin()
	if t.Err = t.attempts(ctx); t.Err == nil {
		t.Err = saveETag(t)
	}
	t.Account.Finish()
	if t.Err != nil && !t.crowded {
		showHeads(t)
	}
	if t.Sink != nil {
		if o := &t.Op.Output; o.RemoveOnError || o.RemoteTime { // else Close returns the errors of writing
			t.Err = cmp.Or(t.Err, t.Sink.Flush())
		}
		t.Err = cmp.Or(t.Err, finishFile(t), t.Sink.Close())
	}
	t.Err = cmp.Or(t.Err, t.Heads.Finish())
}

// finishFile sets the time of the transfer's file, or removes the file after a failure, as
// the options say.
func finishFile(t *Transfer) error {
	switch o := t.Op.Output; {
	case t.Err != nil && o.RemoveOnError:
		return t.Sink.Remove()
	case t.Err == nil && o.RemoteTime && !t.Answer.Modified.IsZero():
		return t.Sink.SetTime(t.Answer.Modified)
	}
	return nil
}

// fresh returns the transfer as it was before it was performed.
func (t *Transfer) fresh() *Transfer {
	if !t.portion.Rewind() {
		_ = t.portion.Close() // else it would block the others
	}
	f := t.engine.newTransfer(t.Access, t.URL, t.place)
	f.Number, f.Serial, f.Upload, f.Source, f.Malformed = t.Number, t.Serial, t.Upload, t.Source, t.Malformed
	f.placing, f.Out, f.more = t.placing, t.Out, t.more
	f.crowded = false
	return f
}

// request requests the document of a transfer before its turn. It reports false if that may not be.
func (t *Transfer) request(ahead *client.Ahead) bool {
	if t.Malformed != nil || t.Read() != nil || !ahead.May(&t.Call) {
		return false
	}
	if t.Err = t.prepare(); t.Err == nil {
		t.early = ahead.Early(&t.Call)
	}
	return t.early != nil
}

// prepare parses the URL and determines the output.
func (t *Transfer) prepare() (err error) {
	if t.Malformed != nil {
		return t.Malformed
	}
	if err := t.Read(); err != nil {
		return err
	}
	if client.Secures(t.Op, t.Locator) { // before it connects
		if _, err := t.TLS(); err != nil {
			return err
		}
	}
	if err := t.Authenticate(); err != nil {
		return err
	}
	if t.Upload {
		t.Locator, err = withName(t.Locator, t.Source)
	}
	if err == nil {
		t.Sink, err = t.place.Sink(t.engine.Out, t.portion, output.LastSegment(t.Locator, t.URL), client.IsHTTP(t.Locator))
	}
	return err
}

// Read parses the URL and sets Locator. --proto must permit the scheme.
func (r *Result) Read() error {
	ref, err := r.Op.Reading.Parse(r.URL)
	if err != nil {
		return err
	}
	r.Departures = ref.Used
	r.Locator = client.WithQuery(r.Op, ref.Locator)
	r.Answer.Effective = r.Locator
	if scheme := r.Locator.Scheme(); !r.Op.Policy.Schemes.Has(scheme) {
		return fault.Errorf(fault.Unsupported, "the scheme %q is disabled by --proto", scheme)
	}
	return nil
}

// warnOfUnused warns about options that do not apply. curl ignores them silently.
func warnOfUnused(t *Transfer) {
	if client.IsHTTP(t.Locator) || t.AskedProxy(t.Locator) != nil || t.place.Listed != nil {
		return
	}
	path, isFTP := t.Locator.(*locator.FTP)
	if t.Op.Ask.Method != "" && !(isFTP && !t.Upload && (path.Name == "" || path.Type == 'd' || t.Op.FTP.ListOnly)) {
		t.Warn("-X, --request applies only to HTTP and to FTP listings; ignored")
	}
	if t.Op.Posted() != nil {
		t.Warn("-d, --data applies only to HTTP; ignored")
	}
}

// attempts performs the transfer, with retries.
func (t *Transfer) attempts(ctx context.Context) error {
	warnOfUnused(t)
	if err := openDump(t); err != nil {
		return err
	}
	if skip, err := skips(t); skip || err != nil {
		return err
	}
	if err := cmp.Or(readETag(t), readyETag(t)); err != nil {
		return err
	}
	ctx = t.Context(ctx)
	unwatched := ctx
	ctx = t.watched(ctx)
	if t.watch.Stop != nil {
		defer t.watch.Stop()
	}
	asked := t.Locator
	for try := range t.Op.Retry.Times + 1 {
		if try > 0 {
			t.Locator = asked // a followed link has changed it
		}
		t.left, t.Tries = t.Op.Retry.Times-try, try+1
		err := t.attempt(ctx)
		if err == nil {
			return tellDocument(t)
		}
		if isPutBack(t, err) || !waitToRetry(ctx, t, try, err) {
			findFolder(unwatched, t, err) // its commands are no part of the transfer
			return err
		}
	}
	return nil
}

// watched returns ctx with the hooks that record and show the transfer.
func (t *Transfer) watched(ctx context.Context) context.Context {
	t.Account.Uploading = t.Upload
	_, isFTP := t.Locator.(*locator.FTP)
	heads := &t.Heads
	heads.Replies, heads.NoTunnels = isFTP || client.IsHTTP(t.Locator), t.Op.Output.NoConnectHeads
	if t.Looks {
		heads = nil // those of a listing are not the document's
	}
	ctx = t.Account.Watch(ctx, heads, t.Op.Output.WriteOut != "")
	if t.engine.Events != nil {
		t.watch = t.engine.Events.Begin(&t.Result)
	}
	return traced(ctx, t)
}

// traced returns ctx with the traces of the Watch.
func traced(ctx context.Context, t *Transfer) context.Context {
	for _, trace := range t.watch.Traces {
		ctx = fetch.WithTrace(ctx, trace)
	}
	return ctx
}

// attempt performs the transfer once.
func (t *Transfer) attempt(ctx context.Context) (err error) {
	t.Heads.Restart()
	ctx, end := t.limit(ctx)
	defer func() { err = end(err) }()
	req, err := client.Request(t.Op, t.Locator)
	if p := t.AskedProxy(t.Locator); p != nil {
		req, err = client.RequestTo(t.Op, p, t.Locator)
	} else if _, isService := t.Locator.(*locator.Telnet); isService && err == nil {
		req.Interact, req.Options = true, telnetOptions(t)
	}
	// The effect of an upload through a gateway is not known, and it must not bypass the gateway.
	if err == nil && t.Gateway() != "" && (t.Upload || t.Op.Ask.Head || t.Op.Gopher.ListViews || t.Op.Posted() != nil) {
		err = driver.Fail(fetch.OpGateway, t.Locator, fetch.ErrUnsupported, errors.New("a gateway can only retrieve documents"))
	}
	if err == nil {
		askTime(ctx, t, req)
		askETag(t, req)
		if options, ok := req.Options.(*ftp.Options); ok {
			options.More = t.more
		}
	}
	switch {
	case err != nil:
		return err
	case t.Upload:
		if err := t.send(ctx, req); err != nil {
			return err
		}
		return t.Sink.Take(strings.NewReader("")) // creates the file of -o
	case t.Op.Gopher.ListViews, t.Op.Ask.Head && !client.IsHTTP(req.Locator):
		return t.attributes(ctx, req)
	}
	if done, err := attributesSuffice(ctx, t, req); done || err != nil {
		return err
	}
	outgoingData(t, req)
	err = t.receive(ctx, req)
	if ref, ok := errors.AsType[*fetch.Referral](err); ok && ref.Op == http.MethodHead && t.Op.Ask.Head {
		if req, err = redirectUpload(t, ref); err == nil {
			err = cmp.Or(output.TakeHead(t.Sink, t.Heads.Shown()), t.attributes(ctx, req))
		}
	}
	return err
}

// note records facts about a response.
func (t *Transfer) note(res *fetch.Resource) {
	if t.AskedProxy(t.Locator) == nil {
		t.Answer.Effective = res.Locator
	}
	if !res.ModTime.IsZero() {
		t.Answer.Modified = res.ModTime
	}
	switch info := res.Info.(type) {
	case *fetchhttp.Info:
		if n := len(info.Redirects); n > 0 && info.Redirects[n-1].Locator.Secure && res.Locator.Scheme() == "http" {
			t.Warn("redirected from https to http: %s", res.Locator.Redacted())
		}
		warnOfForwarded(t, info.Redirects, res.Locator)
		t.Answer.Web, t.Answer.Header = info, res.Header
		t.Answer.Status, t.Answer.Redirects = info.StatusCode, len(info.Redirects)
		t.Answer.ContentType = info.Header.Get("Content-Type")
		if t.host != nil && client.IsShared(info) {
			t.host.shared.Store(true)
		}
	case *ftp.Info:
		t.Answer.EntryPath = info.EntryPath
	}
}

// warnOfForwarded warns about data that redirects have sent to further servers.
func warnOfForwarded(t *Transfer, redirects []fetchhttp.Redirect, last locator.Locator) {
	for i, r := range redirects {
		to := last
		if i+1 < len(redirects) {
			to = redirects[i+1].Locator
		}
		from, _ := locator.ServerOf(r.Locator)
		there, _ := locator.ServerOf(to)
		if r.SentOn && !t.Op.HTTP.LocationTrusted && from.HostPort != there.HostPort {
			t.Warn("status %d: the data was also sent to another server: %s", r.StatusCode, to.Redacted())
		}
	}
}

// expect reports the number of bytes to transfer, of a resource of a size.
func expect(t *Transfer, req *fetch.Request, size int64) {
	switch {
	case size < 0 || t.watch.Total == nil:
		return
	case req.Offset < 0:
		size = min(size, -req.Offset)
	default:
		size = max(0, size-req.Offset)
	}
	if req.Length > 0 {
		size = min(size, req.Length)
	}
	t.watch.Total(size)
}

// skips reports whether the file exists and the transfer is to be skipped.
func skips(t *Transfer) (skip bool, err error) {
	if t.Upload {
		return false, nil
	}
	skip, err = t.Sink.Skips(t.Op.Output.SkipExisting)
	t.Skipped = skip
	return skip, err
}

// openDump opens the file for heads.
func openDump(t *Transfer) error {
	o := &t.Op.Output
	switch o.DumpHeader {
	case "":
		return nil
	case "-":
		t.Heads.Dump(output.Harmless(t.Out, o.Raw), nil)
		return nil
	case "%":
		t.Heads.Dump(output.Harmless(t.engine.Err, o.Raw), nil)
		return nil
	}
	file, err := t.engine.dumps.Open(&t.place)
	if err == nil {
		t.Heads.Dump(output.Harmless(file, o.Raw), file)
	}
	return err
}
