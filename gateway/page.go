package gateway

import (
	"bufio"
	"io"
	"iter"
	"net/http"
	"slices"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/locator"
)

// pages are what a kind of page works with: it reads the request, accesses servers by the upstream,
// and writes the response or returns an error.
type pages struct {
	req *request
	up  *upstream
	out *response
}

// with returns the same for another request, or for a request of which more is known.
func (p pages) with(q *request) pages { return pages{q, newUpstream(q, p.up.sent), p.out} }

// A page is what the template page.html shows: the frame around the content of a kind of page.
type page struct {
	Title  string // of the window; Heading if empty
	Crumbs []crumb
	// Above is a page between the last two crumbs that the URL does not name: the group of an article.
	Above *crumb
	// Heading is the h1: the name, or what the menu said that led here.
	Heading string
	URL     string // the original URL as text, without a password
	// Actions are what a user can do with the page. If nil, render sets those of a document.
	Actions []crumb
	// Original is the link to the original URL.
	Original place.Link
	// Keep means that the browser may keep the page in its list of recent places.
	Keep bool
	// Feed is the Atom feed of the page, or empty.
	Feed place.Link
	// Notes are remarks about what is shown, such as the charset.
	Notes []string
	// Capture is the capture that the page shows, from an archive; nil without one.
	Capture *captureBar
	// Main is what the template of the kind of page shows. It is nil for a request by HEAD.
	Main any

	Prefix string
	Files  string // what the paths of style.css and script.js begin with
	Native bool   // no style: the paths of the gateway are not those of the client
	Bar    bool   // for a person: the bar with the address, and the script
	Script string // the digest of script.js
	// Early means that a browser draws the page when it has all of it, and the script has changed it:
	// what comes later would move the rest.
	Early bool
}

