package http

import (
	"errors"
	"mime"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
)

// answer is the last answer of a call.
type answer struct {
	resp *http.Response
	*exchange
	window
	atEnd bool // the status is 416 because the range starts at the end of the resource
}

var errSwitched = errors.New("the server has switched to another protocol (101), which is not supported")

// checkResponse reports whether a response is what was requested, and sets the window of the
// requested bytes in it.
func (c *call) checkResponse(a *answer) error {
	code := a.resp.StatusCode
	switch {
	case c.ranged() && c.method == http.MethodGet && code == http.StatusPartialContent:
		return c.acceptPartial(a)
	case c.ranged() && code == http.StatusRequestedRangeNotSatisfiable && c.acceptAtEnd(a):
		return nil
	case code == http.StatusPartialContent && !c.sendsOwnRange():
		return c.acceptUnrequested(a)
	case code >= 200 && code < 300, code == http.StatusNotModified && !c.opt.IfModifiedSince.IsZero():
		return c.acceptWhole(a)
	case code == http.StatusSwitchingProtocols: // what follows is neither HTTP nor a document
		return fetch.Fail(c.method, c.locator, fetch.ErrProtocol, errSwitched)
	case c.opt.AnyStatus:
		a.window = window{to: -1, total: a.resp.ContentLength}
		if c.method != http.MethodHead {
			a.to = a.total
		}
		return nil
	}
	return c.statusError(a)
}

// statusError returns the error for a response's status.
func (c *call) statusError(a *answer) error {
	code := a.resp.StatusCode
	e := &fetch.Error{
		Op: c.method, URL: c.locator.Redacted(), Kind: statusKind(code), Code: code,
		Reply: strings.TrimSpace(strings.TrimPrefix(a.resp.Status, a.resp.Status[:min(3, len(a.resp.Status))])),
	}
	if code == http.StatusUnauthorized && !hasBasic(a.resp) {
		e.Err = errors.New("the server requires authentication other than Basic")
	}
	if isRedirect(code) {
		to, err := c.destination(a)
		if err != nil {
			e.Kind, e.Err = fetch.ErrProtocol, err
		} else {
			e.Kind, e.Err = fetch.ErrMoved, &fetch.Referral{To: to, From: c.redirectProvenance(a), Op: c.redirectOp(code)}
		}
	}
	return e
}

// statusKind classifies a status that does not mean success.
func statusKind(code int) fetch.ErrorKind {
	switch code {
	case http.StatusUnauthorized, http.StatusProxyAuthRequired:
		return fetch.ErrUnauthenticated
	case http.StatusPaymentRequired, http.StatusForbidden, http.StatusUnavailableForLegalReasons:
		return fetch.ErrPermission
	case http.StatusNotFound, http.StatusGone:
		return fetch.ErrNotFound
	case http.StatusMethodNotAllowed, http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return fetch.ErrUnsupported
	case http.StatusRequestEntityTooLarge:
		return fetch.ErrTooLarge
	case http.StatusRequestedRangeNotSatisfiable:
		return fetch.ErrBadRange
	case http.StatusRequestURITooLong:
		return fetch.ErrBadURL
	case http.StatusBadRequest:
		return fetch.ErrProtocol
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return fetch.ErrBusy
	}
	switch {
	case code < 400:
		return fetch.ErrProtocol
	case code >= 500:
		return fetch.ErrBusy
	}
	return fetch.ErrOther
}

// attributes returns the attributes that the head of a states.
func (a *answer) attributes() fetch.Attributes {
	at := fetch.Attributes{Size: a.total, Header: fields(a.head)}
	if t, err := http.ParseTime(a.resp.Header.Get("Last-Modified")); err == nil {
		at.ModTime = t
	}
	// A type is useful even if its parameters cannot be parsed.
	media, parameters, err := mime.ParseMediaType(a.resp.Header.Get("Content-Type"))
	if err == nil || errors.Is(err, mime.ErrInvalidMediaParameter) {
		at.MediaType, at.Charset = media, strings.ToLower(parameters["charset"])
	}
	return at
}

// fields returns the fields of a head, in order. A line that starts with white space continues the
// line before it (RFC 9112 §5.2).
func fields(head []byte) []fetch.Field {
	_, lines, _ := strings.Cut(string(head), "\n")
	list := make([]fetch.Field, 0, min(strings.Count(lines, "\n"), 32))
	for line := range strings.Lines(lines) {
		text := strings.TrimRight(line, "\r\n")
		if value := strings.TrimLeft(text, " \t"); value != text && len(list) > 0 {
			list[len(list)-1].Value += " " + value
			continue
		}
		if name, value, ok := strings.Cut(text, ":"); ok {
			list = append(list, fetch.Field{Name: name, Value: strings.Trim(value, " \t")})
		}
	}
	return list
}
