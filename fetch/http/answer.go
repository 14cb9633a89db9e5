package http

import (
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/http/internal/exchange"
	"github.com/fetch1738/fetch1738/internal/text/date822"
)

// answer is the last answer of a call.
type answer struct {
	resp *http.Response
	*exchange.Exchange
	window
	atEnd bool // the status is 416 because the range starts at the end of the resource
}

// window is the requested part of a resource, in bytes from its start.
type window struct {
	from, to int64 // to is -1 for an unknown end
	open     bool  // the resource may end before to
	exact    bool  // the response ends at to, which only Content-Range states
	total    int64 // size of the whole resource, -1 if unknown
	at       int64 // where the response's body starts
}

// attributes returns the attributes that the head of a states.
func (a *answer) attributes() fetch.Attributes {
	at := fetch.Attributes{Size: a.total, Header: exchange.Fields(a.Head)}
	modified := a.resp.Header.Get("Last-Modified")
	if t, err := http.ParseTime(modified); err == nil {
		at.ModTime = t
	} else if t := date822.Parse(modified); !t.IsZero() { // "+0000" or "UTC" in place of "GMT", a day of one digit
		at.ModTime = t.UTC()
	}
	// A type is useful even if its parameters cannot be parsed.
	media, parameters, err := mime.ParseMediaType(a.resp.Header.Get("Content-Type"))
	if err == nil || errors.Is(err, mime.ErrInvalidMediaParameter) {
		at.MediaType, at.Charset = media, strings.ToLower(parameters["charset"])
	}
	return at
}

// sendsOwnRange reports whether the current hop is sent the caller's own Range field. The caller
// then interprets the response.
func (c *call) sendsOwnRange() bool { return c.isTrusted() && c.opt.Header.Get("Range") != "" }

// acceptWhole sets the window in a response that contains the whole resource, or only the head
// after HEAD.
func (c *call) acceptWhole(a *answer) (err error) {
	if c.method == http.MethodHead || a.resp.StatusCode == http.StatusNotModified {
		a.window = window{total: a.resp.ContentLength}
		return nil
	}
	if c.ranged() && c.isTrusted() && c.opt.Header.Get("If-Range") != "" {
		return c.badRange("the document has changed, or the server does not support ranges")
	}
	if c.lead > 0 && !ends(a.resp) {
		return c.badRange("the server does not support ranges, and does not say how long the document is")
	}
	a.window, err = c.windowIn(a.resp.ContentLength)
	return err
}

// acceptPartial sets the window in a 206 response, which must be the requested part, or its
// beginning.
func (c *call) acceptPartial(a *answer) error {
	r, err := parseContentRange(a.resp)
	if err == nil {
		a.window, err = c.windowIn(r.total)
	}
	if err != nil {
		return driver.Fail(c.method, c.locator, fetch.ErrProtocol, err)
	}
	a.at = r.first
	if r.total < 0 && a.to < 0 {
		a.to = r.last + 1 // the server does not send the total length
	}
	a.open, a.exact = false, a.resp.ContentLength < 0 && r.last+1 == a.to
	if err := r.fits(a.resp, a.from); err != nil {
		return driver.Fail(c.method, c.locator, fetch.ErrBadRange, err)
	}
	return nil
}

// acceptUnrequested sets the window in a 206 response to a request without a Range. A part must not
// be taken for the whole resource.
func (c *call) acceptUnrequested(a *answer) error {
	r, err := parseContentRange(a.resp)
	switch {
	case err != nil:
		err = fmt.Errorf("unexpected partial content: no range was requested, and %w", err)
	case r.first != 0 || r.last+1 != r.total || a.resp.ContentLength >= 0 && a.resp.ContentLength != r.total:
		err = fmt.Errorf("unexpected partial content: no range was requested; received %s", strconv.Quote(a.resp.Header.Get("Content-Range")))
	default:
		return c.acceptWhole(a)
	}
	return driver.Fail(c.method, c.locator, fetch.ErrProtocol, err)
}

// acceptAtEnd sets an empty window for a 416 response if the requested range starts at the end of
// the resource. It reports whether that is so.
func (c *call) acceptAtEnd(a *answer) bool {
	n := c.totalLength(a)
	if n < 0 || c.req.Offset < 0 && n > 0 || c.req.Offset >= 0 && n != c.req.Offset+c.lead {
		return false
	}
	a.window = window{from: n, to: n, total: n, at: n}
	a.atEnd = true
	return true
}

// totalLength returns the length of the resource of a 416 response, -1 if unknown. Some servers
// (Apache, lighttpd) do not send it with the 416; then a HEAD request asks for it.
func (c *call) totalLength(a *answer) int64 {
	field := a.resp.Header.Get("Content-Range")
	if field != "" {
		spec, _ := cutUnit(field) // some servers omit the unit
		total, ok := strings.CutPrefix(spec, "*/")
		n, err := strconv.ParseUint(total, 10, 63)
		if !ok || err != nil {
			return -1
		}
		return int64(n)
	}
	hold(a.resp)
	head := *c
	head.method, head.opt.Verb = http.MethodHead, ""
	resp, _, err := head.exchange(nil)
	if err != nil {
		return -1
	}
	discard(resp)
	if resp.StatusCode != http.StatusOK {
		return -1
	}
	return resp.ContentLength
}

// windowIn returns the requested window in a resource of a total length, which is -1 if unknown.
func (c *call) windowIn(total int64) (window, error) {
	w := window{from: c.req.Offset, to: -1, total: total}
	switch {
	case w.from < 0 && total < 0:
		return w, c.badRange("the server sent the whole document without its length")
	case w.from < 0:
		w.from = max(0, total+w.from)
	case total >= 0 && w.from+c.lead > total:
		return w, c.badRange(fmt.Sprintf("the document has only %d bytes", total))
	}
	if n := c.req.Length; n > 0 && n <= math.MaxInt64-w.from {
		w.to, w.open = w.from+n, total < 0
	}
	if total >= 0 && (w.to < 0 || w.to > total) {
		w.to = total
	}
	return w, nil
}

// ends reports whether the body of a response has an end that is not that of the connection.
func ends(resp *http.Response) bool {
	return resp.ContentLength >= 0 || len(resp.TransferEncoding) > 0 || resp.ProtoMajor == 2
}
