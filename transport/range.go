package transport

import (
	"fmt"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// parseRange reads a Range field of one range (RFC 9110 §14.1.2). A negative first counts from the
// end; a length of 0 is all that follows. It reports false for other fields, which a server may
// ignore.
func parseRange(header http.Header) (first, length int64, ok bool) {
	spec, ok := strings.CutPrefix(header.Get("Range"), "bytes=")
	from, to, isRange := strings.Cut(spec, "-")
	if !ok || !isRange {
		return 0, 0, false
	}
	from, to = textproto.TrimString(from), textproto.TrimString(to)
	if from == "" {
		n, err := strconv.ParseUint(to, 10, 62)
		return -int64(n), 0, err == nil && n > 0
	}
	begin, err := strconv.ParseUint(from, 10, 62)
	if err != nil || to == "" {
		return int64(begin), 0, err == nil
	}
	end, err := strconv.ParseUint(to, 10, 62)
	if err != nil || end < begin {
		return 0, 0, false
	}
	return int64(begin), int64(end-begin) + 1, true
}

// unchanged reports whether an If-Range field permits a part (RFC 9110 §13.1.5).
func unchanged(field string, a *fetch.Attributes) bool {
	if field == "" || field == a.ETag() {
		return true
	}
	at, err := http.ParseTime(field)
	return err == nil && !a.ModTime.IsZero() && a.ModTime.Truncate(time.Second).Equal(at)
}

// condition evaluates the conditions of a request for a document, in the order of RFC 9110 §13.2.2.
// It is 0 if they permit the document, else 304 or 412.
func condition(header http.Header, a *fetch.Attributes) int {
	modified := a.ModTime.Truncate(time.Second)
	if tags := header.Get("If-Match"); tags != "" {
		if !matches(tags, a, false) {
			return http.StatusPreconditionFailed
		}
	} else if at, ok := date(header, "If-Unmodified-Since"); ok && !a.ModTime.IsZero() && modified.After(at) {
		return http.StatusPreconditionFailed
	}
	if tags := header.Get("If-None-Match"); tags != "" {
		if matches(tags, a, true) {
			return http.StatusNotModified
		}
	} else if since, ok := date(header, "If-Modified-Since"); ok && !a.ModTime.IsZero() && !modified.After(since) {
		return http.StatusNotModified
	}
	return 0
}

// date is the time in a header field, if there is a valid one.
func date(header http.Header, name string) (time.Time, bool) {
	value := header.Get(name)
	if value == "" {
		return time.Time{}, false
	}
	at, err := http.ParseTime(value)
	return at, err == nil
}

// matches reports whether a list of tags has that of a document. The weak comparison ignores W/.
func matches(tags string, a *fetch.Attributes, weak bool) bool {
	tag := a.ETag()
	for candidate := range strings.SplitSeq(tags, ",") {
		candidate = strings.TrimSpace(candidate)
		if weak {
			candidate = strings.TrimPrefix(candidate, "W/")
		}
		if candidate == "*" || tag != "" && candidate == tag {
			return true
		}
	}
	return false
}

// hasParts reports whether offsets and lengths of a resource mean its bytes. In FTP's type A the
// conversion of line ends changes both, and type D is a listing.
func hasParts(l locator.Locator) bool {
	file, ok := l.(*locator.FTP)
	return !ok || file.Type == 0 || file.Type|0x20 == 'i'
}

// outside is the response to a request for a part that begins behind the end of a document with
// these attributes. It is nil if the request must be answered with the whole document.
func outside(req *http.Request, first int64, a *fetch.Attributes) *http.Response {
	if a.Size <= 0 || first < a.Size || !unchanged(req.Header.Get("If-Range"), a) {
		return nil // of an empty document every part is all of it
	}
	if status := condition(req.Header, a); status != 0 {
		return conditional(req, status, a)
	}
	r := response(req, http.StatusRequestedRangeNotSatisfiable, &fetch.Attributes{Size: 0}, true)
	r.Header.Set("Content-Range", fmt.Sprintf("bytes */%d", a.Size))
	return r
}
