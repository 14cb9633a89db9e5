package gateway

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/gateway/internal/memento"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/textview"
	"github.com/fetch1738/fetch1738/locator"
)

// A request is what a client asks for. Once it is admitted, it is only read: what finds out more about
// it makes a copy.
type request struct {
	h         *Handler // the settings
	r         *http.Request
	native    bool // the client uses the gateway as its proxy
	crossSite bool // a link of another site, which the user may have followed, leads here

	prefix   string              // of the paths in pages: that of the Handler, and perhaps a time
	resolver *fetch1738.Resolver // the Handler's, or that of an archive as of a time
	at       time.Time           // of the captures; the zero Time means the last ones
	dated    bool                // the client has chosen the time

	loc      locator.Locator  // what the page shows; nil for a page of the gateway's own
	query    url.Values       // of the request, where loc does not include it
	user     *locator.Login   // the login of the client for loc, which contains no login; nil without one
	timeline memento.Timeline // the captures of loc in an archive
}

// newRequest returns a request for the usual time of the Handler, without a Locator.
func newRequest(h *Handler, r *http.Request) *request {
	q := &request{h: h, r: r, prefix: h.Prefix, resolver: h.resolver()}
	if h.Archive != nil {
		q.at = h.Archive.Time
	}
	return q
}

// of returns the request with another Locator.
func (q *request) of(l locator.Locator) *request {
	copied := *q
	copied.loc = l
	return &copied
}

// asOf returns the request for the same archive as of another time. All its pages, with their links,
// are below path, which is relative to the Handler's own.
func (q *request) asOf(at time.Time, path string, resolver *fetch1738.Resolver) *request {
	copied := *q
	copied.at, copied.dated, copied.resolver = at, true, resolver
	copied.prefix += path
	return &copied
}

// ownHost reports whether the field Host, or the host of a whole URL, is a name of the gateway.
func (q *request) ownHost() bool {
	if slices.Contains(q.h.Hosts, q.r.Host) {
		return true
	}
	local := localAddr(q.r)
	for _, name := range []string{"127.0.0.1", "::1", "localhost"} {
		if local.IsValid() && q.r.Host == net.JoinHostPort(name, strconv.Itoa(int(local.Port()))) {
			return true
		}
	}
	return false
}

// localAddr is the address of the listener that a request came to; invalid if it is not TCP.
func localAddr(r *http.Request) netip.AddrPort {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return netip.AddrPort{}
	}
	addr := driver.AddrPort(local)
	return netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())
}

// wants reports whether the query of the request has a name, such as "raw".
func (q *request) wants(name string) bool { return !q.native && q.query.Has(name) }

// isA tests for a type of Locator.
func isA[L locator.Locator](q *request) bool { _, ok := q.loc.(L); return ok }

// isNews reports whether a URL is one of news or nntp.
func isNews(q *request) bool { return isA[*locator.News](q) || isA[*locator.NNTP](q) }

// accepts reports whether the client asks for a media type by its name. "*/*" is not enough.
func (q *request) accepts(mediaType string) bool {
	for _, field := range q.r.Header.Values("Accept") {
		for part := range strings.SplitSeq(field, ",") {
			name, _, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(name), mediaType) {
				return true
			}
		}
	}
	return false
}

// wantsOctets reports whether the client gets a document rather than a page about it.
func (q *request) wantsOctets() bool {
	page := !q.native && q.accepts("text/html") && q.r.Header.Get("Range") == "" // a page has no ranges
	return !page && !q.wants("part") && place.IsDocument(q.loc)
}

// headerValue is the value of a header field that a browser sends once. Several values are one that
// no browser sends.
func (q *request) headerValue(name string) string {
	return strings.Join(q.r.Header.Values(name), ", ")
}

// client is the address of the client.
func (q *request) client() netip.AddrPort {
	addr, _ := netip.ParseAddrPort(q.r.RemoteAddr)
	return netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())
}

// origin is the gateway as the client calls it.
func (q *request) origin() string {
	if q.r.TLS != nil {
		return "https://" + q.r.Host
	}
	return "http://" + q.r.Host
}

// ownPage is the link to a page of the gateway itself.
func (q *request) ownPage(path string) place.Link { return place.At(q.prefix + path) }

// linkTo is the link to a Locator, which may be nil. Only the schemes of the gateway, http, https
// and mailto are links at all.
func (q *request) linkTo(l locator.Locator) place.Link {
	switch l.(type) {
	case nil, *locator.File, *locator.Opaque:
		return place.Link{}
	case *locator.HTTP:
		if q.h.Archive != nil { // it would lead to the server of today
			return place.Link{}
		}
		return place.URL(l)
	}
	if q.native {
		return place.URL(l)
	}
	return q.ownPage(place.Of(l))
}

// here is the link to the page: that of the Locator, or of what is in that archive.
func (q *request) here() place.Link { return q.within(q.linkTo(q.loc)) }

// within is a link to the Locator as the link to what the page shows of that archive.
func (q *request) within(to place.Link) place.Link {
	if q.wants("in") {
		to = to.With("in=" + url.QueryEscape(q.query.Get("in")))
	}
	return to
}

// again is the link to what the client has asked for. It leads to this gateway, also where the path
// begins with "//".
func (q *request) again() place.Link {
	return place.At("/" + strings.TrimLeft(q.r.URL.RequestURI(), "/"))
}

// linked splits a text into pieces: see [textview.Linked].
func (q *request) linked(text string) []textview.Piece { return textview.Linked(text, q.linkTo) }
