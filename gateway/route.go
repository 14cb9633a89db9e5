package gateway

import (
	"errors"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
)

// serve answers a request: first the guard checks it, then its path says what is wanted.
func (h *Handler) serve(v *visit) {
	err := guard{v}.check()
	if err == nil {
		err = v.route()
	}
	if err != nil {
		v.fail(err)
	}
}

// route answers a request that the guard has accepted.
func (v *visit) route() error {
	if v.native {
		if v.r.Method == http.MethodConnect {
			return forwardProxy{v}.connect()
		}
		if err := (forwardProxy{v}).locate(); err != nil {
			return err
		}
		if err := (archivePages{v}).negotiateNative(); err != nil {
			return err
		}
		return v.visitURL()
	}
	path, ok := strings.CutPrefix(v.r.URL.EscapedPath(), v.h.Prefix)
	if !ok || !strings.HasPrefix(path, "/") {
		return &failure{Status: http.StatusNotFound, Text: "The gateway has no such page."}
	}
	if stamp, rest, dated := place.CutDated(path); dated && v.h.Archive != nil && v.h.undated == nil {
		return archivePages{v}.enter(stamp, rest)
	}
	switch path {
	case "/":
		return front{v}.home()
	case "/open":
		return front{v}.open()
	case "/help":
		return front{v}.help()
	case "/setup":
		return front{v}.setup()
	case "/style.css":
		v.static("style", "text/css; charset=utf-8", v.h.templates().style)
	case "/script.js":
		v.static("script", "text/javascript; charset=utf-8", v.h.templates().script)
	case "/robots.txt":
		v.robots()
	case manifestPath:
		front{v}.manifest()
	case "/icon.svg", "/icon-192.png", "/icon-512.png", "/favicon.ico":
		front{v}.icon(path[1:])
	default:
		if scheme, ok := schemeOf(path); ok {
			return front{v}.scheme(scheme)
		}
		loc, err := place.Locate(path, v.r.URL.Query())
		if err != nil {
			return front{v}.nowhere(path, err)
		}
		v.loc = loc
		if strings.Count(path, "/") != 2 || !place.HasServer(loc.Scheme()) {
			return v.visitURL()
		}
		to := place.At(place.Of(loc))
		if !strings.Contains(to.Path, "?") && v.r.URL.RawQuery != "" {
			to = to.With(v.r.URL.RawQuery)
		}
		v.redirect(to.Path) // so that the browser sends a login for the server to no other
	}
	return nil
}

// visitURL answers a request for the page or the octets of a Locator.
func (v *visit) visitURL() error {
	if !v.native {
		v.query = v.r.URL.Query()
		gopherPages{v}.takeQuery()
	}
	guard{v}.findLogin()
	if v.crossSite && !v.mayShowAtOnce() {
		return front{v}.interstitial()
	}
	if err := (guard{v}).challenge(); err != nil {
		return err
	}
	gopherPages{v}.takeWords()
	if answered, err := (archivePages{v}).asked(); answered || err != nil {
		return err
	}
	return v.asked()
}

// asked shows the kind of page that a request alone determines. Each kind is a case here or in
// fetched; docs/architecture.md says how to add one.
func (v *visit) asked() error {
	switch {
	case v.fillsFields():
		return gopherPages{v}.takeFields()
	case v.fillsForm():
		return gopherPages{v}.confirmFilled()
	case isA[*locator.Telnet](v), isA[*locator.Mailto](v):
		return documentPages{v}.advice(nil)
	case v.r.Method == http.MethodPost:
		return gopherPages{v}.submit()
	case v.wants("explain"):
		return documentPages{v}.explain()
	case v.wants("tar"):
		return directoryPages{v}.tar()
	case v.wants("in"):
		return packedPages{v}.show()
	case v.wants("info"):
		return gopherPages{v}.info()
	case v.wants("id"):
		return newsPages{v}.findArticle()
	case front{v}.strays():
		return front{v}.stray()
	case v.wants("raw"), v.wantsOctets():
		return documentPages{v}.raw()
	case v.knowsMedia():
		return documentPages{v}.media()
	case newsPages{v}.searches():
		return newsPages{v}.search()
	case v.isFolder():
		return directoryPages{v}.folder()
	}
	return v.fetched()
}

// fetched fetches what a Locator names, and shows the kind of page that depends on it.
func (v *visit) fetched() error {
	req := v.request(v.loc)
	if isNews(v) {
		req.Options = newsPages{v}.newsOptions()
	}
	v.prepare(req)
	res, err := v.h.resolver().Fetch(v.context(), req)
	if err != nil {
		return gopherPages{v}.phoneReply(err)
	}
	defer res.Close()
	if format := (directoryPages{v}).format(); format != nil && res.Items != nil && !v.wants("atom") {
		return directoryPages{v}.formatted(res, format)
	}
	switch kind := res.Kind; {
	case kind == fetch.KindDirectory && isNews(v):
		return newsPages{v}.group(res)
	case kind == fetch.KindDirectory && isA[*locator.Gopher](v):
		return gopherPages{v}.phoneBook(res)
	case kind == fetch.KindDirectory, kind == fetch.KindMenu && isA[*locator.Prospero](v):
		return directoryPages{v}.directory(res)
	case kind == fetch.KindMenu && isA[*locator.WAIS](v), kind == fetch.KindQuery && isA[*locator.WAIS](v):
		return documentPages{v}.hits(res)
	case kind == fetch.KindMenu:
		return gopherPages{v}.menu(res)
	case kind == fetch.KindQuery:
		return gopherPages{v}.search(res)
	case kind == fetch.KindAdvice, kind == fetch.KindInteractive:
		return documentPages{v}.advice(res)
	case isNews(v):
		return articlePages{newsPages{v}}.article(res)
	case isA[*locator.Gopher](v):
		return gopherPages{v}.document(res)
	}
	return documentPages{v}.document(res)
}

// fail answers a request with an error: that of the access to v.loc, or a *failure. If the response
// has begun, it is broken off.
func (v *visit) fail(err error) {
	if v.w.status != 0 {
		v.abort(err)
	}
	f, ok := errors.AsType[*failure](err)
	if !ok {
		if other := (documentPages{v}).respelt(err); other != nil {
			v.redirectTo(other)
			return
		}
		f = v.accessFailure(err)
		guard{v}.offerLogin(f)
	}
	v.showFailure(f)
}
