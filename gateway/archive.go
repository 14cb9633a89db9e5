package gateway

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/memento"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
)

// An Archive is what a Handler shows if its Resolver answers from an archive. Its pages have no links
// to URLs of http and https, which would lead to the servers of today. Its functions are called
// concurrently; any of them may be nil. For a time, the zero Time means the last captures.
type Archive struct {
	// About is a sentence about the archive, such as its time.
	About string
	// Sites are its sites.
	Sites []Site
	// Time is that of the captures which the Resolver answers from.
	Time time.Time
	// Search yields the documents whose URL or title has all of the words, and ends with an error if
	// it cannot go on.
	Search func(ctx context.Context, at time.Time, words string) iter.Seq2[Hit, error]
	// Documents yields the documents whose URL begins with prefix.
	Documents func(ctx context.Context, at time.Time, prefix string) iter.Seq2[Hit, error]
	// Captures yields the times of the captures of a URL, sorted.
	Captures func(l locator.Locator) iter.Seq2[time.Time, error]
	// At returns a Resolver that answers as of a time: the last capture that is not later, or else the
	// first one. The Handler calls done after its last access. If At is nil, there are no pages of
	// other times.
	At func(at time.Time) (resolver *fetch1738.Resolver, done func())
}

// A Site is a site of an Archive.
type Site struct {
	URL string
	// Pages are the URLs where reading it begins, such as its first menu or its newsgroups. Without
	// them the front page of the archive leads to a list of its documents.
	Pages []string
}

// A Hit is a document that a search in an archive has found.
type Hit struct {
	URL   string
	Title string    // "" if only the URL has the words
	Time  time.Time // of the capture
}

// archivePages are the pages about captures, and what the pages of an archive have besides those of
// servers. They follow RFC 7089 (Memento): the page of a URL is its TimeGate, a page below "/at/TIME"
// is a Memento, and "?timemap" is the TimeMap. The TimeGate redirects a client that sends
// Accept-Datetime (pattern 2.1), and shows its usual time to others (pattern 2.2). A client of the
// proxy negotiates with the URL itself (pattern 1.3).
type archivePages struct{ *visit }

// asOf returns a Handler for the same archive as of another time, for one request. All its pages,
// with their links, are below prefix.
func (h *Handler) asOf(at time.Time, prefix string, resolver *fetch1738.Resolver) *Handler {
	return &Handler{
		Resolver: resolver, Prefix: h.Prefix + prefix, Hosts: h.Hosts, AllowClients: h.AllowClients, Token: h.Token, Proxy: h.Proxy,
		Templates: h.Templates, Archive: h.Archive, Option: h.Option, Log: h.Log, pseudonym: h.pseudonym, heldArchives: h.heldArchives,
		undated: h, at: at,
	}
}

// enter answers a request for a page as of a time.
func (v archivePages) enter(stamp, rest string) error {
	at, ok := memento.ParseTime(stamp)
	if !ok || v.h.Archive.At == nil {
		return &failure{Status: http.StatusNotFound, Text: "The gateway has no such page.", Detail: visible(stamp + " is not a time."), Do: badTime}
	}
	if rest == "" {
		v.redirect(place.Dated(stamp) + "/")
		return nil
	}
	v.setTime(at, place.Dated(stamp))
	return v.route()
}

// setTime makes the rest of the visit one of another time.
func (v archivePages) setTime(at time.Time, prefix string) {
	var resolver *fetch1738.Resolver
	resolver, v.done = v.h.Archive.At(at)
	v.h = v.h.asOf(at, prefix, resolver)
}

const badTime = "Write a date as 1994-12-01, or a part of it, such as 1994."

// chooseTime redirects from a page to the same page as of the time in the query "at". The path is
// that of place.Of.
func (v archivePages) chooseTime(path string) error {
	text := v.r.URL.Query().Get("at")
	at, ok := memento.ParseTime(strings.TrimSpace(text))
	if !ok || v.h.Archive.At == nil {
		return &failure{Status: http.StatusBadRequest, Text: "This is not a time.", Detail: visible(text), Do: badTime}
	}
	v.seeOther(v.root().Prefix + place.Dated(memento.Stamp(at)) + path)
	return nil
}

// root is the Handler for the usual time.
func (v archivePages) root() *Handler {
	if v.h.undated != nil {
		return v.h.undated
	}
	return v.h
}

// negotiateNative chooses the time that a client of the proxy asks for.
func (v archivePages) negotiateNative() error {
	if v.h.Archive == nil || v.h.Archive.At == nil {
		return nil
	}
	at, err := v.acceptDatetime()
	if err == nil && !at.IsZero() {
		v.setTime(at, "")
	}
	return err
}

// acceptDatetime is the time that the client asks for, or zero.
func (v archivePages) acceptDatetime() (time.Time, error) {
	value := v.headerValue("Accept-Datetime")
	if value == "" {
		return time.Time{}, nil
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return at, &failure{Status: http.StatusBadRequest, Text: "Accept-Datetime is not a date of HTTP.", Detail: visible(value), Do: "Write it as " + http.TimeFormat + "."}
	}
	return at.Add(time.Second - time.Nanosecond), nil
}

// asked finds the captures of v.loc, and answers a request about them.
func (v archivePages) asked() (answered bool, err error) {
	if v.h.Archive == nil || v.h.Archive.Captures == nil {
		return false, nil
	}
	if v.timeline, err = memento.Collect(v.h.Archive.Captures(v.located())); err != nil {
		return false, err
	}
	switch {
	case v.wants("at"):
		return true, v.chooseTime(within(v.visit, place.At(place.Of(v.located()))).Path)
	case v.wants("captures"):
		return true, v.calendar()
	case v.wants("timemap"):
		return true, v.timeMap()
	case v.wants("explain"):
		return false, nil
	}
	if answered, err := v.negotiate(); answered || err != nil {
		return answered, err
	}
	if v.r.Method == http.MethodHead && isA[*locator.Gopher](v.visit) && isDocument(v.loc) && (v.wants("raw") || v.wantsOctets()) {
		return true, v.head()
	}
	return false, nil
}

