package gateway

import (
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"path"
	"strings"

	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/locator"
)

// wantsOctets reports whether the client gets a document rather than a page about it.
func (v *visit) wantsOctets() bool {
	page := !v.native && v.accepts("text/html") && v.r.Header.Get("Range") == "" // a page has no ranges
	return !page && !v.wants("part") && isDocument(v.loc)
}

// isDocument reports whether a URL names a document, as far as it says.
func isDocument(l locator.Locator) bool {
	switch l := l.(type) {
	case *locator.FTP:
		return l.Name != "" && l.Type != 'd'
	case *locator.Gopher:
		return !strings.ContainsRune("127", rune(l.Type)) && l.Type != 0 && (l.Plus == "" || l.Plus[0] == '+')
	case *locator.News:
		return l.MessageID != ""
	case *locator.NNTP:
		return l.Article != ""
	case *locator.WAIS:
		return l.Form == locator.WAISDocument
	}
	return false
}

// octetsSecurity are the restrictions of what a server has sent: it has an origin of its own, runs
// no script and loads nothing.
const octetsSecurity = "sandbox; default-src 'none'"

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
	shown := strings.HasPrefix(mediaType, "text/") || mediaKindOf(mediaType) != "" || mediaType == "application/pdf" && v.wants("open")
	if !v.native && (v.wants("download") || !shown) {
		name := fileName(v.loc)
		if v.wants("in") {
			name = filename.Component(path.Base(v.query.Get("in")))
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

// mediaKindOf is the element for a media type, or empty. SVG is text, because it can contain a
// program; for other types missing here, browsers have no decoder.
func mediaKindOf(mediaType string) string {
	switch mediaType {
	case "image/svg+xml", "image/tiff", "audio/basic", "video/x-msvideo", "video/mpeg":
		return ""
	}
	kind, _, _ := strings.Cut(mediaType, "/")
	switch kind {
	case "image", "audio", "video":
		return kind
	}
	return ""
}

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

// reset makes the client see a broken connection rather than an end.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
}

// An octetWriter sends the body of a response. It keeps the last byte back until the server has
// confirmed the transfer: otherwise the client would have a complete response before that.
type octetWriter struct {
	*countingWriter
	left int64 // bytes before the last one
	last []byte
}

// Write implements io.Writer.
func (w *octetWriter) Write(p []byte) (n int, err error) {
	now := p[:min(int64(len(p)), w.left)]
	if len(now) > 0 {
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
