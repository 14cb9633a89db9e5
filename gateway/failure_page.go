package gateway

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/gateway/internal/cause"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/plaintext"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
)

// accessFailure says why the Locator could not be fetched. A page of another site does not learn whether
// the policy refused it or nobody answered, and no address from the error.
func accessFailure(p pages, err error) *failure {
	q, f := p.req, failureOf(err)
	if q.crossSite {
		f.Detail, f.Reply = "", ""
		switch fetch.KindOf(err) {
		case fetch.ErrRefused, fetch.ErrUnresolved, fetch.ErrUnreachable, fetch.ErrTimeout:
			f = &failure{Status: http.StatusBadGateway, Text: "The gateway cannot reach " + place.Server(q.loc) + ".", Again: "Trying again may help.", err: errors.New("cannot reach the server")}
		}
	} else {
		explainFailure(q, p.up.sent.text(), f)
	}
	if f.Again != cause.Useless {
		f.Retry = q.here()
	}
	if f.Ways = above(q); f.Field == newsServerField {
		f.Ways = nil // has no server either
	}
	if q.h.Archive != nil {
		explainMissing(q, f)
	}
	return f
}

// explainFailure adds what was sent and what the server said about it.
func explainFailure(q *request, sent []byte, f *failure) {
	if plaintext.LooksLikeText(sent) {
		f.Sent = strings.TrimRight(visible.Text(string(sent)), "\n")
	}
	var plus *gopher.PlusError
	if errors.As(f.err, &plus) {
		f.Server = q.linked(plus.Text)
		f.Admin = administrator(q, plus.Admin)
	}
	var moved *fetch.Referral
	if errors.As(f.err, &moved) {
		f.Moved = crumb{Text: visible.Name(moved.To.Redacted()), Link: q.linkTo(moved.To)}
	}
}

// showFailure shows a failure: as a page, or as text to a client that does not ask for pages.
func (w *response) showFailure(q *request, f *failure) {
	w.kind = "error"
	f.Do = strings.TrimSpace(f.Do + " " + q.h.permits(f.Field))
	if w.err = f.err; w.err == nil {
		w.err = f
	}
	if f.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", cause.RetryAfter)
	}
	if q.accepts("text/html") {
		p := &page{Heading: f.Text, Main: f}
		if q.loc != nil && !q.native && !q.wants("explain") {
			p.Actions = rawAndHow(q.linkTo(q.loc))[1:] // there is nothing to have raw
		}
		_ = w.render(q, "error", f.Status, p)
		return
	}
	w.secure(q)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(f.Status)
	if q.r.Method == http.MethodHead {
		return
	}
	text := f.Text + "\n"
	for _, more := range []string{f.Detail, f.Reply, f.Again, f.Do} {
		if more != "" {
			text += more + "\n"
		}
	}
	for _, l := range f.Links {
		text += l.Text + "\n"
	}
	_, _ = io.WriteString(w, text)
}

// explainMissing completes the failure of an access to an archive.
func explainMissing(q *request, f *failure) {
	f.Sent, f.Retry = "", place.Link{}
	if fetch.KindOf(f.err) != fetch.ErrNotFound {
		return
	}
	f.Text = "The archive has no capture of " + visible.Name(place.WithoutLogin(mementos{q}.located()).Redacted()) + "."
	f.Detail, f.Reply, f.Again, f.Do = "", "", "", ""
	if q.crossSite || q.native {
		return
	}
	start := q.ownPage("/")
	if near, below := near(q); len(near) > 0 {
		f.Do = "The archive has these documents near it:"
		f.Links = append(near, crumb{"All documents of " + visible.Name(below), start.With("q=" + url.QueryEscape(below)), true})
	} else {
		f.Do = "The archive has nothing of this server. The first page lists its sites."
	}
	f.Links = append(f.Links, crumb{"The sites of the archive, and a search", start, true})
}

// maxNear is how many documents the page of a missing one lists.
const maxNear = 10

// near are documents in the folder of the Locator, or in the nearest one above it that the archive has, and
// what their URLs begin with.
func near(q *request) (links []crumb, below string) {
	if q.h.Archive.Documents == nil {
		return nil, ""
	}
	missing := place.WithoutLogin(mementos{q}.located())
	for _, below = range place.Above(missing) {
		for hit, err := range q.h.Archive.Documents(q.r.Context(), q.at, below) {
			if err != nil || len(links) == maxNear {
				break
			}
			if l, err := place.Parse(hit.URL); err == nil && !q.linkTo(l).Empty() && hit.URL != missing.String() {
				links = append(links, crumb{visible.Name(hit.URL), q.linkTo(l), true})
			}
		}
		if len(links) > 0 {
			break
		}
	}
	return links, below
}
