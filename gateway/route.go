package gateway

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/memento"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/gateway/internal/webapp"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
)

// ServeHTTP implements [http.Handler]. If the server breaks off a transfer, so does ServeHTTP, with
// the panic [http.ErrAbortHandler]: a truncated document never looks complete.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.once.Do(func() {
		h.own.Env = fetch.Env{Allow: policy.Public, Limits: Limits()}
		h.own.MaxTransfers, h.own.MaxTransfersPerHost = 64, 8
		h.pseudonym = "fetch1738-" + rand.Text()
		h.heldArchives = make(chan struct{}, heldArchives)
	})
	q, out, arrived := newRequest(h, r), &response{ResponseWriter: w}, time.Now()
	defer func() { out.log(q, arrived) }()
	err := admission{q, out.Header()}.check()
	v := pages{q, newUpstream(q, new(conversation)), out}
	if err == nil {
		err = v.route()
	}
	v.answer(err)
}

// route answers a request that has been admitted.
func (v pages) route() error {
	q := v.req
	if q.native {
		return v.proxied()
	}
	path, ok := strings.CutPrefix(q.r.URL.EscapedPath(), q.prefix)
	if !ok || !strings.HasPrefix(path, "/") {
		return &failure{Status: http.StatusNotFound, Text: "The gateway has no such page."}
	}
	if stamp, rest, dated := place.CutDated(path); dated && q.h.Archive != nil && !q.dated {
		return v.asOf(stamp, rest)
	}
	switch path {
	case "/":
		return front(v).home()
	case "/open":
		return front(v).open()
	case "/help":
		return front(v).help()
	case "/setup":
		return front(v).setup()
	case "/style.css":
		v.out.static(q, "style", "text/css; charset=utf-8", q.h.templates().style)
	case "/script.js":
		v.out.static(q, "script", "text/javascript; charset=utf-8", q.h.templates().script)
	case "/robots.txt":
		v.out.robots(q)
	case webapp.Path:
		front(v).manifest()
	case "/icon.svg", "/icon-192.png", "/icon-512.png", "/favicon.ico":
		front(v).icon(path[1:])
	default:
		if scheme, ok := schemeOf(path); ok {
			return front(v).scheme(scheme)
		}
		loc, err := place.Locate(path, q.r.URL.Query())
		if err != nil {
			return front(v).nowhere(path, err)
		}
		v = v.with(q.of(loc))
		if strings.Count(path, "/") != 2 || !place.HasServer(loc.Scheme()) {
			v.showURL()
			return nil
		}
		to := place.At(place.Of(loc))
		if !strings.Contains(to.Path, "?") && q.r.URL.RawQuery != "" {
			to = to.With(q.r.URL.RawQuery)
		}
		v.out.redirect(v.req, to.Path) // so that the browser sends a login for the server to no other
	}
	return nil
}

// asOf answers a request for a page of an archive as of a time.
func (v pages) asOf(stamp, rest string) error {
	at, ok := memento.ParseTime(stamp)
	if !ok || v.req.h.Archive.At == nil {
		return &failure{Status: http.StatusNotFound, Text: "The gateway has no such page.", Detail: visible.Name(stamp + " is not a time."), Do: badTime}
	}
	if rest == "" {
		v.out.redirect(v.req, place.Dated(stamp)+"/")
		return nil
	}
	resolver, done := v.req.h.Archive.At(at)
	defer done()
	v = v.with(v.req.asOf(at, place.Dated(stamp), resolver))
	v.answer(v.route())
	return nil
}

// proxied answers a client that uses the gateway as its proxy. In an archive, it may ask for a time.
func (v pages) proxied() error {
	if v.req.r.Method == http.MethodConnect {
		l, err := connectTarget(v.req.r.RequestURI)
		if err != nil {
			return err
		}
		v = v.with(v.req.of(l))
		v.answer(forwardProxy(v).connect(l))
		return nil
	}
	q, err := forwardProxy(v).locate()
	if err != nil {
		v.with(q).answer(err)
		return nil
	}
	if a := q.h.Archive; a != nil && a.At != nil {
		at, err := acceptDatetime(q)
		if err != nil {
			v.with(q).answer(err)
			return nil
		}
		if !at.IsZero() {
			resolver, done := a.At(at)
			defer done()
			q = q.asOf(at, "", resolver)
		}
	}
	v.with(q).showURL()
	return nil
}

