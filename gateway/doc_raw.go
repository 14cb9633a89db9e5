package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"strconv"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/plaintext"
	"github.com/fetch1738/fetch1738/gateway/internal/screen"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/transport"
)

// The header fields of a request for octets that have an effect, and those of the response.
var (
	octetsRequest  = []string{"Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"}
	octetsResponse = []string{"Content-Length", "Content-Range", "Accept-Ranges", "Last-Modified", "Etag"}
)

// raw sends the octets of a document or listing. Ranges and conditions work as HTTP defines them.
func (v documentPages) raw() error {
	v.out.kind = "raw"
	loc := place.Searched(v.req.loc, v.req.query.Get("q"))
	u, err := url.Parse(loc.String())
	if err != nil {
		return failureOf(driver.Fail(fetch.OpParse, loc, fetch.ErrBadURL, errors.New("it cannot be written in a request")))
	}
	t := &transport.Transport{Resolver: v.up.resolver}
	out := (&http.Request{Method: v.req.r.Method, URL: u, Header: make(http.Header)}).WithContext(v.up.ctx)
	for _, name := range octetsRequest {
		if values := v.req.r.Header[name]; values != nil {
			out.Header[name] = values
		}
	}
	if v.req.user != nil {
		out.SetBasicAuth(v.req.user.User, v.req.user.Password)
	}
	res, err := t.RoundTrip(out)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if v.req.r.Method == http.MethodHead && res.ContentLength < 0 { // as GET, which the server refuses
		if dir := v.folder(); dir != nil {
			v.out.redirectTo(v.req, dir)
			return nil
		}
	}
	header := v.out.Header()
	for _, name := range octetsResponse {
		if values := res.Header[name]; values != nil {
			header[name] = values
		}
	}
	return v.send(res.StatusCode, res.Header.Get("Content-Type"), res.Body, res.ContentLength)
}

// octetsOf sends the octets of a document that has been fetched already.
func (v documentPages) octetsOf(res *fetch.Resource) error {
	v.out.kind = "raw"
	if v.req.wants("in") && res.Size >= 0 {
		v.out.Header().Set("Content-Length", strconv.FormatInt(res.Size, 10))
		return v.send(http.StatusOK, mime.FormatMediaType(mediaTypeOf(res), nil), res.Body, res.Size)
	}
	return v.send(http.StatusOK, mime.FormatMediaType(mediaTypeOf(res), nil), res.Body, -1)
}

// send sends a response with the octets of a server. The length is that of the body, or negative. A
// text of unknown type becomes a page, unless the client asks for octets. If nothing of the body
// could be read, the response is a page about the error instead. If the body ends in an error after
// that, the connection is broken, because a part must not look complete.
func (v documentPages) send(status int, contentType string, body io.Reader, length int64) error {
	whole := status == http.StatusOK || status == http.StatusPartialContent
	if v.req.r.Method == http.MethodHead || !whole {
		v.out.secureOctets(v.req, contentType)
		if contentType == "" { // what GET finds out
			v.out.Header().Del("Content-Type")
			v.out.Header().Del("Content-Disposition")
		}
		v.out.WriteHeader(status)
		return nil
	}
	start := make([]byte, 0, plaintext.Sniffed)
	if contentType == "" && status == http.StatusOK {
		n, err := io.ReadFull(body, start[:cap(start)])
		start = start[:n]
		fails := err != nil && err != io.EOF && err != io.ErrUnexpectedEOF
		if fails {
			body = wire.ErrorReader{Err: err}
		}
		switch {
		case v.showsUnknown() && plaintext.LooksLikeText(screen.TextStart(v.req.loc, start)) && (n > 0 || !fails):
			v.removeHeaders()
			return v.text("", "", bufio.NewReaderSize(io.MultiReader(bytes.NewReader(start), body), plaintext.Sniffed))
		case fails:
			body = io.MultiReader(bytes.NewReader(start), body)
			start = start[:0]
		default:
			contentType = sniff(v.req.loc, start)
		}
	}
	v.out.secureOctets(v.req, contentType)
	v.out.code = status
	out := &octetWriter{response: v.out, left: math.MaxInt64}
	if length >= 0 {
		out.left = max(0, length-1)
	}
	_, err := out.Write(start)
	if err == nil {
		if to, ok := body.(io.WriterTo); ok {
			_, err = to.WriteTo(out)
		} else {
			_, err = wire.Copy(out, body)
		}
	}
	if err == nil {
		err = out.end()
	}
	if v.out.status == 0 {
		v.removeHeaders()
	}
	return err
}

// removeHeaders removes the header fields of a document from the response.
func (v documentPages) removeHeaders() {
	for _, name := range append(octetsResponse, "Content-Disposition") {
		v.out.Header().Del(name)
	}
}

// showsUnknown reports whether the client asks for a page of a file whose URL does not say what it
// is. The file is requested like a download, because that is what it may turn out to be.
func (v documentPages) showsUnknown() bool {
	_, ok := v.req.loc.(*locator.FTP)
	return ok && place.IsDocument(v.req.loc) && place.MediaType(v.req.loc) == "" && v.req.r.Method == http.MethodGet && !v.req.wants("raw") && !v.req.wantsOctets()
}

// sniff is the media type of a document of unknown type, by its first bytes.
func sniff(l locator.Locator, start []byte) string {
	if place.MediaKind(l, "") != "" {
		// Content sniffing for a picture, a sound or a video cannot make anything else of it.
		if found := http.DetectContentType(start); place.KindOfType(found) != "" {
			return found
		}
	}
	if len(start) > 0 && plaintext.LooksLikeText(start) {
		return "text/plain"
	}
	return "application/octet-stream"
}
