package http

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// contentRange is "bytes first-last/total" (RFC 9110 §14.4). A total of "*" is -1.
type contentRange struct{ first, last, total int64 }

func parseContentRange(resp *http.Response) (contentRange, error) {
	text := resp.Header.Get("Content-Range")
	bad := func() (contentRange, error) {
		return contentRange{}, fmt.Errorf("bad Content-Range %s", strconv.Quote(text))
	}
	spec, ok := cutUnit(text)
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

// cutUnit returns a Content-Range without the unit "bytes", which may be in capitals (RFC 9110 §14.1).
// Some servers write ":" or "=" behind it.
func cutUnit(text string) (spec string, ok bool) {
	const unit = "bytes"
	if len(text) <= len(unit) || !strings.EqualFold(text[:len(unit)], unit) {
		return text, false
	}
	spec = strings.TrimLeft(text[len(unit):], " :=")
	return spec, len(spec) < len(text)-len(unit)
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
