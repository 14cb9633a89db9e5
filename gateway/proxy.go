package gateway

import (
	"io"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/plaintext"
	"github.com/fetch1738/fetch1738/internal/codec/menu"
	"github.com/fetch1738/fetch1738/locator"
)

// A forwardProxy answers clients that use the gateway as their proxy.
type forwardProxy pages

// locate returns the request with the Locator and the login of a request such as "GET ftp://…".
//
// The URL is what the client has sent, because a [net/url.URL] is not: it has the same value for
// different URLs of gopher. A login in it is for this request only.
func (v forwardProxy) locate() (*request, error) {
	l, err := place.Parse(v.req.r.RequestURI)
	if err != nil {
		f := failureOf(err)
		switch ref, _ := place.Parser.Parse(v.req.r.RequestURI); {
		case ref.Locator == nil:
		case fetch.KindOf(err) == fetch.ErrUnsupported:
			f.Status = http.StatusNotImplemented
			f.Text = "This proxy does not serve " + ref.Locator.Scheme() + " URLs."
			f.Do = "Set it for ftp, gopher, news and wais only, with ftp_proxy, gopher_proxy and so on."
		}
		return v.req, f
	}
	if g, ok := l.(*locator.Gopher); ok && strings.HasPrefix(v.req.r.UserAgent(), "w3m/") {
		l = v.typed(g)
	}
	q := v.req.of(l)
	login := loginOf(q.r.RequestURI)
	if login != nil && !takesLogin(q) {
		return q, &failure{Status: http.StatusForbidden, Text: "The gateway takes logins only at its loopback address."}
	}
	q.user = login
	return q, nil
}

// loginOf is the login in a URL, or nil.
func loginOf(text string) *locator.Login {
	ref, err := place.Parser.Parse(text)
	if err != nil {
		return nil
	}
	server, _ := locator.AuthorityOf(ref.Locator)
	return server.Login
}

// typed restores the type of an item in a URL of w3m. Version 0.5.3 sends "gopher://h/docs/a.txt"
// to a proxy for "gopher://h/0/docs/a.txt" and for "gopher://h/1/docs/a.txt". What the server sends
// says which it is.
func (v forwardProxy) typed(l *locator.Gopher) *locator.Gopher {
	at := *l
	if at.Selector = "/" + string([]byte{l.Type}) + l.Selector; !l.HasPath || l.Type == '1' && l.Selector == "" {
		return l // the first menu of the server
	}
	if at.Type = '7'; at.Search != "" {
		return &at
	}
	at.Type = '9'
	res, err := v.up.fetch(v.up.bare(&at))
	if err != nil {
		at.Type = '0' // to fail in the same way
		return &at
	}
	defer res.Close()
	start, _ := io.ReadAll(io.LimitReader(res.Body, plaintext.Sniffed))
	switch {
	case isMenu(start):
		at.Type = '1'
	case plaintext.LooksLikeText(start):
		at.Type = '0'
	}
	return &at
}

// isMenu reports whether a response that begins with start is a menu: the whole lines in it are
// items.
func isMenu(start []byte) bool {
	items := 0
	for line := range strings.Lines(string(start)) {
		item := menu.Parse([]byte(line))
		switch {
		case !strings.HasSuffix(line, "\n"), strings.TrimRight(line, "\r\n") == ".":
			return items > 0
		case item.Fault != "":
			return false
		case item.Link(), len(item.Host) > 0:
			items++
		}
	}
	return items > 0
}
