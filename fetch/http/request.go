package http

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/proxy"
	"github.com/fetch1738/fetch1738/internal/idn"
	"github.com/fetch1738/fetch1738/locator"
)

const (
	defaultUserAgent = "fetch1738"
	maxHost          = 255 // bytes, RFC 1035 §2.3.4
)

// ownFields are about the connection and the length of the body. Those of the caller are ignored.
var ownFields = []string{
	"Connection", "Content-Length", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade", "Host", "Expect",
}

// publicFields may be sent to every server that a redirect leads to.
var publicFields = []string{"User-Agent", "Accept", "Accept-Encoding", "Accept-Language"}

// checkOptions refuses options that would make an invalid HTTP request.
func (c *call) checkOptions() (err error) {
	switch {
	case c.method != "":
	case c.opt.Method != "":
		c.method = fetch.Op(c.opt.Method)
	case c.opt.Body != nil:
		c.method = http.MethodPost
	default:
		c.method = http.MethodGet
	}
	if err = c.checkRange(); err != nil {
		return err
	}
	if strings.ContainsFunc(c.opt.Target, func(r rune) bool { return r <= ' ' || r == 0x7F }) {
		return fetch.Fail(fetch.OpCheck, c.locator, fetch.ErrBadURL, fmt.Errorf("the request target %q contains white space or a control character", c.opt.Target))
	}
	if c.opt.Proxied != nil && !c.opt.ProxiedPassword && locator.HasPassword(c.opt.Proxied) {
		return fetch.Fail(fetch.OpCheck, c.opt.Proxied, fetch.ErrRefused, errors.New("the URL's password is not sent to a proxy"))
	}
	if c.opt.Header, c.spelling, err = checkFields(c.verb(), c.opt.Header); err != nil {
		return fetch.Fail(fetch.OpCheck, c.locator, fetch.ErrBadURL, err)
	}
	return nil
}

// asciiHost returns a host in ASCII. It converts non-ASCII names by the strict rules of IDNA, and
// changes nothing else.
func asciiHost(host string) (string, error) {
	switch {
	case host == "":
		return "", errors.New("no host")
	case len(host) > maxHost:
		return "", fmt.Errorf("the host name is too long (%d bytes)", len(host))
	}
	if _, err := netip.ParseAddr(host); err != nil && (strings.ContainsAny(host, "\x00\r\n\t /\\?#@:%[]<>\"") || !utf8.ValidString(host)) {
		return "", fmt.Errorf("bad host %q", host)
	}
	return idn.ASCII(host)
}

// rest is the missing part of a truncated body: from offset on, if validator still identifies the
// resource.
type rest struct {
	offset    int64
	length    int64 // 0 means to the end
	validator string
}

