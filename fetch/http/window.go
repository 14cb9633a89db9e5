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

// window is the part of a resource that is wanted, in octets from its start.
type window struct {
	from, to int64 // to is -1 for the end where that is not known
	open     bool  // the resource may end before to
	total    int64 // the whole resource, -1 when not known
	at       int64 // where the answer's body starts
}

// ranged reports whether the call asks for a part only.
func (c *call) ranged() bool { return c.req.Offset != 0 || c.req.Length > 0 }

// checkRange refuses what HTTP has no words for.
func (c *call) checkRange() error {
	var err error
	switch {
	case !c.ranged() || c.method == http.MethodHead:
	case c.method != http.MethodGet:
		err = fmt.Errorf("a part of a resource cannot be had by %s", c.method)
	case c.req.Offset == math.MinInt64 || c.req.Length < 0:
		err = errors.New("impossible offset or length")
	}
	if err != nil {
		return fetch.Fail(c.method, c.locator, fetch.ErrBadRange, err)
	}
	return nil
}

// sendsOwnRange reports whether the present hop is sent the caller's own Range
// field, whose answer is his business.
func (c *call) sendsOwnRange() bool { return c.atHome() && c.opt.Header.Get("Range") != "" }

// rangeField is the value of the Range field (RFC 9110 §14.2) for some octets.
func rangeField(offset, length int64) string {
	switch {
	case offset < 0:
		return fmt.Sprintf("bytes=%d", offset)
	case length <= 0 || length > math.MaxInt64-offset:
		return fmt.Sprintf("bytes=%d-", offset)
	}
	return fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)
}

// place finds the wanted octets in a resource of a total length, or of an
// unknown one (-1).
func (c *call) place(total int64) (window, error) {
	w := window{from: c.req.Offset, to: -1, total: total}
	switch {
	case w.from < 0 && total < 0:
		return w, c.badRange("the server sends all, without its length")
	case w.from < 0:
		w.from = max(0, total+w.from)
	case total >= 0 && w.from > total:
		return w, c.badRange(fmt.Sprintf("there are %d octets", total))
	}
	if n := c.req.Length; n > 0 && n <= math.MaxInt64-w.from {
		w.to, w.open = w.from+n, total < 0
	}
	if total >= 0 && (w.to < 0 || w.to > total) {
		w.to = total
	}
	return w, nil
}

func (c *call) badRange(why string) error {
	return fetch.Fail(c.method, c.locator, fetch.ErrBadRange, errors.New(why))
}

// whole finds the wanted octets in an answer that holds everything, and is
// nothing but the head after HEAD.
func (c *call) whole(a *answer) (err error) {
	if c.method == http.MethodHead || a.resp.StatusCode == http.StatusNotModified {
		a.window = window{total: a.resp.ContentLength}
		return nil
	}
	if c.ranged() && c.atHome() && c.opt.Header.Get("If-Range") != "" {
		return c.badRange("the document has changed, or the server does not send parts of it")
	}
	a.window, err = c.place(a.resp.ContentLength)
	return err
}

// partial finds the wanted octets in a 206, which must hold the first of them.
func (c *call) partial(a *answer) error {
	r, err := parseContentRange(a.resp)
	if err == nil {
		a.window, err = c.place(r.total)
	}
	if err != nil {
		return fetch.Fail(c.method, c.locator, fetch.ErrProtocol, err)
	}
	a.at = r.first
	if r.total < 0 && a.to < 0 {
		a.to = r.last + 1 // the server does not say how much more there is
	}
	a.open = false
	if r.first != a.from {
		return fetch.Fail(c.method, c.locator, fetch.ErrProtocol, fmt.Errorf("octets from %d were asked for, those from %d came", a.from, r.first))
	}
	return nil
}

// unasked finds the whole resource in a 206 that answers a request without a
// Range: a part of it must not be taken for all.
func (c *call) unasked(a *answer) error {
	r, err := parseContentRange(a.resp)
	switch {
	case err != nil:
		err = fmt.Errorf("unexpected partial content: no range was requested, and %w", err)
	case r.first != 0 || r.last+1 != r.total:
		err = fmt.Errorf("unexpected partial content: no range was requested; received %s", strconv.Quote(a.resp.Header.Get("Content-Range")))
	default:
		return c.whole(a)
	}
	return fetch.Fail(c.method, c.locator, fetch.ErrProtocol, err)
}

// unsatisfied makes an empty window of a 416 to octets that start where the
// resource ends.
func (c *call) unsatisfied(a *answer) bool {
	n := c.lengthBehind(a)
	if n < 0 || c.req.Offset < 0 && n > 0 || c.req.Offset >= 0 && n != c.req.Offset {
		return false
	}
	a.window = window{from: n, to: n, total: n, at: n}
	a.atEnd = true
	return true
}

// lengthBehind is how long the resource of a 416 is, -1 if that cannot be known.
// Servers that do not tell (Apache, lighttpd) are asked by HEAD.
func (c *call) lengthBehind(a *answer) int64 {
	field := a.resp.Header.Get("Content-Range")
	if field != "" {
		total, ok := strings.CutPrefix(field, "bytes */")
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

// contentRange is "bytes first-last/total" (RFC 9110 §14.4); total is -1 for
// "*".
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
	length := r.last - r.first + 1
	if length <= 0 || r.total >= 0 && r.last >= r.total || resp.ContentLength >= 0 && resp.ContentLength != length {
		return bad()
	}
	return r, nil
}
