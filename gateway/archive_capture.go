package gateway

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/gateway/internal/memento"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/locator"
)

// archivePages are the pages about captures.
type archivePages pages

const badTime = "Write a date as 1994-12-01, or a part of it, such as 1994."

// chooseTime redirects from a page to the same page as of the time in the query "at". The path is
// that of place.Of.
func (v archivePages) chooseTime(path string) error {
	text := v.req.r.URL.Query().Get("at")
	at, ok := memento.ParseTime(strings.TrimSpace(text))
	if !ok || v.req.h.Archive.At == nil {
		return &failure{Status: http.StatusBadRequest, Text: "This is not a time.", Detail: visible.Name(text), Do: badTime}
	}
	v.out.seeOther(v.req, v.req.h.Prefix+place.Dated(memento.Stamp(at))+path)
	return nil
}

// asked answers a request about captures.
func (v archivePages) asked() (answered bool, err error) {
	if v.req.h.Archive == nil || v.req.h.Archive.Captures == nil {
		return false, nil
	}
	switch {
	case v.req.wants("at"):
		return true, v.chooseTime(v.req.within(place.At(place.Of(mementos{v.req}.located()))).Path)
	case v.req.wants("captures"):
		return true, v.calendar()
	case v.req.wants("timemap"):
		return true, v.timeMap()
	case v.req.wants("explain"):
		return false, nil
	}
	if answered, err := v.negotiate(); answered || err != nil {
		return answered, err
	}
	if v.req.r.Method == http.MethodHead && isA[*locator.Gopher](v.req) && place.IsDocument(v.req.loc) && (v.req.wants("raw") || v.req.wantsOctets()) {
		return true, v.head()
	}
	return false, nil
}

// negotiate redirects a client that asks for a time to the capture.
func (v archivePages) negotiate() (answered bool, err error) {
	if v.req.native || v.req.dated || v.req.h.Archive.At == nil {
		return false, nil
	}
	at, err := acceptDatetime(v.req)
	i := v.req.timeline.At(at)
	if err != nil || at.IsZero() || i < 0 {
		return false, err
	}
	v.out.kind = "redirect"
	v.out.secure(v.req)
	stamp := memento.Stamp(v.req.timeline[i])
	v.out.Header().Set("Location", v.req.prefix+place.Dated(stamp)+strings.TrimPrefix(v.req.r.URL.RequestURI(), v.req.prefix))
	v.out.Header().Set("Link", mementos{v.req}.links().TimeGateHeader())
	v.out.WriteHeader(http.StatusFound)
	return true, nil
}

// head answers HEAD for a document of gopher. Its protocol has no such request, except for the
// attributes of Gopher+, which the archive need not have.
func (v archivePages) head() error {
	res, err := v.up.fetch(v.up.bare(v.req.loc))
	if err != nil {
		return err
	}
	defer res.Close()
	return documentPages(v).octetsOf(res)
}

const (
	maxCalendar = 1000 // captures that the calendar shows; if there are more, it shows one year
	maxInYear   = 5000
)

// A capturesPage is the data of the calendar of the captures of a URL.
type capturesPage struct {
	Text        string // the URL
	Page        place.Link
	Count       int
	First, Last time.Time
	Index       []crumb // the years, if not all are shown
	Years       []memento.Year
	Cut         bool // there are more captures in the year
	TimeMap     place.Link

	at func(time.Time) place.Link
}

// At is the link to the capture of a time.
func (p *capturesPage) At(t time.Time) place.Link { return p.at(t) }

// calendar shows the captures of the Locator by year, month and day.
func (v archivePages) calendar() error {
	p := &capturesPage{Text: visible.Name(place.WithoutLogin(mementos{v.req}.located()).Redacted()), Page: mementos{v.req}.undatedLink(), Count: len(v.req.timeline), TimeMap: mementos{v.req}.undatedLink().With("timemap"), at: mementos{v.req}.captureAt}
	if p.Count == 0 {
		return v.noCaptures()
	}
	p.First, p.Last = v.req.timeline[0], v.req.timeline[p.Count-1]
	p.Years = v.req.timeline.Years()
	if p.Count > maxCalendar {
		shown, err := strconv.Atoi(v.req.query.Get("captures"))
		if err != nil {
			shown = p.Last.Year()
		}
		all := p.Years
		p.Years = nil
		for _, y := range all {
			link := mementos{v.req}.undatedLink().With("captures=" + strconv.Itoa(y.Number))
			if y.Number == shown {
				p.Years, link = []memento.Year{y}, place.Link{}
			}
			p.Index = append(p.Index, crumb{strconv.Itoa(y.Number) + " (" + strconv.Itoa(y.Count) + ")", link, true})
		}
	}
	if len(p.Years) == 1 && p.Years[0].Count > maxInYear {
		p.Cut = true
		p.Years = v.ofYear(p.Years[0].Number)
	}
	return v.out.render(v.req, "captures", http.StatusOK, &page{Heading: "Captures of " + place.Heading(mementos{v.req}.located()), Main: p, Actions: []crumb{}})
}

// ofYear are the first captures of a year.
func (v archivePages) ofYear(year int) []memento.Year {
	var first memento.Timeline
	for _, t := range v.req.timeline {
		if t.Year() == year && len(first) < maxInYear {
			first = append(first, t)
		}
	}
	return first.Years()
}

// timeMap sends the TimeMap of the Locator.
func (v archivePages) timeMap() error {
	if len(v.req.timeline) == 0 {
		return v.noCaptures()
	}
	v.out.kind = "timemap"
	v.out.secure(v.req)
	v.out.Header().Set("Content-Type", "application/link-format")
	v.out.WriteHeader(http.StatusOK)
	if v.req.r.Method == http.MethodHead {
		return nil
	}
	_, err := mementos{v.req}.links().WriteTo(v.out)
	return err
}

// noCaptures is the failure for what has no captures of its own.
func (v archivePages) noCaptures() error {
	return accessFailure(pages(v), driver.Fail(fetch.OpParse, v.req.loc, fetch.ErrNotFound, nil))
}
