package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/filename"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// documentPages send documents, and show those that have a page.
type documentPages struct{ *visit }

// octetsSecurity are the restrictions of what a server has sent: it has an origin of its own, runs
// no script and loads nothing.
const octetsSecurity = "sandbox; default-src 'none'"

// The header fields of a request for octets that have an effect, and those of the response.
var (
	octetsRequest  = []string{"Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"}
	octetsResponse = []string{"Content-Length", "Content-Range", "Accept-Ranges", "Last-Modified", "Etag"}
)

// raw sends the octets of a document or listing. Ranges and conditions work as HTTP defines them.
func (v documentPages) raw() {
	v.page = "raw"
	loc := v.searched()
	u, err := url.Parse(loc.String())
	if err != nil {
		v.fail(failed(fetch.Fail(fetch.OpParse, loc, fetch.ErrBadURL, errors.New("it cannot be written in a request"))))
		return
	}
	t := &fetch1738.Transport{Resolver: v.h.resolver()}
	out := (&http.Request{Method: v.r.Method, URL: u, Header: make(http.Header)}).WithContext(v.context())
	for _, name := range octetsRequest {
		if values := v.r.Header[name]; values != nil {
			out.Header[name] = values
		}
	}
	guard(v).login(out)
	res, err := t.RoundTrip(out)
	if err != nil {
		v.failToFetch(err)
		return
	}
	defer res.Body.Close()
	if v.r.Method == http.MethodHead && res.ContentLength < 0 { // as GET, which the server refuses
		if dir := v.folder(); dir != nil {
			v.redirectTo(dir)
			return
		}
	}
	header := v.w.Header()
	for _, name := range octetsResponse {
		if values := res.Header[name]; values != nil {
			header[name] = values
		}
	}
	v.send(res.StatusCode, res.Header.Get("Content-Type"), res.Body, res.ContentLength)
}

// octetsOf sends the octets of a document that has been fetched already.
func (v documentPages) octetsOf(res *fetch.Resource) {
	v.page = "raw"
	v.send(http.StatusOK, mime.FormatMediaType(mediaTypeOf(res), nil), res.Body, -1)
}

// send sends a response with the octets of a server. The length is that of the body, or negative. A
// text of unknown type becomes a page, unless the client asks for octets. If nothing of the body
// could be read, the response is a page about the error instead. If the body ends in an error after
// that, the connection is broken, because a part must not look complete.
func (v documentPages) send(status int, contentType string, body io.Reader, length int64) {
	whole := status == http.StatusOK || status == http.StatusPartialContent
	if v.r.Method == http.MethodHead || !whole {
		v.secureOctets(contentType)
		if contentType == "" { // what GET finds out
			v.w.Header().Del("Content-Type")
			v.w.Header().Del("Content-Disposition")
		}
		v.w.WriteHeader(status)
		return
	}
	start := make([]byte, 0, sniffed)
	if contentType == "" && status == http.StatusOK {
		n, err := io.ReadFull(body, start[:cap(start)])
		start = start[:n]
		fails := err != nil && err != io.EOF && err != io.ErrUnexpectedEOF
		if fails {
			body = failing{err}
		}
		switch {
		case v.showsUnknown() && looksLikeText(start) && (n > 0 || !fails):
			v.forget()
			v.text("", "", bufio.NewReaderSize(io.MultiReader(bytes.NewReader(start), body), sniffed))
			return
		case fails:
			body = io.MultiReader(bytes.NewReader(start), body)
			start = start[:0]
		default:
			contentType = sniff(v.loc, start)
		}
	}
	v.secureOctets(contentType)
	out := &octetWriter{countingWriter: v.w, code: status, left: math.MaxInt64}
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
	switch {
	case err == nil:
	case v.w.status == 0:
		v.forget()
		v.failToFetch(err)
	default:
		v.abort(err)
	}
}

// forget removes the header fields of a document from the response.
func (v *visit) forget() {
	for _, name := range append(octetsResponse, "Content-Disposition") {
		v.w.Header().Del(name)
	}
}

// showsUnknown reports whether the client asks for a page of a file whose URL does not say what it
// is. The file is requested like a download, because that is what it may turn out to be.
func (v *visit) showsUnknown() bool {
	_, ok := v.loc.(*locator.FTP)
	return ok && isDocument(v.loc) && typeOfURL(v.loc) == "" && v.r.Method == http.MethodGet && !v.wants("raw") && !v.octets()
}

// failing is a reader that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// abort breaks the connection to the client off, so that a part of a document does not look
// complete.
func (v *visit) abort(err error) {
	v.err = err
	_ = http.NewResponseController(v.w).Flush()
	// For a client of HTTP/1.0 the end of the connection is that of the document, unless it is reset.
	if !v.r.ProtoAtLeast(1, 1) && v.w.Header().Get("Content-Length") == "" {
		if conn, _, err := http.NewResponseController(v.w).Hijack(); err == nil {
			reset(conn)
			_ = conn.Close()
		}
	}
	panic(http.ErrAbortHandler)
}