// negotiate redirects a client that asks for a time to the capture.
func (v archivePages) negotiate() (answered bool, err error) {
	if v.native || v.h.undated != nil || v.h.Archive.At == nil {
		return false, nil
	}
	at, err := v.acceptDatetime()
	i := v.timeline.At(at)
	if err != nil || at.IsZero() || i < 0 {
		return false, err
	}
	v.page = "redirect"
	v.secure()
	stamp := memento.Stamp(v.timeline[i])
	v.w.Header().Set("Location", v.h.Prefix+place.Dated(stamp)+strings.TrimPrefix(v.r.URL.RequestURI(), v.h.Prefix))
	v.w.Header().Set("Link", v.links().TimeGateHeader())
	v.w.WriteHeader(http.StatusFound)
	return true, nil
}

// head answers HEAD for a document of gopher. Its protocol has no such request, except for the
// attributes of Gopher+, which the archive need not have.
func (v archivePages) head() error {
	res, err := v.h.resolver().Fetch(v.context(), v.request(v.loc))
	if err != nil {
		return err
	}
	defer res.Close()
	return documentPages(v).octetsOf(res)
}

// located is v.loc with the words of the search in the query.
func (v archivePages) located() locator.Locator { return documentPages(v).searched() }

// captureAt is the page of v.loc as of a capture.
func (v archivePages) captureAt(t time.Time) place.Link {
	if v.native || v.h.Archive.At == nil {
		return place.Link{}
	}
	return place.At(v.root().Prefix + place.Dated(memento.Stamp(t)) + place.Of(v.located()))
}

// undatedLink is the page of v.loc at the usual time.
func (v archivePages) undatedLink() place.Link {
	if v.native {
		return place.Link{}
	}
	return place.At(v.root().Prefix + place.Of(v.located()))
}

// links are the addresses of RFC 7089.
func (v archivePages) links() memento.Map {
	if v.native {
		original := place.WithoutLogin(v.loc).String()
		return memento.Map{Original: original, TimeGate: original}
	}
	return memento.Map{
		Times: v.timeline, Original: place.WithoutLogin(v.located()).String(),
		TimeGate: v.origin() + v.undatedLink().Path, TimeMap: v.origin() + v.undatedLink().With("timemap").Path,
		Memento: func(t time.Time) string { return v.origin() + v.captureAt(t).Path },
	}
}

// setHeaders sets the fields of RFC 7089 for what is sent: only the page of a capture, or its
// octets, is a Memento.
func (v archivePages) setHeaders() {
	if v.h.Archive == nil || v.loc == nil {
		return
	}
	header := v.w.Header()
	if v.h.undated == nil || v.native {
		header.Set("Vary", header.Get("Vary")+", Accept-Datetime")
	}
	header.Del("Memento-Datetime")
	header.Del("Content-Location")
	header.Del("Link")
	i := v.timeline.At(v.h.at)
	if i < 0 || v.h.Archive.At == nil || !v.showsCapture() || v.wants("in") || v.wants("part") { // a part is another resource
		return
	}
	header.Set("Memento-Datetime", v.timeline[i].Format(http.TimeFormat))
	header.Set("Link", v.links().Header(i))
	if !v.native {
		to := v.captureAt(v.timeline[i])
		if v.wants("raw") {
			to = to.With("raw")
		}
		header.Set("Content-Location", to.Path)
	}
}

// showsCapture reports whether the response is what a capture has, and not a page about it.
func (v archivePages) showsCapture() bool {
	if slices.Contains([]string{"", "error", "redirect", "interstitial", "advice", "explain", "captures", "timemap", "item", "confirm", "form"}, v.page) {
		return false
	}
	return !v.wants("tar") && !v.wants("atom")
}

// explain completes the failure of an access to an archive.
func (v archivePages) explain(f *failure) {
	f.Sent, f.Retry = "", place.Link{}
	if fetch.KindOf(f.err) != fetch.ErrNotFound {
		return
	}
	f.Text = "The archive has no capture of " + visible(place.WithoutLogin(v.located()).Redacted()) + "."
	f.Detail, f.Reply, f.Again, f.Do = "", "", "", ""
	if v.crossSite || v.native {
		return
	}
	start := front(v).start()
	if near, below := v.near(); len(near) > 0 {
		f.Do = "The archive has these documents near it:"
		f.Links = append(near, crumb{"All documents of " + visible(below), start.With("q=" + url.QueryEscape(below)), true})
	} else {
		f.Do = "The archive has nothing of this server. The first page lists its sites."
	}
	f.Links = append(f.Links, crumb{"The sites of the archive, and a search", start, true})
}

// maxNear is how many documents the page of a missing one lists.
const maxNear = 10

// near are documents in the folder of v.loc, or in the nearest one above it that the archive has, and
// what their URLs begin with.
func (v archivePages) near() (links []crumb, below string) {
	if v.h.Archive.Documents == nil {
		return nil, ""
	}
	missing := place.WithoutLogin(v.located())
	for _, below = range place.Above(missing) {
		for hit, err := range v.h.Archive.Documents(v.r.Context(), v.h.at, below) {
			if err != nil || len(links) == maxNear {
				break
			}
			if r := front(v).row("", hit.URL, hit.Time); !r.Link.Empty() && hit.URL != missing.String() {
				links = append(links, crumb{r.URL, r.Link, true})
			}
		}
		if len(links) > 0 {
			break
		}
	}
	return links, below
}
