package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/pace"
	"github.com/fetch1738/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/locator"
)

// A transfer is one URL and what is done about it.
type transfer struct {
	*environment
	url       string   // as typed, or one of those that a glob stands for
	values    []string // what the glob's sets and ranges are in it
	malformed error    // what is wrong with the glob
	number    int      // of the URL on the command line, from 0
	serial    int      // of the transfer, from 0
	dest      destination
	upload    bool
	source    string // the file to upload; "" otherwise
	listed    *match // what the URL is of, if it was found by a wildcard
	placing          // among others, with -Z

	locator    locator.Locator
	departures locator.Tolerance // what the URL needed
	input      io.Reader         // what is said to a service; nil for standard input
	account    account
	heads      heads
	asking     atomic.Bool // a password is being asked for
	narrator   *narrator   // nil unless the conversation is to be shown
	meter      *progress.Meter
	pace       *pace.Pace      // nil without --limit-rate
	paceEnds   context.Context // ends a wait for it
	sink       *sink
	folder     folder
	left       int // tries, after this one
	tries      int
	retryAfter time.Duration // what the server wants
	came       edition       // of the document whose beginning is in the sink
	etag       string        // of --etag-compare; "" without it
	result     result
	err        error
	code       int
}

// result is what the answer was, for -w.
type result struct {
	effective   locator.Locator // where the answer came from
	status      int
	redirects   int
	contentType string
	entryPath   string
	shownHead   int             // octets of it that went to the output
	web         *fetchhttp.Info // of HTTP
	header      []fetch.Field   // of HTTP
	modified    time.Time
	submitted   bool // of a form
}

// run does the transfer and tells of it. It returns the exit code.
func (t *transfer) run(ctx context.Context) int {
	if t.err = t.prepare(); t.err == nil {
		t.perform(ctx)
	}
	t.report()
	return t.code
}

// perform does a transfer that is prepared.
func (t *transfer) perform(ctx context.Context) {
	_ = t.op.starts.Wait(ctx, 1) // an interrupted one fails as it begins
	t.account.start = time.Now()
	if t.err = t.attempts(ctx); t.err == nil {
		t.err = t.saveETag()
	}
	t.account.end = time.Now()
	if t.err != nil && !t.crowded {
		t.showHeads()
	}
	if t.sink != nil {
		if err := t.sink.close(); t.err == nil {
			t.err = err
		}
		if err := t.finishFile(); t.err == nil {
			t.err = err
		}
	}
	if err := t.heads.finish(); t.err == nil {
		t.err = err
	}
}

// report tells how it went, by the exit code and in words.
func (t *transfer) report() {
	t.code = t.exitCode()
	t.complain()
	if t.op.writeOut != "" {
		t.writeOut()
	}
}

// reset makes the transfer as it was before it was performed.
func (t *transfer) reset() {
	t.account, t.heads, t.result = account{}, heads{}, result{}
	if !t.portion.rewind() {
		_ = t.portion.close() // nobody else could have his turn
	}
	t.sink, t.meter, t.retryAfter, t.came, t.crowded, t.folder = nil, nil, 0, edition{}, false, noFolder
	t.settle()
}

func (t *transfer) exitCode() int {
	f := failure{
		err: t.err, uploading: t.upload, resuming: t.op.resume != resumeNot,
		unheard: !t.account.answered, sending: t.upload && t.account.moved.Load() > 0,
	}
	if t.locator != nil {
		f.scheme = t.locator.Scheme()
		if p := t.proxyTo(f.scheme, t.serverOf(t.locator).HostPort); p != nil {
			f.proxy = p.Scheme
		}
		if t.gateway() != "" || t.askedProxy(t.locator) != nil {
			f.scheme = "http"
		}
	}
	return f.code()
}

// complain says what went wrong, unless that is not wanted.
func (t *transfer) complain() {
	if t.err != nil && t.code != exitInterrupted && (!t.op.silent || t.op.showError) {
		fmt.Fprintf(t.std.err, "fetch1738: (%d) %s\n", t.code, t.message())
		if !t.op.silent {
			t.hint()
		}
	}
	if t.err == nil && !t.op.silent && t.isGopher() && t.spoken() != nil {
		t.hint() // any octets are a document of gopher
	}
}

