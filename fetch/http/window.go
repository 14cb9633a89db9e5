package http

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
)

// window is the requested part of a resource, in bytes from its start.
type window struct {
	from, to int64 // to is -1 for an unknown end
	open     bool  // the resource may end before to
	exact    bool  // the response ends at to, which only Content-Range states
	total    int64 // size of the whole resource, -1 if unknown
	at       int64 // where the response's body starts
}

// ranged reports whether the call requests only a part.
func (c *call) ranged() bool { return c.req.Offset != 0 || c.req.Length > 0 || c.lead > 0 }

// takeLead makes the call start at the first byte of Request.Lead.
func (c *call) takeLead() {
	if c.req.Lead == 0 || c.method != http.MethodGet {
		return
	}
	req := *c.req
	c.lead, req.Lead = req.Lead, 0
	if req.Offset -= c.lead; req.Length > 0 {
		req.Length += c.lead
	}
	c.req = &req
}

// checkRange refuses ranges that HTTP cannot express.
func (c *call) checkRange() error {
	var err error
	switch {
	case !c.ranged() && c.req.Lead == 0 || c.method == http.MethodHead:
	case c.method != http.MethodGet:
		err = fmt.Errorf("%s does not support ranges", c.method)
	case c.req.Offset == math.MinInt64 || c.req.Length < 0:
		err = errors.New("invalid offset or length")
	case c.req.Lead < 0 || c.req.Lead > max(0, c.req.Offset):
		err = errors.New("the document has no such bytes before the offset")
	}
	if err != nil {
		return fetch.Fail(c.method, c.locator, fetch.ErrBadRange, err)
	}
	return nil
}

// sendsOwnRange reports whether the current hop is sent the caller's own Range field. The caller
// then interprets the response.
func (c *call) sendsOwnRange() bool { return c.isTrusted() && c.opt.Header.Get("Range") != "" }

// rangeField returns the value of the Range field (RFC 9110 §14.2).
func rangeField(offset, length int64) string {
	switch {
	case offset < 0:
		return fmt.Sprintf("bytes=%d", offset)
	case length <= 0 || length > math.MaxInt64-offset:
		return fmt.Sprintf("bytes=%d-", offset)
	}
	return fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)
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

// badRange returns the error of a range that cannot be requested, or was not sent.
func (c *call) badRange(why string) error {
	return fetch.Fail(c.method, c.locator, fetch.ErrBadRange, errors.New(why))
}

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
	if c.lead > 0 && a.resp.ContentLength < 0 && len(a.resp.TransferEncoding) == 0 {
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
		return fetch.Fail(c.method, c.locator, fetch.ErrProtocol, err)
	}
	a.at = r.first
	if r.total < 0 && a.to < 0 {
		a.to = r.last + 1 // the server does not send the total length
	}
	a.open, a.exact = false, a.resp.ContentLength < 0 && r.last+1 == a.to
	if err := r.fits(a.resp, a.from); err != nil {
		return fetch.Fail(c.method, c.locator, fetch.ErrBadRange, err)
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
	return fetch.Fail(c.method, c.locator, fetch.ErrProtocol, err)
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
		total, ok := strings.CutPrefix(strings.TrimPrefix(field, "bytes "), "*/") // some servers omit the unit
		n, err := strconv.ParseUint(total, 10, 63)
		if !ok || err != nil {
			return -1
		}
		return int64(n)
	}
	head := *c
	head.method, head.opt.Verb = http.MethodHead, ""
	resp, _, err := head.exchange(nil)
	if err != nil {
		return -1
	}
	c.discard(resp)
	if resp.StatusCode != http.StatusOK {
		return -1
	}
	return resp.ContentLength
}

// contentRange is "bytes first-last/total" (RFC 9110 §14.4). A total of "*" is -1.
type contentRange struct{ first, last, total int64 }

func parseContentRange(resp *http.Response) (contentRange, error) {
	text := resp.Header.Get("Content-Range")
	bad := func() (contentRange, error) {
		return contentRange{}, fmt.Errorf("bad Content-Range %s", strconv.Quote(text))
	}
	spec, ok := strings.CutPrefix(text, "bytes ")
	part, total, slash := strings.Cut(spec, "/")
	first, last, dash := strings.Cut(part, "-")
	if !ok || !slash || !dash {
		return bad()
	}
	numbers := [3]uint64{}
	for i, s := range []string{first, last, total} {
		if i == 2 && s == "*" {
			break
		}
		n, err := strconv.ParseUint(s, 10, 63)
		if err != nil {
			return bad()
		}
		numbers[i] = n
	}
	r := contentRange{int64(numbers[0]), int64(numbers[1]), int64(numbers[2])}
	if total == "*" {
		r.total = -1
	}
	if r.last < r.first || r.last == math.MaxInt64 || r.total >= 0 && r.last >= r.total {
		return bad()
	}
	return r, nil
}

// fits returns an error if a 206 response with the range r is another part than the one from an
// offset on.
func (r contentRange) fits(resp *http.Response, from int64) error {
	switch length := resp.ContentLength; {
	case r.first != from:
		return fmt.Errorf("requested bytes from %d, received bytes from %d", from, r.first)
	case length >= 0 && length != r.last-r.first+1:
		return fmt.Errorf("received %d bytes as bytes %d to %d", length, r.first, r.last)
	}
	return nil
}