// An octetWriter sends the body of a response, and the status before its first byte. It keeps the
// last byte back until the server has confirmed the transfer: otherwise the client would have a
// complete response before that.
type octetWriter struct {
	*countingWriter
	code int   // the status
	left int64 // bytes before the last one
	last []byte
}

func (w *octetWriter) begin() {
	if w.status == 0 {
		w.WriteHeader(w.code)
	}
}

// Write implements io.Writer.
func (w *octetWriter) Write(p []byte) (n int, err error) {
	now := p[:min(int64(len(p)), w.left)]
	if len(now) > 0 {
		w.begin()
		n, err = w.countingWriter.Write(now)
		w.left -= int64(n)
	}
	if err == nil && n < len(p) {
		w.last = append(w.last, p[n:]...)
		n = len(p)
	}
	return n, err
}

// ReadFrom implements io.ReaderFrom. A connection goes to the client's without passing through the
// program, if the system can do that.
func (w *octetWriter) ReadFrom(r io.Reader) (total int64, err error) {
	if limited, ok := r.(*io.LimitedReader); ok && min(limited.N, w.left) > 0 {
		w.begin()
		now := &io.LimitedReader{R: limited.R, N: min(limited.N, w.left)}
		size := now.N
		total, err = w.countingWriter.ReadFrom(now)
		limited.N -= total
		w.left -= total
		if err != nil || total < size {
			return total, err
		}
	}
	n, err := io.Copy(struct{ io.Writer }{w}, r)
	return total + n, err
}

// end sends what was kept back.
func (w *octetWriter) end() error {
	w.begin()
	if len(w.last) == 0 {
		return nil
	}
	_, err := w.countingWriter.Write(w.last)
	return err
}

// searched is v.loc with the words of the search in the query.
func (v documentPages) searched() locator.Locator {
	words := v.query.Get("q")
	if words == "" {
		return v.loc
	}
	switch l := v.loc.(type) {
	case *locator.Gopher:
		with := *l
		with.Search, with.Fields, with.HasPath = words, max(1, l.Fields), true
		return &with
	case *locator.WAIS:
		with := *l
		with.Form, with.Search = locator.WAISSearch, strings.ReplaceAll(words, " ", "+")
		return &with
	}
	return v.loc
}

// sniff is the media type of a document of unknown type, by its first bytes.
func sniff(l locator.Locator, start []byte) string {
	if mediaKind(l, "") != "" {
		// Content sniffing for a picture, a sound or a video cannot make anything else of it.
		if found := http.DetectContentType(start); mediaKindOf(found) != "" {
			return found
		}
	}
	if len(start) > 0 && looksLikeText(start) {
		return "text/plain"
	}
	return "application/octet-stream"
}

// secureOctets sets the header fields of a document from a server.
func (v *visit) secureOctets(contentType string) {
	header := v.w.Header()
	v.secure()
	header.Set("Content-Security-Policy", octetsSecurity)
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil || contentType == "" {
		mediaType, contentType = "application/octet-stream", "application/octet-stream"
	}
	if !v.native && active[mediaType] {
		mediaType, contentType = "text/plain", "text/plain"
	}
	header.Set("Content-Type", contentType)
	if !v.native && !strings.HasPrefix(mediaType, "text/") && mediaKindOf(mediaType) == "" {
		header.Set("Content-Disposition", disposition(fileName(v.loc)))
	}
}

// active are the media types of documents that a browser could run, or that load others, and those
// of texts that it would only store.
var active = map[string]bool{
	"text/html": true, "application/xhtml+xml": true, "image/svg+xml": true, "application/xml": true, "text/xml": true,
	"text/javascript": true, "text/css": true, "message/rfc822": true, "application/mbox": true, "application/x-wais-source": true,
	"application/gopher-menu": true, "application/gopher+-menu": true,
}

// fileName is a name for a document in a file, or empty.
func fileName(l locator.Locator) string {
	name := ""
	switch l := l.(type) {
	case *locator.FTP:
		name = l.Name
	case *locator.Gopher:
		name = l.Selector
	case *locator.News:
		name = l.MessageID
	case *locator.NNTP:
		name = l.Group + "." + l.Article
	case *locator.WAIS:
		name = l.Database
	case *locator.Prospero:
		name = l.HSOName
	}
	name, err := filename.Safe(name)
	if err != nil {
		return ""
	}
	return name
}

// disposition is the value of Content-Disposition for a download (RFC 6266), with the name in ASCII,
// for old clients, and encoded if that differs.
func disposition(name string) string {
	if name == "" {
		return "attachment"
	}
	var ascii, encoded strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c < ' ' || c > '~' || c == '"' || c == '\\' || c == '%':
			if c < 0x80 || c >= 0xC0 { // once for each character
				ascii.WriteByte('_')
			}
			fmt.Fprintf(&encoded, "%%%02X", c)
		case strings.IndexByte(" '()*,/:;<=>?@[]{}", c) >= 0:
			ascii.WriteByte(c)
			fmt.Fprintf(&encoded, "%%%02X", c)
		default:
			ascii.WriteByte(c)
			encoded.WriteByte(c)
		}
	}
	value := `attachment; filename="` + ascii.String() + `"`
	if ascii.String() != name {
		value += "; filename*=UTF-8''" + encoded.String()
	}
	return value
}