// request returns the request for the current hop, with its own header.
func (c *call) request(ex *exchange, resumed *rest) (*http.Request, error) {
	ctx := context.WithValue(c.ctx, exchangeKey{}, ex)
	r, err := http.NewRequestWithContext(ex.traced(ctx), c.verb(), "http:", nil)
	if err != nil {
		return nil, fetch.Fail(c.method, c.locator, fetch.ErrBadURL, err)
	}
	r.URL = wireURL(c.locator)
	r.Host = hostField(c.locator)
	r.Header = c.header(resumed)
	if l := c.opt.Proxied; l != nil && len(c.redirects) == 0 {
		s, ok := locator.ServerOf(l)
		_, zone, _ := strings.Cut(s.Host, "%")
		r.URL.Opaque, r.Host = strings.Replace(l.String(), "%25"+zone+"]", "]", 1), proxiedHost(l)
		for _, name := range []string{"Proxy-Authorization", "Proxy-Connection"} {
			if values, ok := c.opt.Header[name]; ok {
				r.Header[name] = values
			}
		}
		if ok && s.Login != nil && s.Login.HasPassword && r.Header.Get("Authorization") == "" {
			r.Header.Set("Authorization", basic(s.Login))
		}
	} else if c.opt.Target != "" && len(c.redirects) == 0 {
		r.URL.Opaque = c.opt.Target
	}
	r.Close = c.opt.HTTP10 || strings.EqualFold(c.opt.Header.Get("Connection"), "close")
	switch hosts := c.opt.Header["Host"]; {
	case c.isTrusted() && len(hosts) == 1:
		if ex.forwarded() && r.URL.Opaque == "" { // else the request line would contain the host of the Host field
			path, _, _ := strings.Cut(target(c.locator), "?")
			r.URL.Opaque = "//" + r.Host + path
		}
		r.Host = hosts[0]
	}
	if ex.forwarded() {
		addProxyHeader(r.Header, ex.proxy)
	}
	if resumed == nil {
		if err := c.setBody(r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// setBody makes the upload the body of r, with the caller's Transfer-Encoding and Expect.
func (c *call) setBody(r *http.Request) error {
	if err := c.upload.setBodyOf(r, c.locator); err != nil || c.upload == nil {
		return err
	}
	if c.opt.Header.Get("Transfer-Encoding") == "chunked" {
		r.ContentLength = -1
	}
	switch values, given := c.opt.Header["Expect"]; {
	case c.opt.HTTP10 && r.ContentLength < 0:
		return fetch.Fail(fetch.Op(r.Method), c.locator, fetch.ErrUnsupported, errors.New("HTTP/1.0 cannot send a body of unknown size"))
	case given && len(values) == 0 || c.opt.HTTP10:
		r.Header.Del("Expect")
	case given && strings.EqualFold(values[0], "100-continue") && r.ContentLength != 0:
		r.Header.Set("Expect", "100-continue")
	}
	return nil
}

// versioned returns the head of a request with the version of Options.HTTP10. net/http writes
// requests of HTTP/1.1 only.
func (c *call) versioned(head []byte) []byte {
	if !c.opt.HTTP10 {
		return head
	}
	return bytes.Replace(head, []byte(" HTTP/1.1\r\n"), []byte(" HTTP/1.0\r\n"), 1)
}

// verb returns the method in the request line.
func (c *call) verb() string { return cmp.Or(c.opt.Verb, string(c.method)) }

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

// isTrusted reports whether the current hop may receive what is meant for the first.
func (c *call) isTrusted() bool { return !c.leftOrigin || c.opt.LocationTrusted }

// header returns a new header for each hop.
func (c *call) header(resumed *rest) http.Header {
	h := http.Header{
		"Accept":          {"*/*"},
		"Accept-Encoding": {"identity"},
		"User-Agent":      {c.f.userAgent()},
	}
	if c.opt.Compressed && !c.ranged() {
		h.Set("Accept-Encoding", "deflate, gzip")
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

func (f *Fetcher) userAgent() string {
	if f.UserAgent == "" {
		return defaultUserAgent
	}
	return f.UserAgent
}

// wireURL returns l for net/http, which sends RawPath and RawQuery unchanged if they are well
// encoded, as the output of String is.
func wireURL(l *locator.HTTP) *url.URL {
	path, query, hasQuery := strings.Cut(target(l), "?")
	server, _ := locator.ServerOf(l)
	u := &url.URL{Scheme: l.Scheme(), Host: address(server.Host, server.Port), RawPath: path, RawQuery: query, ForceQuery: hasQuery}
	u.Path, _ = url.PathUnescape(path)
	return u
}

// target returns path and search for the request line, encoded.
func target(l *locator.HTTP) string {
	bare := locator.HTTP{Path: l.Path, Search: l.Search, HasPath: true, HasSearch: l.HasSearch}
	return strings.TrimPrefix(bare.String(), "http://")
}

// hostField returns the value of the Host field. It omits the default port of the scheme.
func hostField(l *locator.HTTP) string {
	at := l.HostPort
	at.Host, _, _ = strings.Cut(l.Host, "%") // the zone of an address is only valid on this host
	if at.Port == locator.DefaultPort(l.Scheme()) {
		at.Port = 0
	}
	return at.String()
}

// proxiedHost returns the Host field for a locator that is requested from a proxy.
func proxiedHost(l locator.Locator) string {
	server, _ := locator.ServerOf(l)
	if server.Port == locator.DefaultPort(l.Scheme()) {
		server.Port = 0
	}
	return hostField(&locator.HTTP{Server: server})
}

// address returns host and port to dial.
func address(host string, port uint16) string {
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}