// render sends a page of a kind. The status is 200 unless another one has
// been sent. The error is that of the connection, or of an iterator in the data (see rows). A page
// about an error returns nil.
func (w *response) render(q *request, kind string, status int, p *page) error {
	w.kind = kind
	if q.loc != nil {
		if p.URL == "" {
			p.URL = visible.Name(place.WithoutLogin(q.loc).Redacted())
		}
		if p.Heading == "" {
			p.Heading = place.Heading(q.loc)
			if q.wants("in") {
				p.Heading = packedHeading(q)
			} else if isA[*locator.FTP](q) || isA[*locator.Prospero](q) { // the crumbs have the rest of the path
				p.Title, p.Heading = p.Heading, place.LastPart(q.loc)
			}
		}
		if !q.native {
			if p.Actions == nil && status == http.StatusOK {
				p.Actions = usualActions(q)
			} else if p.Actions == nil {
				p.Actions = rawAndHow(q.here())
			}
			p.Original = place.URL(place.WithoutLogin(q.loc))
			p.Keep = status == http.StatusOK && q.user == nil && q.r.Method == http.MethodGet && !unkept[kind]
		}
	}
	if q.loc != nil || kind != "home" && kind != "archive" && !q.native && q.ownHost() { // else "/" is not the gateway
		p.Crumbs = crumbs(q, p.Heading)
		if n := len(p.Crumbs); p.Above != nil && n > 0 {
			p.Crumbs = slices.Insert(p.Crumbs, n-1, *p.Above)
		}
		if q.wants("in") {
			p.Crumbs = packedWay(q, p.Crumbs)
		}
	}
	if !q.accepts("text/html") { // a program that copies pages would follow them
		p.Actions, p.Original = nil, place.Link{}
	}
	if p.Title == "" {
		p.Title = p.Heading
	}
	t := q.h.templates()
	p.Bar = !q.native && q.accepts("text/html")
	p.Prefix, p.Native, p.Script = q.prefix, q.native, t.digest
	p.Files, p.Capture = q.h.Prefix, mementos{q}.bar(kind)
	p.Early = p.Early || q.h.Archive != nil                           // nobody waits for the disk
	if c := p.Capture; c != nil && c.AsOf != "" && !c.Time.IsZero() { // to tell bookmarks apart
		p.Title += ", " + c.Time.Format(time.DateOnly)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.secure(q)
	return w.execute(q, t.kinds[kind], status, p)
}

// execute sends a page. The error is that of the connection, or of an iterator in the data.
func (w *response) execute(q *request, t pageTemplate, status int, p *page) error {
	w.Header().Set("Content-Security-Policy", t.security)
	w.code = status
	if q.r.Method == http.MethodHead {
		w.begin()
		return nil
	}
	out := bufio.NewWriterSize(w, 16<<10)
	w.page = out
	err := t.Execute(out, p)
	if isTemplateError(err) {
		return w.templateFails(q, err)
	}
	if err == nil {
		w.begin() // a page may be empty
		err = out.Flush()
	}
	if w.err == nil {
		w.err = err
	}
	if status >= 400 {
		return nil
	}
	return w.err
}

// templateFails says on the page that its template fails, as err says to the log. If a part of the
// page is sent, the response is broken off behind that.
func (w *response) templateFails(q *request, err error) error {
	const text = "The gateway cannot show this page to its end, because its template has an error. The log has more about it."
	w.err = err
	if w.status == 0 {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.code = http.StatusInternalServerError
		_, _ = io.WriteString(w, text+"\n")
		return nil
	}
	_, _ = w.page.WriteString(`<p class="error" role="alert">` + text + "</p>\n")
	_ = w.page.Flush()
	w.abort(q.r, err)
	return nil
}

// maxPage limits the number of a page.
const maxPage = 1_000_000

// unkept are the kinds of pages of a URL that are not its content.
var unkept = map[string]bool{"explain": true, "confirm": true, "form": true, "interstitial": true}

// A row is an entry of a listing, for a template.
type row struct {
	*fetch.Item        // valid until the next row
	Text        string // the name, safe to show
	Link        place.Link
}

// rows are the entries of a listing for a template. What has been shown goes to the client after
// the first row, before the server has sent the rest. If the listing fails, the rows end, cut
// tells the template the error, and the response is broken off.
func (w *response) rows(q *request, items iter.Seq2[fetch.Item, error]) iter.Seq[*row] {
	return func(yield func(*row) bool) {
		first := true
		for item, err := range items {
			if err != nil {
				w.err = err
				return
			}
			if !yield(&row{Item: &item, Text: visible.Name(item.Name), Link: q.linkTo(item.Locator)}) {
				return
			}
			if first {
				w.flush()
			}
			first = false
		}
	}
}

// secure sets the header fields that protect the gateway's own pages. The log says what the response
// is about.
func (w *response) secure(q *request) {
	w.loc = q.loc
	header := w.Header()
	header.Set("Content-Security-Policy", pageSecurity)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	if w.kind == "form" || w.kind == "confirm" {
		header.Set("Referrer-Policy", "same-origin") // without it, a browser sends the form with "Origin: null"
	}
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cache-Control", "private, no-cache")
	if q.user != nil || q.r.Method == http.MethodPost {
		header.Set("Cache-Control", "no-store") // it is private, or contains the answers to a form
	}
	header.Set("Vary", "Accept, Authorization, Sec-Fetch-Dest, Sec-Fetch-Mode, Sec-Fetch-Site")
	mementos{q}.setHeaders(header, w.kind)
}

// redirectTo sends the client to another URL.
func (w *response) redirectTo(q *request, l locator.Locator) {
	if !q.native {
		w.redirect(q, place.Of(l))
		return
	}
	w.seeOther(q, place.WithoutLogin(l).String())
}

// redirect sends the client to another path of the gateway.
func (w *response) redirect(q *request, path string) {
	w.seeOther(q, q.prefix+path)
}

// seeOther redirects to a URL by 303, after which a browser sends GET.
func (w *response) seeOther(q *request, url string) {
	w.kind = "redirect"
	w.secure(q)
	w.Header().Set("Location", url)
	w.WriteHeader(http.StatusSeeOther)
}

// static sends a file that all pages share.
func (w *response) static(q *request, kind, mediaType string, content []byte) {
	w.kind = kind
	w.secure(q)
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Cache-Control", "private, max-age=3600")
	w.WriteHeader(http.StatusOK)
	if q.r.Method != http.MethodHead {
		_, _ = w.Write(content)
	}
}

// robots tells programs that copy pages which ones not to fetch.
func (w *response) robots(q *request) {
	w.kind = "robots"
	w.secure(q)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	if q.r.Method != http.MethodHead {
		_, _ = io.WriteString(w, "User-agent: *\nDisallow: "+q.prefix+"/open\nDisallow: "+q.prefix+"/url\n")
	}
}
