package crawl

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// maxLinks is how many links of a document are kept.
const maxLinks = 100_000

var (
	errOctets   = errors.New("a limit of octets was reached")
	errSlow     = errors.New("the document takes too long; Crawl.Timeout raises the limit")
	errRobots   = errors.New("robots.txt forbids it")
	errReferral = errors.New("the referral is a link to follow")
)

// A job is a request to a host: for a document, or for a robots.txt or caps.txt.
type job struct {
	run   *run
	host  *host
	entry entry
	loc   locator.Locator // of the entry
	rules *rules          // of its server
	ask   string          // the robots.txt or caps.txt to be fetched first; or ""
	room  int64           // how many octets the limits permit

	// The answer.
	sent   bool // a connection was there, so the host was asked
	opened bool // a connection was established
	octets int64
	text   []byte // of a robots.txt or caps.txt
	found  links
	to     locator.Locator // of a referral or redirect
	err    error
	events []Event
	claims

	recording recording
}

// links are those of a document.
type links struct {
	inside  []link // of this crawl
	outside []Link // of other crawls
	cut     int    // beyond maxLinks
	skipped map[Reason]int
}

// skip counts a link that is not followed.
func (f *links) skip(why Reason) {
	if f.skipped == nil {
		f.skipped = make(map[Reason]int)
	}
	f.skipped[why]++
}

// A link is a URL in a document. The text of it is in host, url and similar.
type link struct{ host, url, similar string }

// do performs the request.
func (j *job) do(ctx context.Context) {
	if j.ask == "" && !j.rules.allows(j.loc) {
		j.err = driver.Fail(fetch.OpCheck, j.loc, fetch.ErrRefused, errRobots)
		return
	}
	defer j.run.gates.end(j)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(j.run.Timeout, func() { cancel(errSlow) })
	defer timer.Stop()
	var records archive.Recording
	if hops := j.hops(); hops != "" {
		records.Fields = []warc.Field{{Name: "hopsFromSeed", Value: hops}}
	}
	if j.run.Records != nil {
		records.Writing = j.recording.begin
	}
	ctx = archive.WithRecording(ctx, records)
	ctx = fetch.WithAllow(ctx, j.allow)
	ctx = fetch.WithTrace(ctx, &fetch.Trace{
		DialStart: func(string, string) { j.sent = true },
		Connected: func(c fetch.Connection) {
			if err := j.claimAgain(ctx, c); err != nil {
				cancel(err)
				return
			}
			j.connected()
		},
		Reused: func(fetch.Connection) { j.connected() },
		Body: func(n int64) {
			if j.octets += n; j.octets > j.room {
				cancel(errOctets)
			}
		},
	})
	j.err = j.fetch(ctx)
	if cause := context.Cause(ctx); j.err != nil && (errors.Is(cause, errOctets) || errors.Is(cause, errSlow)) {
		j.err = driver.Fail(fetch.OpRead, j.loc, fetch.ErrTooLarge, cause)
	}
}

func (j *job) connected() {
	j.sent, j.opened = true, true
	j.run.gates.connected(j)
}

// hops returns a letter for each step from a URL of Start, as Heritrix writes them: L for a link, P for
// what is asked for first.
func (j *job) hops() string {
	hops := strings.Repeat("L", int(j.entry.depth))
	if j.ask != "" {
		hops += "P"
	}
	return hops
}

// fetch fetches the document and reads its links.
func (j *job) fetch(ctx context.Context) error {
	req, err := j.request()
	if err != nil {
		return err
	}
	res, err := j.run.Resolver.Fetch(ctx, req)
	switch {
	case err != nil && j.to != nil: // allow has refused to follow a referral
		return nil
	case err != nil:
		return err
	}
	defer res.Close()
	info, _ := res.Info.(*fetchhttp.Info)
	switch {
	case res.Kind == fetch.KindQuery, res.Kind == fetch.KindInteractive, res.Kind == fetch.KindAdvice:
		return driver.Fail(fetch.OpFetch, req.Locator, fetch.ErrNoOctets, nil)
	case j.ask != "":
		j.text, err = io.ReadAll(io.LimitReader(res.Body, maxRobots))
	case res.Items != nil:
		err = j.readItems(res)
	case res.MediaType == "text/html":
		err = j.readHTML(res)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, res.Body) // for the Recorder
	}
	if err == nil {
		err = res.Close() // the Recorder may fail
	}
	if err == nil && info != nil {
		j.to = info.Location
		if info.StatusCode >= 400 {
			err = statusError(req.Locator, info)
		}
	}
	return err
}

// statusError returns the error of a response that was read because of AnyStatus.
func statusError(l locator.Locator, info *fetchhttp.Info) error {
	kind := fetch.ErrOther
	if info.StatusCode == http.StatusServiceUnavailable || info.StatusCode == http.StatusTooManyRequests {
		kind = fetch.ErrBusy
	}
	return &fetch.Error{Op: fetch.OpFetch, URL: l.Redacted(), Kind: kind, Code: info.StatusCode, Reply: strings.TrimLeft(info.Status, "0123456789 ")}
}