// message is the error in one printable line.
func (t *transfer) message() string {
	if known, ok := errors.AsType[*fetch.Error](t.err); ok && error(known) == t.err {
		return known.Error()
	}
	return term.SafeLine(t.err.Error(), maxMessage)
}

// warn tells of what is no failure.
func (e *environment) warn(format string, args ...any) {
	if !e.op.silent {
		fmt.Fprintf(e.std.err, "fetch1738: warning: %s\n", term.SafeLine(fmt.Sprintf(format, args...), maxMessage))
	}
}

// prepare reads the URL and finds out where its document goes.
func (t *transfer) prepare() (err error) {
	if t.malformed != nil {
		return t.malformed
	}
	if err := t.readURL(); err != nil {
		return err
	}
	if t.op.secures(t.locator) { // so that nobody is connected to in vain
		if _, err := t.tls(); err != nil {
			return err
		}
	}
	if err := t.authenticate(); err != nil {
		return err
	}
	if t.upload {
		t.locator, err = withName(t.locator, t.source)
	}
	if err == nil {
		t.sink, err = t.newSink()
	}
	return err
}

// readURL reads the URL, whose scheme must be one that may be used.
func (t *transfer) readURL() error {
	ref, err := t.op.parseURL(t.url)
	if err != nil {
		return err
	}
	t.departures = ref.Used
	t.locator = t.op.withQuery(ref.Locator)
	t.result.effective = t.locator
	if scheme := t.locator.Scheme(); !t.op.proto.has(scheme) {
		return &codedError{exitUnsupported, fmt.Errorf("the scheme %q is switched off by --proto", scheme)}
	}
	return nil
}

// warnOfUnused tells of options that say what to do and mean nothing here. curl
// passes over them.
func (t *transfer) warnOfUnused() {
	if isHTTP(t.locator) || t.askedProxy(t.locator) != nil || t.listed != nil {
		return
	}
	path, isFTP := t.locator.(*locator.FTP)
	if t.op.method != "" && !(isFTP && !t.upload && (path.Name == "" || path.Type == 'd' || t.op.listOnly)) {
		t.warn("-X, --request is for http and for listings by ftp; it means nothing here")
	}
	if t.op.posted() != nil {
		t.warn("-d, --data is for http; nothing is sent")
	}
}

// attempts does what is to be done, more than once if need be.
func (t *transfer) attempts(ctx context.Context) error {
	t.warnOfUnused()
	if err := t.openDump(); err != nil {
		return err
	}
	if skip, err := t.skips(); skip || err != nil {
		return err
	}
	if err := cmp.Or(t.readETag(), t.readyETag()); err != nil {
		return err
	}
	ctx = context.WithValue(ctx, transferKey{}, t)
	unwatched := ctx
	t.account.uploading = t.upload
	ctx = t.account.watch(ctx, t.op.writeOut != "")
	_, isFTP := t.locator.(*locator.FTP)
	t.heads.replies, t.heads.noTunnels = isFTP || isHTTP(t.locator), t.op.noConnectHeads
	ctx = t.heads.watch(ctx)
	if t.narrator = t.newTracer(); t.narrator != nil {
		n := t.narrator
		ctx = n.watch(ctx)
		if login := loginOf(t.locator); login != nil && t.sends(t.locator) && !t.op.secures(t.locator) {
			n.remark("%s carries the password over the network for everybody to read", t.locator.Scheme())
			if p := t.askedProxy(t.locator); p != nil && login.HasPassword {
				n.remark("the proxy %s is told the password", p)
			}
		}
	}
	if !t.op.verbose && !t.op.silent && term.IsTerminal(t.std.err) {
		ctx = watchQueue(ctx, newNarrator(t.std.err))
	}
	t.meter = t.startMeter()
	defer t.meter.Stop()
	asked := t.locator
	for try := range t.op.retry + 1 {
		t.locator = asked // --number has led on from there
		t.left, t.tries = t.op.retry-try, try+1
		err := t.attempt(ctx)
		if err == nil || t.turnedAway(err) || !t.again(ctx, try, err) {
			t.findFolder(unwatched, err)
			return err
		}
	}
	return nil
}

