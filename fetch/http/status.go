package http

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
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

// maxStatuses is how much of a 207 response is searched for a failure, in bytes.
const maxStatuses = 64 << 10

// failedPart returns the first status of a failure in a 207 response to a change, as "423 Locked". Its
// body has the statuses of one or more resources (RFC 4918 §13).
func failedPart(method fetch.Op, resp *http.Response) string {
	if resp.StatusCode != http.StatusMultiStatus || !slices.Contains([]fetch.Op{http.MethodPut, http.MethodDelete, "MOVE", "MKCOL"}, method) {
		return ""
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxStatuses))
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), resp.Body), resp.Body}
	for _, part := range statusTag.Split(string(text), -1)[1:] {
		line, _, _ := strings.Cut(strings.TrimSpace(part), "<")
		if _, status, _ := strings.Cut(line, " "); codeOf(status) >= 400 {
			return fetch.Printable(strings.TrimSpace(status))
		}
	}
	return ""
}

// statusTag is the end of the tag of an element "status". The tag may have attributes.
var statusTag = regexp.MustCompile(`status(\s[^<>]*)?>`)

// codeOf returns the code of a status such as "423 Locked", or 0.
func codeOf(status string) int {
	digits, _, _ := strings.Cut(status, " ")
	code, err := strconv.Atoi(digits)
	if err != nil || len(digits) != 3 {
		return 0
	}
	return code
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
