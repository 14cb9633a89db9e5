package gateway

import (
	"net/http"
	"slices"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/memento"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/locator"
)

// mementos are what an archive has of the Locator of a request. They follow RFC 7089 (Memento): the
// page of a URL is its TimeGate, a page below "/at/TIME" is a Memento, and "?timemap" is the TimeMap.
// The TimeGate redirects a client that sends Accept-Datetime (pattern 2.1), and shows its usual time
// to others (pattern 2.2). A client of the proxy negotiates with the URL itself (pattern 1.3).
type mementos struct{ req *request }

// located is the Locator with the words of the search in the query.
func (c mementos) located() locator.Locator { return place.Searched(c.req.loc, c.req.query.Get("q")) }

// captureAt is the page of the Locator as of a capture.
func (c mementos) captureAt(t time.Time) place.Link {
	if c.req.native || c.req.h.Archive.At == nil {
		return place.Link{}
	}
	return place.At(c.req.h.Prefix + place.Dated(memento.Stamp(t)) + place.Of(c.located()))
}

// undatedLink is the page of the Locator at the usual time.
func (c mementos) undatedLink() place.Link {
	if c.req.native {
		return place.Link{}
	}
	return place.At(c.req.h.Prefix + place.Of(c.located()))
}

// links are the addresses of RFC 7089.
func (c mementos) links() memento.Map {
	if c.req.native {
		original := place.WithoutLogin(c.req.loc).String()
		return memento.Map{Original: original, TimeGate: original}
	}
	return memento.Map{
		Times: c.req.timeline, Original: place.WithoutLogin(c.located()).String(),
		TimeGate: c.req.origin() + c.undatedLink().Path, TimeMap: c.req.origin() + c.undatedLink().With("timemap").Path,
		Memento: func(t time.Time) string { return c.req.origin() + c.captureAt(t).Path },
	}
}

// setHeaders sets the fields of RFC 7089 for what is sent: only the page of a capture, or its
// octets, is a Memento.
func (c mementos) setHeaders(header http.Header, kind string) {
	if c.req.h.Archive == nil || c.req.loc == nil {
		return
	}
	if !c.req.dated || c.req.native {
		header.Set("Vary", header.Get("Vary")+", Accept-Datetime")
	}
	header.Del("Memento-Datetime")
	header.Del("Content-Location")
	header.Del("Link")
	i := c.req.timeline.At(c.req.at)
	if i < 0 || c.req.h.Archive.At == nil || !shows(c.req, kind) || c.req.wants("in") || c.req.wants("part") { // a part is another resource
		return
	}
	header.Set("Memento-Datetime", c.req.timeline[i].Format(http.TimeFormat))
	header.Set("Link", c.links().Header(i))
	if !c.req.native {
		to := c.captureAt(c.req.timeline[i])
		if c.req.wants("raw") {
			to = to.With("raw")
		}
		header.Set("Content-Location", to.Path)
	}
}

// shows reports whether the response is what a capture has, and not a page about it.
func shows(q *request, kind string) bool {
	if slices.Contains([]string{"", "error", "redirect", "interstitial", "advice", "explain", "captures", "timemap", "item", "confirm", "form"}, kind) {
		return false
	}
	return !q.wants("tar") && !q.wants("atom")
}

// A captureBar says which capture a page shows, and leads to the others. Its links are empty for a
// client of the proxy.
type captureBar struct {
	// Time is that of the capture. It is zero if the page is made from other captures, as that of a
	// directory whose listing was not recorded.
	Time           time.Time
	Number, Count  int    // this capture, counted from 1, of all of the URL
	AsOf           string // the time that the links of the page keep; empty if these are the last captures
	Previous, Next captureLink
	Calendar       place.Link
	Usual          crumb      // the page at the usual time; empty if this is it
	Live           crumb      // the original URL
	Form           place.Link // where the query "at" chooses another time
	Hidden         []fetch.Field
	Date           string // that the form begins with
}

// A captureLink leads to a capture.
type captureLink struct {
	Time time.Time
	Link place.Link
}

// bar is the captureBar of the page that is rendered, or nil if it shows no capture. Programs that
// copy pages do not get it, because they would copy each page as of every time.
func (c mementos) bar(kind string) *captureBar {
	if c.req.h.Archive == nil || c.req.loc == nil || c.req.h.Archive.Captures == nil || !shows(c.req, kind) || !c.req.accepts("text/html") {
		return nil
	}
	l := place.WithoutLogin(c.located())
	b := &captureBar{Count: len(c.req.timeline), Date: c.date(), Live: crumb{visible.Name(l.Redacted()), place.URL(l), true}}
	if !c.req.at.IsZero() {
		b.AsOf = c.req.at.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	b.Calendar = c.undatedLink().With("captures")
	if c.req.h.Archive.At != nil && !c.req.native {
		b.Form, b.Hidden = c.req.within(c.undatedLink()).Form()
		if c.req.dated {
			b.Usual = crumb{"Latest", c.req.within(c.undatedLink()), true}
			if at := c.req.h.Archive.Time; !at.IsZero() {
				b.Usual.Text = "As of " + at.UTC().Format(time.DateOnly)
			}
		}
	}
	i := c.req.timeline.At(c.req.at)
	if i < 0 {
		return b
	}
	b.Time, b.Number = c.req.timeline[i], i+1
	if b.Date == "" {
		b.Date = b.Time.Format(time.DateOnly)
	}
	if i > 0 {
		b.Previous = captureLink{c.req.timeline[i-1], c.req.within(c.captureAt(c.req.timeline[i-1]))}
	}
	if i+1 < len(c.req.timeline) {
		b.Next = captureLink{c.req.timeline[i+1], c.req.within(c.captureAt(c.req.timeline[i+1]))}
	}
	return b
}

// date is the day of the time that pages show, or empty for the last captures.
func (c mementos) date() string {
	if c.req.at.IsZero() {
		return ""
	}
	return c.req.at.UTC().Format(time.DateOnly)
}

// withCaptures returns the request with the captures of its Locator, if it is one to an archive.
func withCaptures(q *request) (*request, error) {
	if q.h.Archive == nil || q.h.Archive.Captures == nil {
		return q, nil
	}
	copied := *q
	var err error
	copied.timeline, err = memento.Collect(q.h.Archive.Captures(mementos{q}.located()))
	return &copied, err
}

// acceptDatetime is the time that the client asks for, or zero.
func acceptDatetime(q *request) (time.Time, error) {
	value := q.headerValue("Accept-Datetime")
	if value == "" {
		return time.Time{}, nil
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return at, &failure{Status: http.StatusBadRequest, Text: "Accept-Datetime is not a date of HTTP.", Detail: visible.Name(value), Do: "Write it as " + http.TimeFormat + "."}
	}
	return at.Add(time.Second - time.Nanosecond), nil
}
