package transfer

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/internal/file/resume"
	"github.com/fetch1738/fetch1738/internal/pace"
	"github.com/fetch1738/fetch1738/locator"
)

// A Transfer is the transfer of one URL.
type Transfer struct {
	Result
	*common
	hosted
	place output.Place

	portion    *output.Portion // of standard output; nil unless transfers run at once
	watch      Watch
	early      *client.Early // its document, requested before its turn; may be nil
	more       func() bool   // reports whether a transfer with the same server follows
	again      bool          // another file of the same wildcard was transferred before
	crowded    bool          // the host refused the connection, and the transfer waits
	retryAfter time.Duration // as the server requests
}

// common is what the transfers of an Engine share.
type common struct {
	in       io.Reader
	out, err io.Writer
	events   Events
	console  Console

	once   sync.Once
	starts *pace.Pace // the rate of --rate
	dumps  output.Dumps
}

// wait waits before a transfer as --rate requires.
func (c *common) wait(ctx context.Context, g *plan.Global) {
	c.once.Do(func() { c.starts = pace.Every(g.Interval) })
	_ = c.starts.Wait(ctx, 1) // an interrupted transfer fails as it begins
}

// openDump opens the file for the heads of r.
func (c *common) openDump(r *Result, place *output.Place) error {
	o := &r.Op.Output
	switch o.DumpHeader {
	case "":
		return nil
	case "-":
		r.Heads.Dump(output.Harmless(r.Out, o.Raw), nil)
		return nil
	case "%":
		r.Heads.Dump(output.Harmless(c.err, o.Raw), nil)
		return nil
	}
	file, err := c.dumps.Open(place)
	if err == nil {
		r.Heads.Dump(output.Harmless(file, o.Raw), file)
	}
	return err
}

// newTransfer returns the transfer of a task, which writes to standard output.
func (c *common) newTransfer(network *client.Network, task Task, place output.Place) *Transfer {
	task.Out = stdio.CheckOutput(c.out)
	return &Transfer{Result: Result{Call: client.Call{Network: network}, Task: task}, common: c, place: place}
}

