package http

import (
	"net/http"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/http/internal/exchange"
	"github.com/fetch1738/fetch1738/fetch/proxy"
	"github.com/fetch1738/fetch1738/locator"
)

// ownFields are about the connection and the length of the body. Those of the caller are ignored.
var ownFields = []string{
	"Connection", "Content-Length", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade", "Host", "Expect",
}

// publicFields may be sent to every server that a redirect leads to.
var publicFields = []string{"User-Agent", "Accept", "Accept-Encoding", "Accept-Language"}

// rest is the missing part of a truncated body: from offset on, if validator still identifies the
// resource.
type rest struct {
	offset    int64
	length    int64 // 0 means to the end
	validator string
}

// request returns the request for the current hop, with its own header.
func (c *call) request(ex *exchange.Exchange, resumed *rest) (*http.Request, error) {
	r, err := http.NewRequestWithContext(c.ctx, c.verb(), "http:", nil) // net/http would encode the URL in its own way
	if err != nil {
		return nil, driver.Fail(c.method, c.locator, fetch.ErrBadURL, err)
	}
	r.URL = wireURL(c.locator)
	r.Host = hostField(c.locator)
	r.Header = c.header(resumed)
	if l := c.opt.Proxied; l != nil {
		s, ok := locator.ServerOf(l)
		_, zone, _ := strings.Cut(s.Host, "%")
		r.URL.Opaque, r.Host = strings.Replace(l.String(), "%25"+zone+"]", "]", 1), proxiedHost(l) // a zone is only valid on this host
		for _, name := range []string{"Proxy-Authorization", "Proxy-Connection"} {
			if values, ok := c.opt.Header[name]; ok {
				r.Header[name] = values
			}
		}
		if ok && s.Login != nil && s.Login.HasPassword && r.Header.Get("Authorization") == "" {
			r.Header.Set("Authorization", basic(s.Login))
		}
	} else if c.opt.Target != "" {
		r.URL.Opaque = c.opt.Target
	}
	r.Close = c.opt.HTTP10 || strings.EqualFold(c.opt.Header.Get("Connection"), "close")
	switch hosts := c.opt.Header["Host"]; {
	case c.isTrusted() && len(hosts) == 1:
		if ex.Forwarded() && r.URL.Opaque == "" { // else the request line would contain the host of the Host field
			path, _, _ := strings.Cut(target(c.locator), "?")
			r.URL.Opaque = "//" + r.Host + path
		}
		r.Host = hosts[0]
	}
	if ex.Forwarded() {
		addProxyHeader(r.Header, ex.Proxy)
	}
	if resumed == nil {
		if err := c.setBody(r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// addProxyHeader adds the fields for a proxy that makes the request.
func addProxyHeader(h http.Header, p *proxy.Proxy) {
	if login := p.Authorization(); login != "" {
		h.Set("Proxy-Authorization", login)
	}
	for name, values := range p.Header {
		if _, ok := h[name]; !ok || name == "Proxy-Authorization" {
			h[name] = values
		}
	}
}

// header returns a new header for each hop.
func (c *call) header(resumed *rest) http.Header {
	h := http.Header{
		"Accept":          {"*/*"},
		"Accept-Encoding": {"identity"},
		"User-Agent":      {c.f.userAgent()},
	}
	if c.opt.Compressed && !c.ranged() {
		h.Set("Accept-Encoding", "deflate, gzip") // in curl's order
	}
	for name, values := range c.opt.Header {
		switch {
		case slices.Contains(ownFields, name):
		case name == "Content-Type" && c.upload == nil && c.dropped:
		case c.isTrusted(), slices.Contains(publicFields, name), name == "Content-Type" && c.upload != nil:
			h[name] = slices.Clone(values)
		}
	}
	if n := len(c.redirects); n > 0 && c.opt.AutoReferer {
		delete(h, "Referer")
		if referer := Referer(c.redirects[n-1].Locator, c.locator, c.opt.LocationTrusted); referer != "" {
			h["Referer"] = []string{referer}
		}
	}
	c.addCookies(h)
	if len(h["User-Agent"]) == 0 {
		h["User-Agent"] = []string{""} // without it, net/http sends its own
	}
	if c.login != nil && h.Get("Authorization") == "" {
		h.Set("Authorization", basic(c.login))
	}
	if !c.opt.IfModifiedSince.IsZero() {
		h.Set("If-Modified-Since", c.opt.IfModifiedSince.UTC().Format(http.TimeFormat))
	}
	switch {
	case resumed != nil:
		h.Set("Range", rangeField(resumed.offset, resumed.length))
		h.Set("If-Range", resumed.validator)
	case c.ranged() && c.method == http.MethodGet:
		h.Set("Range", rangeField(c.req.Offset, c.req.Length))
	}
	for name, spelled := range c.spelling {
		if values, ok := h[name]; ok && name != "User-Agent" && name != "Host" { // net/http looks up these two by their canonical names
			delete(h, name)
			h[spelled] = values
		}
	}
	return h
}

// Referer returns the Referer field (RFC 9110 §10.1.3) that AutoReferer sends with the request for
// to, when from has redirected to it. It never contains a login. If to has another origin and is
// not trusted, it contains no path and no search. It is empty if from is secure and to is not.
func Referer(from, to *locator.HTTP, trusted bool) string {
	bare := *from
	bare.Login = nil
	switch {
	case from.Secure && !to.Secure:
		return ""
	case origin(from) != origin(to) && !trusted:
		bare = locator.HTTP{Secure: from.Secure, Server: bare.Server, HasPath: true}
	}
	return bare.String()
}