// showURL answers a request for the page or the octets of a Locator.
func (v pages) showURL() {
	q := v.req.withQuery()
	v = v.with(q)
	v.out.loc = q.loc // for the log of a panic before a response: the path may have words to search for
	if q.crossSite && !mayShowAtOnce(q) {
		v.answer(front(v).interstitial())
		return
	}
	err := challenge(q)
	if err == nil {
		q, err = withCaptures(q.withWords())
		v = v.with(q)
	}
	if err == nil {
		err = v.asked()
	}
	v.answer(err)
}

// asked shows the kind of page that a request alone determines. Each kind is a case here or in
// fetched; docs/architecture.md says how to add one.
func (v pages) asked() error {
	if answered, err := archivePages(v).asked(); answered || err != nil {
		return err
	}
	switch {
	case gopherPages(v).fillsFields():
		return gopherPages(v).takeFields()
	case gopherPages(v).fillsForm():
		return gopherPages(v).confirmFilled()
	case isA[*locator.Telnet](v.req), isA[*locator.Mailto](v.req):
		return documentPages(v).advice(nil)
	case v.req.r.Method == http.MethodPost:
		return gopherPages(v).submit()
	case v.req.wants("explain"):
		return documentPages(v).explain()
	case v.req.wants("tar"):
		return directoryPages(v).tar()
	case v.req.wants("in"):
		return packedPages(v).show()
	case v.req.wants("info"):
		return gopherPages(v).info()
	case v.req.wants("id"):
		return newsPages(v).findArticle()
	case v.req.isWords():
		return front(v).unsearchable()
	case v.req.wants("raw"), v.req.wantsOctets():
		return documentPages(v).raw()
	case documentPages(v).knowsMedia():
		return documentPages(v).media()
	case newsPages(v).searches():
		return newsPages(v).search()
	case directoryPages(v).isFolder():
		return directoryPages(v).folder()
	}
	return v.fetched()
}

// fetched fetches what a Locator names, and shows the kind of page that depends on it.
func (v pages) fetched() error {
	req := v.up.request(v.req.loc)
	if isNews(v.req) {
		req = v.up.news(v.req.loc, newsPages(v).newsOptions())
	}
	res, err := v.up.fetch(req)
	if err != nil {
		return gopherPages(v).phoneReply(err)
	}
	defer res.Close()
	if format := formatOf(v.req); format != nil && res.Items != nil && !v.req.wants("atom") {
		return v.out.formatted(v.req, res, format)
	}
	switch kind := res.Kind; {
	case kind == fetch.KindDirectory && isNews(v.req):
		return newsPages(v).group(res)
	case kind == fetch.KindDirectory && isA[*locator.Gopher](v.req):
		return gopherPages(v).phoneBook(res)
	case kind == fetch.KindDirectory, kind == fetch.KindMenu && isA[*locator.Prospero](v.req):
		return directoryPages(v).directory(res)
	case kind == fetch.KindMenu && isA[*locator.WAIS](v.req), kind == fetch.KindQuery && isA[*locator.WAIS](v.req):
		return documentPages(v).hits(res)
	case kind == fetch.KindMenu:
		return gopherPages(v).menu(res)
	case kind == fetch.KindQuery:
		return gopherPages(v).search(res)
	case kind == fetch.KindAdvice, kind == fetch.KindInteractive:
		return documentPages(v).advice(res)
	case isNews(v.req):
		return articlePages(v).article(res)
	case isA[*locator.Gopher](v.req):
		return gopherPages(v).document(res)
	}
	return documentPages(v).document(res)
}

// answer answers a request with an error, if there is one.
func (v pages) answer(err error) {
	if err != nil {
		v.fail(err)
	}
}

// fail answers a request with an error: that of the access to its Locator, or a *failure. If the
// response has begun, it is broken off.
func (v pages) fail(err error) {
	if v.out.status != 0 {
		v.out.abort(v.req.r, err)
	}
	if l, ok := v.req.loc.(*locator.Gopher); ok && place.Filled(l) { // the answers are not shown
		v = v.with(v.req.of(place.WithPlus(l, "?")))
	}
	f, ok := errors.AsType[*failure](err)
	if !ok {
		if other := documentPages(v).respelt(err); other != nil {
			v.out.redirectTo(v.req, other)
			return
		}
		f = accessFailure(v, err)
		offerLogin(v.req, f, v.out.Header())
	}
	v.out.showFailure(v.req, f)
}
