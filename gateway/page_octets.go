package gateway

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/fetch1738/fetch1738/gateway/internal/atom"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/internal/file/filename"
)

// octetsSecurity are the restrictions of what a server has sent: it has an origin of its own, runs
// no script and loads nothing.
const octetsSecurity = "sandbox; default-src 'none'"

// secureOctets sets the header fields of a document from a server.
func (w *response) secureOctets(q *request, contentType string) {
	header := w.Header()
	w.secure(q)
	header.Set("Content-Security-Policy", octetsSecurity)
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil || contentType == "" {
		mediaType, contentType = "application/octet-stream", "application/octet-stream"
	}
	if !q.native && active[mediaType] {
		mediaType, contentType = "text/plain", "text/plain"
	}
	header.Set("Content-Type", contentType)
	shown := strings.HasPrefix(mediaType, "text/") || place.KindOfType(mediaType) != "" || mediaType == "application/pdf" && q.wants("open")
	if !q.native && (q.wants("download") || !shown) {
		name := place.FileName(q.loc)
		if q.wants("in") {
			name = filename.Component(path.Base(q.query.Get("in")))
		}
		header.Set("Content-Disposition", disposition(name))
	}
}

// active are the media types of documents that a browser could run, or that load others, and those
// of texts that it would only store.
var active = map[string]bool{
	"text/html": true, "application/xhtml+xml": true, "image/svg+xml": true, "application/xml": true, "text/xml": true,
	"text/javascript": true, "text/css": true, "message/rfc822": true, "application/mbox": true, "application/x-wais-source": true,
	"application/gopher-menu": true, "application/gopher+-menu": true,
}

// disposition is the value of Content-Disposition for a download (RFC 6266), with the name in
// ASCII, for old clients, and encoded if that differs.
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

// An octetWriter sends the body of a response. It keeps the last byte back until the server has
// confirmed the transfer: otherwise the client would have a complete response before that.
type octetWriter struct {
	*response
	left int64 // bytes before the last one
	last []byte
}

// Write implements io.Writer.
func (w *octetWriter) Write(p []byte) (n int, err error) {
	now := p[:min(int64(len(p)), w.left)]
	if len(now) > 0 {
		n, err = w.response.Write(now)
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
		now := &io.LimitedReader{R: limited.R, N: min(limited.N, w.left)}
		size := now.N
		total, err = w.response.ReadFrom(now)
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
	_, err := w.response.Write(w.last)
	return err
}

// feed sends a feed. An error is that of the connection.
func (w *response) feed(q *request, feed *atom.Feed) {
	w.secureOctets(q, atom.MediaType)
	w.Header().Set("Content-Type", atom.MediaType+"; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	if q.r.Method != http.MethodHead {
		_ = feed.Write(w)
	}
}