// fresh returns the transfer as it was before it was performed, to be put back.
func (t *Transfer) fresh() *Transfer {
	if !t.portion.Rewind() {
		_ = t.portion.Close() // else it would block the others
	}
	return &Transfer{
		Result: Result{Call: client.Call{Network: t.Network}, Task: t.Task}, common: t.common, place: t.place,
		portion: t.portion, hosted: hosted{t.host, t.putBacks + 1},
	}
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
	if client.Secures(&t.Op.TLS, t.Locator) { // before it connects
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
	if err != nil {
		return err
	}
	name := output.RemoteName(t.Locator, t.URL)
	if name == output.NoName && t.place.Destination.Remote && len(t.Op.Ask.Numbers) == 0 {
		t.Warn("the URL has no file name; the file is %s", name)
	}
	t.Sink, err = t.place.Sink(t.out, t.portion, name, client.IsHTTP(t.Locator))
	return err
}

// perform performs a prepared transfer.
func (t *Transfer) perform(ctx context.Context) {
	t.wait(ctx, t.Op.Global)
	t.Account.Begin()
	if t.Err = t.attempts(ctx); t.Err == nil {
		t.Err = saveETag(&t.place, t.Out, t.Answer.Web)
	}
	t.Account.Finish()
	if t.Err != nil && !t.crowded {
		showHeads(&t.Result)
	}
	if t.Sink != nil {
		if o := &t.Op.Output; o.RemoveOnError || o.RemoteTime { // else Close returns the errors of writing
			t.Err = cmp.Or(t.Err, t.Sink.Flush())
		}
		t.Err = cmp.Or(t.Err, finishFile(&t.Result), t.Sink.Close())
	}
	t.Err = cmp.Or(t.Err, t.Heads.Finish())
}

// finishFile sets the time of the transfer's file, or removes the file after a failure, as
// the options say.
func finishFile(r *Result) error {
	switch o := r.Op.Output; {
	case r.Err != nil && o.RemoveOnError:
		return r.Sink.Remove()
	case r.Err == nil && o.RemoteTime && !r.Answer.Modified.IsZero():
		return r.Sink.SetTime(r.Answer.Modified)
	}
	return nil
}

// warnOfUnused warns about options that do not apply. curl ignores them silently.
func warnOfUnused(r *Result) {
	if client.IsHTTP(r.Locator) || r.AskedProxy(r.Locator) != nil {
		return
	}
	path, isFTP := r.Locator.(*locator.FTP)
	if r.Op.Ask.Method != "" && !(isFTP && !r.Upload && (path.Name == "" || path.Type == 'd' || r.Op.FTP.ListOnly)) {
		r.Warn("-X, --request applies only to HTTP and to FTP listings; ignored")
	}
	if r.Op.Posted() != nil {
		r.Warn("-d, --data applies only to HTTP; ignored")
	}
}

// attempts performs the transfer, with retries.
func (t *Transfer) attempts(ctx context.Context) error {
	if t.place.Listed == nil { // else each file of a wildcard would be warned about
		warnOfUnused(&t.Result)
	}
	if err := t.openDump(&t.Result, &t.place); err != nil {
		return err
	}
	if skipped, err := t.skip(); skipped || err != nil {
		return err
	}
	etag, err := readETag(&t.place, t.Warn)
	if err = cmp.Or(err, readyETag(&t.place)); err != nil {
		return err
	}
	ctx = t.Context(ctx)
	unwatched := ctx
	ctx = t.watched(ctx)
	if t.watch.Stop != nil {
		defer t.watch.Stop()
	}
	asked, each := t.Locator, given{
		hosted: t.hosted, place: &t.place, watch: &t.watch, console: t.console, in: t.in, early: t.early, etag: etag, more: t.more,
	}
	var came resume.Edition
	for t.Tries = 1; ; t.Tries++ {
		t.Locator = asked // a followed link has changed it
		a := &attempt{Result: &t.Result, given: each, carried: carried{came: came}}
		err := t.attempt(ctx, a)
		if err == nil {
			return tellDocument(&t.Result, t.place.Keeps(), a.document)
		}
		came, t.retryAfter, t.crowded = a.came, a.retryAfter, a.crowded || t.isRefused(&t.Result, err)
		if t.crowded || !waitToRetry(ctx, &t.Result, err, a.retryAfter, a.canResume()) {
			t.Folder = findFolder(t.watch.traced(unwatched), &t.Call, err) // its commands are no part of the transfer
			return err
		}
	}
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
	if t.events != nil {
		t.watch = t.events.Begin(&t.Result)
	}
	return t.watch.traced(ctx)
}

// attempt performs the transfer once.
func (t *Transfer) attempt(ctx context.Context, a *attempt) (err error) {
	t.Heads.Restart()
	ctx, end := limit(ctx, &t.Result)
	defer func() { err = end(err) }()
	a.flow = flow{pace.New(t.Op.Limits.Rate), ctx, t.watch.Data}
	req, err := a.request(ctx)
	switch {
	case err != nil:
		return err
	case t.Upload:
		if err := a.send(ctx, req); err != nil {
			return err
		}
		return t.Sink.Take(strings.NewReader("")) // creates the file of -o
	case t.Op.Gopher.ListViews, t.Op.Ask.Head && !client.IsHTTP(req.Locator):
		return a.attributes(ctx, req)
	}
	if found, done, err := suffices(ctx, a.Result, a.place.Keeps(), req); done || err != nil {
		if found != nil {
			a.document = describes(a.name(req.Locator), req.Locator, found)
		}
		return err
	}
	a.seekable(req)
	err = a.receive(ctx, req)
	if ref, ok := errors.AsType[*fetch.Referral](err); ok && ref.Op == http.MethodHead && t.Op.Ask.Head {
		if req, err = redirect(a.Result, ref); err == nil {
			err = cmp.Or(output.TakeHead(t.Sink, t.Heads.Shown()), a.attributes(ctx, req))
		}
	}
	return err
}

// request returns the request of the attempt.
func (a *attempt) request(ctx context.Context) (*fetch.Request, error) {
	req, err := client.Request(a.Op, a.Locator)
	if p := a.AskedProxy(a.Locator); p != nil {
		req, err = client.RequestTo(a.Op, p, a.Locator)
	} else if _, isService := a.Locator.(*locator.Telnet); isService && err == nil {
		req.Interact, req.Options = true, telnetOptions(&a.Op.Telnet, a.Upload, a.console)
	}
	if err != nil {
		return nil, err
	}
	// The effect of an upload through a gateway is not known, and it must not bypass the gateway.
	if a.Gateway() != "" && (a.Upload || a.Op.Ask.Head || a.Op.Gopher.ListViews || a.Op.Posts()) {
		return nil, driver.Fail(fetch.OpGateway, a.Locator, fetch.ErrUnsupported, errors.New("a gateway can only retrieve documents"))
	}
	askTime(a.Op, req)
	if modified := askGopher(ctx, a.Result, req); !modified.IsZero() {
		a.Answer.Modified = modified
	}
	askETag(req, a.etag)
	if options, ok := req.Options.(*ftp.Options); ok {
		options.More = a.more
	}
	return req, nil
}
