package archive

import (
	"bufio"
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/archive/cdx"
)

// headField returns the value of a header field, or "". Some servers send white space before the colon.
func headField(head []byte, name string) string {
	for line := range bytes.Lines(head) {
		if n, value, ok := bytes.Cut(line, []byte(":")); ok && strings.EqualFold(string(bytes.TrimRight(n, " \t")), name) {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}

// fromHead sets what the header of a response says, and returns its Content-Type.
func fromHead(l *cdx.Line, head []byte) string {
	first, _, _ := bytes.Cut(head, []byte("\n"))
	if words := strings.Fields(string(first)); len(words) > 1 {
		if code, err := strconv.Atoi(words[1]); err == nil && code > 0 && code < 1000 {
			l.Status = strconv.Itoa(code)
		}
	}
	if t, err := http.ParseTime(headField(head, "Last-Modified")); err == nil {
		l.Modified = &t
	}
	return headField(head, "Content-Type")
}

// isChunked reports whether the left bytes that follow a header are in chunks. A program may have
// stored the joined chunks below a header that says otherwise.
func isChunked(head []byte, body *bufio.Reader, left int64, truncated bool) bool {
	if codings := headField(head, "Transfer-Encoding"); !strings.HasSuffix(strings.ToLower(codings), "chunked") {
		return false
	}
	start, _ := body.Peek(body.Size())
	line, rest, ok := bytes.Cut(start, []byte("\r\n"))
	digits, _, _ := bytes.Cut(line, []byte(";"))
	size, err := strconv.ParseUint(strings.TrimSpace(string(digits)), 16, 63)
	if !ok || err != nil || size > uint64(left) && !truncated {
		return false
	}
	return uint64(len(rest)) < size+2 || bytes.HasPrefix(rest[size:], []byte("\r\n"))
}
