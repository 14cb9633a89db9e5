package gateway

import (
	"net/http"
	"strconv"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/gateway/internal/memento"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
)

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
func (v archivePages) bar() *captureBar {
	if v.h.Archive == nil || v.loc == nil || v.h.Archive.Captures == nil || !v.showsCapture() || !v.accepts("text/html") {
		return nil
	}
	l := place.WithoutLogin(v.located())
	b := &captureBar{Count: len(v.timeline), Date: v.date(), Live: crumb{visible(l.Redacted()), place.URL(l), true}}
	if !v.h.at.IsZero() {
		b.AsOf = v.h.at.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	b.Calendar = v.undatedLink().With("captures")
	if v.h.Archive.At != nil && !v.native {
		b.Form, b.Hidden = within(v.visit, v.undatedLink()).Form()
		if v.h.undated != nil {
			b.Usual = crumb{"Latest", within(v.visit, v.undatedLink()), true}
			if at := v.root().at; !at.IsZero() {
				b.Usual.Text = "As of " + at.UTC().Format(time.DateOnly)
			}
		}
	}
	i := v.timeline.At(v.h.at)
	if i < 0 {
		return b
	}
	b.Time, b.Number = v.timeline[i], i+1
	if b.Date == "" {
		b.Date = b.Time.Format(time.DateOnly)
	}
	if i > 0 {
		b.Previous = captureLink{v.timeline[i-1], within(v.visit, v.captureAt(v.timeline[i-1]))}
	}
	if i+1 < len(v.timeline) {
		b.Next = captureLink{v.timeline[i+1], within(v.visit, v.captureAt(v.timeline[i+1]))}
	}
	return b
}

// date is the day of the time that pages show, or empty for the last captures.
func (v archivePages) date() string {
	if v.h.at.IsZero() {
		return ""
	}
	return v.h.at.UTC().Format(time.DateOnly)
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

// calendar shows the captures of v.loc by year, month and day.
func (v archivePages) calendar() error {
	p := &capturesPage{Text: visible(place.WithoutLogin(v.located()).Redacted()), Page: v.undatedLink(), Count: len(v.timeline), TimeMap: v.undatedLink().With("timemap"), at: v.captureAt}
	if p.Count == 0 {
		return v.noCaptures()
	}
	p.First, p.Last = v.timeline[0], v.timeline[p.Count-1]
	p.Years = v.timeline.Years()
	if p.Count > maxCalendar {
		shown, err := strconv.Atoi(v.query.Get("captures"))
		if err != nil {
			shown = p.Last.Year()
		}
		all := p.Years
		p.Years = nil
		for _, y := range all {
			link := v.undatedLink().With("captures=" + strconv.Itoa(y.Number))
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
	return v.render("captures", http.StatusOK, &page{Heading: "Captures of " + heading(v.located()), Main: p, Actions: []crumb{}})
}

// ofYear are the first captures of a year.
func (v archivePages) ofYear(year int) []memento.Year {
	var first memento.Timeline
	for _, t := range v.timeline {
		if t.Year() == year && len(first) < maxInYear {
			first = append(first, t)
		}
	}
	return first.Years()
}

// timeMap sends the TimeMap of v.loc.
func (v archivePages) timeMap() error {
	if len(v.timeline) == 0 {
		return v.noCaptures()
	}
	v.page = "timemap"
	v.secure()
	v.w.Header().Set("Content-Type", "application/link-format")
	v.w.WriteHeader(http.StatusOK)
	if v.r.Method == http.MethodHead {
		return nil
	}
	_, err := v.links().WriteTo(v.w)
	return err
}

// noCaptures is the failure for what has no captures of its own.
func (v archivePages) noCaptures() error {
	return v.accessFailure(driver.Fail(fetch.OpParse, v.loc, fetch.ErrNotFound, nil))
}
