package transport

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/locator"
)

// conditional is the response to a request whose conditions do not permit the document.
func conditional(req *http.Request, status int, a *fetch.Attributes) *http.Response {
	r := response(req, status, &fetch.Attributes{Size: a.Size, ModTime: a.ModTime}, false)
	r.ContentLength = 0
	return r
}

// response is a response without a body. The length is that of a document only; that of a listing
// is not known.
func response(req *http.Request, status int, a *fetch.Attributes, document bool) *http.Response {
	with := &struct {
		http.Response
		values [5]string // of the header, in the same allocation
	}{Response: http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header, 5), Body: http.NoBody, ContentLength: -1, Request: req,
	}}
	r, values := &with.Response, with.values[:0]
	if r.Status = "200 OK"; status != http.StatusOK {
		r.Status = strconv.Itoa(status) + " " + http.StatusText(status)
	}
	set := func(name, value string) {
		values = append(values, value)
		r.Header[name] = values[len(values)-1 : len(values) : len(values)]
	}
	if value := contentType(a); value != "" {
		set("Content-Type", value)
	}
	if document && a.Size >= 0 {
		r.ContentLength = a.Size
		set("Content-Length", strconv.FormatInt(a.Size, 10))
		set("Accept-Ranges", "bytes")
	}
	if !a.ModTime.IsZero() {
		set("Last-Modified", a.ModTime.UTC().Format(http.TimeFormat))
	}
	if tag := a.ETag(); tag != "" {
		set("Etag", tag)
	}
	return r
}

// contentType is the value of the field Content-Type. It is empty if what the server says does not
// have the syntax of a media type.
func contentType(a *fetch.Attributes) string {
	if a.Charset == "" && !strings.ContainsFunc(a.MediaType, func(r rune) bool { return r != '/' && r != '-' && (r < 'a' || r > 'z') }) {
		return a.MediaType
	}
	var parameters map[string]string
	if a.Charset != "" {
		parameters = map[string]string{"charset": a.Charset}
	}
	return mime.FormatMediaType(a.MediaType, parameters)
}

// failure is an error as a response.
func failure(req *http.Request, err error) *http.Response {
	status := http.StatusBadGateway
	switch fetch.KindOf(err) {
	case fetch.ErrNotFound:
		status = http.StatusNotFound
	case fetch.ErrPermission, fetch.ErrRefused:
		status = http.StatusForbidden
	case fetch.ErrUnauthenticated:
		status = http.StatusUnauthorized
	case fetch.ErrBadURL, fetch.ErrNoOctets:
		status = http.StatusBadRequest
	case fetch.ErrUnsupported:
		status = http.StatusNotImplemented
	case fetch.ErrTimeout:
		status = http.StatusGatewayTimeout
	case fetch.ErrBusy:
		status = http.StatusServiceUnavailable
	case fetch.ErrLocalIO:
		status = http.StatusInternalServerError
	}
	text := err.Error() + "\n"
	r := response(req, status, &fetch.Attributes{MediaType: "text/plain", Charset: "utf-8", Size: int64(len(text))}, true)
	delete(r.Header, "Accept-Ranges")
	r.Header.Set("X-Content-Type-Options", "nosniff") // the server's reply may be in it
	if status == http.StatusUnauthorized {
		r.Header.Set("WWW-Authenticate", "Basic realm="+strconv.Quote(req.URL.Host))
	}
	if r.Body = http.NoBody; req.Method != http.MethodHead {
		r.Body = io.NopCloser(strings.NewReader(text))
	}
	return r
}

// mediaType is known, or that of a listing, or what the name of a file says: FTP servers do not say
// what they send. An answer to HEAD does not show the kind, but the URL may.
func mediaType(l locator.Locator, known string, kind fetch.Kind) string {
	listing, name := kind == fetch.KindDirectory || kind == fetch.KindMenu, ""
	switch l := l.(type) {
	case *locator.FTP:
		name = l.Name
		listing = listing || name == "" || l.Type|0x20 == 'd'
	case *locator.News:
		listing = listing || l.MessageID == ""
	case *locator.NNTP:
		listing = listing || l.Article == ""
	}
	switch {
	case known != "":
		return known
	case listing:
		return "text/plain"
	}
	return MediaType(name)
}

// MediaType guesses the media type of a file from the suffix of its name, for servers that do not
// send it, such as those of FTP. It is the same on every machine, and "" for an unknown suffix.
func MediaType(name string) string { return filename.MediaType(name) }

// A boundedBody ends where Content-Length says, also if the document has grown. It ends in an error
// if the document is shorter.
type boundedBody struct {
	io.ReadCloser
	left int64
	loc  locator.Locator
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		n, err := b.ReadCloser.Read(make([]byte, 1)) // the end of the transfer may be an error
		if n > 0 {
			err = io.EOF
		}
		return 0, err
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if err == io.EOF && b.left > 0 {
		err = driver.Fail(fetch.OpRead, b.loc, fetch.ErrTruncated, fmt.Errorf("the document is %d bytes shorter than announced", b.left))
	}
	return n, err
}