// gateway is the gateway of the transfer's scheme, or "".
func (t *transfer) gateway() string { return t.op.gateways[t.locator.Scheme()] }

// sends reports whether the login of a Locator goes to the server.
func (t *transfer) sends(l locator.Locator) bool {
	return l.Scheme() != "telnet" || t.op.telnet.login
}

// attempt does it once.
func (t *transfer) attempt(ctx context.Context) (err error) {
	t.heads.again()
	ctx, end := t.limit(ctx)
	defer func() { err = end(err) }()
	req, err := t.op.request(t.locator)
	if p := t.askedProxy(t.locator); p != nil {
		req, err = t.op.requestTo(p, t.locator)
	} else if _, isService := t.locator.(*locator.Telnet); isService && err == nil {
		req.Interact, req.Options = true, t.telnetRequest()
	}
	if err == nil && t.gateway() != "" && (t.upload || t.op.head || t.op.listViews || t.op.posted() != nil) {
		err = fetch.Fail(fetch.OpGateway, t.locator, fetch.ErrUnsupported, errors.New("a gateway retrieves documents and does nothing else"))
	}
	if err == nil {
		t.askTime(ctx, req)
		t.askETag(req)
	}
	switch {
	case err != nil:
		return err
	case t.upload:
		if err := t.send(ctx, req); err != nil {
			return err
		}
		return t.sink.take(strings.NewReader("")) // the file of -o, which no answer has filled
	case t.op.listViews, t.op.head && !isHTTP(req.Locator):
		return t.attributes(ctx, req)
	}
	t.outgoingData(req)
	err = t.receive(ctx, req)
	if ref, ok := errors.AsType[*fetch.Referral](err); ok && ref.Op == http.MethodHead && t.op.head {
		if req, err = t.elsewhere(ref); err == nil {
			err = cmp.Or(t.sink.take(bytes.NewReader(t.heads.shown())), t.attributes(ctx, req))
		}
	}
	return err
}

// note keeps what is of interest about an answer.
func (t *transfer) note(res *fetch.Resource) {
	if t.askedProxy(t.locator) == nil {
		t.result.effective = res.Locator
	}
	if !res.ModTime.IsZero() {
		t.result.modified = res.ModTime
	}
	switch info := res.Info.(type) {
	case *fetchhttp.Info:
		if n := len(info.Redirects); n > 0 && info.Redirects[n-1].Locator.Secure && res.Locator.Scheme() == "http" {
			t.warn("redirected from https to http: %s", res.Locator.Redacted())
		}
		t.warnOfSentOn(info.Redirects, res.Locator)
		t.result.web, t.result.header = info, res.Header
		t.result.status, t.result.redirects = info.StatusCode, len(info.Redirects)
		t.result.contentType = info.Header.Get("Content-Type")
	case *ftp.Info:
		t.result.entryPath = info.EntryPath
	}
}

// warnOfSentOn tells of servers that have got what was to be sent to another.
func (t *transfer) warnOfSentOn(redirects []fetchhttp.Redirect, last locator.Locator) {
	for i, r := range redirects {
		to := last
		if i+1 < len(redirects) {
			to = redirects[i+1].Locator
		}
		from, _ := locator.ServerOf(r.Locator)
		there, _ := locator.ServerOf(to)
		if r.SentOn && !t.op.locationTrusted && from.HostPort != there.HostPort {
			t.warn("status %d: the data was sent on to another server: %s", r.StatusCode, to.Redacted())
		}
	}
}

func isHTTP(l locator.Locator) bool {
	_, ok := l.(*locator.HTTP)
	return ok
}

// transfers are those that the operation's URLs stand for, in order.
func (e *environment) transfers(ctx context.Context) iter.Seq[*transfer] {
	return func(yield func(*transfer) bool) {
		serial := 0
		for i := range e.op.urls {
			urls, sources, malformed := e.op.globs(i)
			for source := range sources.All() {
				for url, values := range urls.All() {
					t := &transfer{
						environment: e, url: url, values: values, number: i,
						dest: e.op.output(i), source: source, upload: source != "", malformed: malformed,
					}
					for one := range t.expanded(ctx) {
						one.serial = serial
						serial++
						if !yield(one) {
							return
						}
					}
				}
			}
		}
	}
}
