package http

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/urls/idn"
	"github.com/fetch1738/fetch1738/internal/urls/relative"
	"github.com/fetch1738/fetch1738/locator"
)

// isRedirect reports whether a status means that the Location field says where the resource is.
func isRedirect(code int) bool {
	switch code {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// follow returns the hop that a response redirects to, and prepares the call for it. It returns nil
// if redirects are not followed.
func (c *call) follow(a *answer) (*hop, error) {
	limit := c.env.Limits.Hops
	if limit == 0 || c.opt.AnyStatus && len(locations(a.resp)) == 0 {
		return nil, nil
	}
	to, err := c.destination(a)
	if err != nil {
		return nil, driver.Fail(c.method, c.locator, fetch.ErrProtocol, err)
	}
	next, ok := to.(*locator.HTTP)
	switch {
	case len(c.redirects) >= limit:
		err = driver.Fail(c.method, c.locator, fetch.ErrTooManyHops, fmt.Errorf("more than %d redirects", limit))
	case !ok:
		return nil, c.moved(a)
	case c.locator.Secure && !next.Secure && !c.f.AllowDowngrade:
		err = driver.Fail(c.method, c.locator, fetch.ErrRefused, fmt.Errorf("redirect from https to http: %s", next.Redacted()))
	case c.newMethod(a.resp.StatusCode) == c.method && !c.upload.CanResend():
		err = driver.Fail(c.method, c.locator, fetch.ErrLocalIO, fmt.Errorf("cannot follow the redirect: %w", ErrRewind))
	}
	if err != nil {
		return nil, err
	}
	if method := c.newMethod(a.resp.StatusCode); method != c.method {
		c.upload.stop()
		c.method, c.upload, c.dropped = method, nil, true
	}
	if origin(next) != origin(c.locator) {
		c.leftOrigin = true
		if !c.opt.LocationTrusted {
			c.login = nil
		}
	}
	c.opt.Proxied, c.opt.Target = nil, "" // those of the first request
	c.redirects = append(c.redirects, Redirect{Locator: c.locator, StatusCode: a.resp.StatusCode, Head: a.Head, SentOn: c.upload != nil})
	return &hop{locator: next, from: c.redirectProvenance(a)}, nil
}

// redirectProvenance returns the provenance of the target of a redirect.
func (c *call) redirectProvenance(a *answer) fetch.Provenance {
	from := fetch.Provenance{Kind: fetch.OriginRedirect, By: c.locator, Peer: a.Peer.Addr()}
	if known := driver.KnownAddrs(c.locator.Host); known != nil && !from.Peer.IsValid() {
		from.Peer = known[0] // known even through a proxy
	}
	return from
}

// newMethod returns the method after a redirect (RFC 9110 §15.4). A POST becomes a GET, as in all
// clients; a PUT remains a PUT.
func (c *call) newMethod(code int) fetch.Op {
	switch {
	case c.method == http.MethodPost && slices.Contains(c.opt.KeepPost, code):
	case code == http.StatusSeeOther && c.method != http.MethodHead:
		return http.MethodGet
	case (code == http.StatusMovedPermanently || code == http.StatusFound) && c.method == http.MethodPost:
		return http.MethodGet
	}
	return c.method
}

// redirectOp returns the operation that a redirect requires at its target; empty for a fetch.
func (c *call) redirectOp(code int) string {
	op := cmp.Or(c.opt.Verb, string(c.newMethod(code)))
	if op == http.MethodGet {
		return ""
	}
	return op
}

// lenient parses the URLs that servers put in Location fields.
var lenient = locator.Parser{Tolerate: locator.TolerateAll &^ (locator.WrappedText | locator.MissingSlashes)}

// destination returns the locator in a response's Location field, resolved and without a login.
func (c *call) destination(a *answer) (locator.Locator, error) {
	values := locations(a.resp)
	if len(values) == 0 {
		return nil, errors.New("redirect without a Location")
	}
	for _, v := range values[1:] {
		if v != values[0] {
			return nil, errors.New("redirect with several different Locations")
		}
	}
	return ResolveLocation(c.locator, values[0])
}

// ResolveLocation returns what a Location field in a response for base means, without a login. As in
// other clients, a "%" without two digits and bytes that no URL may contain are encoded, the segments
// "." and ".." of an http URL are removed, and a host beyond ASCII, also percent-encoded, is in ASCII.
func ResolveLocation(base *locator.HTTP, text string) (locator.Locator, error) {
	if path, search, ok := strings.Cut(text, "?"); ok {
		text = path + "?" + strings.ReplaceAll(search, " ", "+") // as curl
	}
	from := *base
	from.Login = nil
	if scheme, rest, ok := strings.Cut(text, "://"); ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) {
		from.Secure, text = len(scheme) == len("https"), "//"+rest // Resolve removes its dots
	}
	ref, err := lenient.Parse(idn.URL(relative.Resolve(&from, text)))
	if err != nil {
		return nil, fmt.Errorf("bad Location: %w", err)
	}
	if l, ok := ref.Locator.(*locator.HTTP); ok {
		l.Login = nil
		return normalize(l, "")
	}
	return ref.Locator, nil
}

// locations returns the values of the Location fields that are not blank.
func locations(resp *http.Response) (places []string) {
	for _, v := range resp.Header.Values("Location") {
		if v = strings.Trim(v, " \t"); v != "" {
			places = append(places, v)
		}
	}
	return places
}

// moved returns the error of a redirect that is not followed.
func (c *call) moved(a *answer) error {
	e := c.statusError(a.resp)
	to, err := c.destination(a)
	if err != nil {
		e.Kind, e.Err = fetch.ErrProtocol, err
	} else {
		e.Kind, e.Err = fetch.ErrMoved, &fetch.Referral{To: to, From: c.redirectProvenance(a), Op: c.redirectOp(a.resp.StatusCode)}
	}
	return e
}
