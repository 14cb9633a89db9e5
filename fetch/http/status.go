package http

import (
	"errors"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
)

// statusError returns the error for a response's status.
func (c *call) statusError(resp *http.Response) *fetch.Error {
	code := resp.StatusCode
	e := &fetch.Error{
		Op: c.method, URL: c.locator.Redacted(), Kind: statusKind(code), Code: code,
		Reply: strings.TrimSpace(strings.TrimPrefix(resp.Status, resp.Status[:min(3, len(resp.Status))])),
	}
	if code == http.StatusUnauthorized && !hasBasic(resp) {
		e.Err = errors.New("the server requires authentication other than Basic")
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