// request returns the request. The policy treats robots.txt as what it is asked for.
func (j *job) request() (*fetch.Request, error) {
	req := &fetch.Request{Locator: j.loc}
	if j.entry.from != 0 {
		req.From = fetch.Provenance{Kind: fetch.OriginRemote}
	}
	if j.entry.referrer != "" {
		by, err := parse(j.entry.referrer)
		if err != nil {
			return nil, err
		}
		req.From.By = by
	}
	if j.ask != "" {
		at, err := parse(j.ask)
		if err != nil {
			return nil, err
		}
		req.Locator = at
		if j.host.Typed {
			req.From = fetch.Provenance{}
		}
	}
	if _, web := req.Locator.(*locator.HTTP); web {
		req.Options = &fetchhttp.Options{AnyStatus: true}
	}
	return req, nil
}

// parse parses a URL of the frontier, which was written by a Locator.
func parse(url string) (locator.Locator, error) {
	ref, err := locator.Parser{Tolerate: locator.TolerateAll &^ locator.WrappedText}.Parse(url)
	if err != nil {
		return nil, &fetch.Error{Op: fetch.OpParse, Kind: fetch.ErrBadURL, Err: err}
	}
	return ref.Locator, nil
}

// allow is the policy of the request. Only the server of the URL is asked: where it refers to is a
// link, so that the rules and waits of that server apply. While an address is in use for a host, no
// other host with that address is asked.
func (j *job) allow(ctx context.Context, t fetch.Target) error {
	j.recording.end() // a referral was recorded, and what it leads to may take long
	typed := t.From.Kind == fetch.OriginUser || t.From.Kind == fetch.OriginConfig
	if t.Locator != nil && t.Purpose == fetch.PurposeControl && t.From.Kind != fetch.OriginUser && j.ask == "" {
		switch _, isNews := t.Locator.(*locator.News); {
		case isNews || locator.SameServer(t.Locator, j.loc):
			if t.From.Kind == fetch.OriginRedirect && !j.rules.allows(t.Locator) {
				return errRobots
			}
		default:
			j.to = t.Locator
			return errReferral
		}
	}
	if !typed {
		if err := j.run.Links(ctx, t); err != nil {
			return err
		}
	}
	if t.Purpose == fetch.PurposeControl && t.Addr.IsValid() {
		return j.claim(ctx, t.Addr.Addr().Unmap())
	}
	return nil
}

// claim makes sure that no other host with this address is asked.
func (j *job) claim(ctx context.Context, addr netip.Addr) error {
	err := j.run.gates.claim(j, addr)
	if err != nil {
		return err
	}
	if j.run.Claim != nil {
		err = j.run.Claim(ctx, addr)
	}
	return j.run.gates.claimed(j, err)
}

// claimAgain claims the address that was connected, because connecting may have taken long, and others
// may have been tried.
func (j *job) claimAgain(ctx context.Context, c fetch.Connection) error {
	if c.Purpose != fetch.PurposeControl || !c.Remote.IsValid() {
		return nil
	}
	return j.claim(ctx, c.Remote.Addr())
}

// readItems reads the links of a menu or directory.
func (j *job) readItems(res *fetch.Resource) error {
	for item, err := range res.Items {
		switch {
		case err != nil:
			return err
		case item.Locator == nil:
		default:
			if why := j.run.follows(item); why != "" {
				j.found.skip(why)
			} else {
				j.add(item.Locator)
			}
		}
	}
	return nil
}

// add adds a link that is in scope, unless robots.txt of this server forbids it.
func (j *job) add(l locator.Locator) {
	l = unified(l)
	switch {
	case j.run.SameHost && !j.run.starts[hostOf(j.run.Crawl, l)]:
		j.found.skip(OtherHost)
	case locator.SameServer(l, j.loc) && !j.rules.allows(l):
		j.found.skip(Robots)
	case isAsked(l):
	case len(j.found.inside)+len(j.found.outside) == maxLinks:
		j.found.cut++
	case j.run.Here != nil && !j.run.Here(l):
		if j.run.Elsewhere == nil {
			j.found.skip(OtherHost)
			return
		}
		j.found.outside = append(j.found.outside, Link{URL: l.String(), From: j.loc.String(), Depth: int(j.entry.depth) + 1})
	default:
		j.found.inside = append(j.found.inside, link{siteOf(j.run.Crawl, l), l.String(), skeleton(l)})
	}
}

// isAsked reports whether l is a robots.txt or caps.txt that the crawl fetches anyway.
func isAsked(l locator.Locator) bool {
	url := l.String()
	for _, ask := range askFor(l) {
		if url == ask {
			return true
		}
	}
	return false
}
