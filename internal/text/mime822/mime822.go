// Package mime822 makes news articles and mail readable: it decodes encoded words in the header
// (RFC 2047), and the transfer encoding and charset of the body (RFC 2045). The result is for
// display only; the original bytes cannot be restored from it.
package mime822

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"io"
	"mime"
	"mime/quotedprintable"
	"strings"

	"github.com/fetch1738/fetch1738/internal/text/charset"
)

// Limits for decoding. Longer headers and lines are passed through unchanged.
const (
	maxHeader = 256 << 10
	maxLine   = 16 << 10
)

// Author returns the author of an article by its field From: the name in "name <address>" or
// "address (name)", decoded as by [Text], or else the address.
func Author(from string, undeclared charset.Charset) string {
	name := ""
	if i := strings.LastIndexByte(from, '<'); i >= 0 {
		name = from[:i]
	} else if i := strings.IndexByte(from, '('); i >= 0 && strings.HasSuffix(from, ")") {
		name = from[i+1 : len(from)-1]
	}
	name = strings.TrimSpace(Text(unquote(strings.TrimSpace(name)), undeclared))
	return cmp.Or(name, strings.TrimSpace(Text(from, undeclared)))
}

// unquote returns what is in a quoted string. A text without quotation marks is not changed.
func unquote(text string) string {
	inner, opened := strings.CutPrefix(text, `"`)
	inner, closed := strings.CutSuffix(inner, `"`)
	if !opened || !closed {
		return text
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(inner)
}

// NewReader returns a reader of the decoded form of the article or mail in r, in UTF-8. chosen is the
// charset of what declares none, and if it is not the zero Charset, that of the body in any case. A
// multipart body is not decoded, apart from this. Errors of r are returned unchanged. If the body is
// not encoded as the header says, the rest of it is returned undecoded.
func NewReader(r io.Reader, chosen charset.Charset) io.Reader {
	return &reader{src: bufio.NewReaderSize(r, maxLine), chosen: chosen}
}

type reader struct {
	src    *bufio.Reader
	chosen charset.Charset
	header bytes.Buffer // decoded, not read yet
	body   io.Reader    // nil before the header has been read
	err    error        // of src, within the header
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if r.body == nil {
		r.readHeader()
	}
	switch {
	case r.header.Len() > 0:
		return r.header.Read(p)
	case r.err != nil:
		return 0, r.err
	}
	return r.body.Read(p)
}

// readHeader reads up to the empty line, decodes the fields, and sets the reader of the body.
func (r *reader) readHeader() {
	var fields []string // unfolded
	size := 0
	for {
		part, err := r.src.ReadSlice('\n')
		size += len(part)
		line := strings.TrimRight(string(part), "\r\n")
		switch {
		case err == bufio.ErrBufferFull || size > maxHeader:
			r.show(fields)
			r.header.Write(part)
			r.body = r.src
			return
		case err != nil:
			r.show(fields)
			r.header.WriteString(line)
			r.err, r.body = err, r.src
			return
		case line == "":
			r.show(fields)
			r.header.WriteByte('\n')
			r.body = r.decoded(fields)
			return
		case len(fields) > 0 && (line[0] == ' ' || line[0] == '\t'):
			fields[len(fields)-1] += line
			if len(fields[len(fields)-1]) > maxLine { // stop joining
				fields = append(fields, "")
			}
		default:
			fields = append(fields, line)
		}
	}
}

// show appends fields with decoded words to the header.
func (r *reader) show(fields []string) {
	for _, f := range fields {
		r.header.WriteString(Text(f, r.chosen) + "\n")
	}
}

// decoded returns the reader of the body.
func (r *reader) decoded(fields []string) io.Reader {
	media, params, err := mime.ParseMediaType(get(fields, "Content-Type"))
	if err != nil {
		media, params = "text/plain", nil
	}
	var body io.Reader = r.src
	if strings.HasPrefix(media, "text/") {
		body = Decode(get(fields, "Content-Transfer-Encoding"), body)
		if r.chosen == (charset.Charset{}) {
			body = ToUTF8(params["charset"], body)
		}
	}
	return r.chosen.Reader(body)
}

// Decode returns a reader of what a body or a part has in r, without its transfer encoding. Errors
// of r are returned unchanged. If r is not encoded in this way, the rest of it is returned undecoded.
func Decode(encoding string, r io.Reader) io.Reader {
	origin := &source{r: r}
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "base64":
		return &lenient{decoder: base64.NewDecoder(base64.StdEncoding, origin), origin: origin}
	case "quoted-printable":
		return &lenient{decoder: quotedprintable.NewReader(origin), origin: origin}
	}
	return r
}

// ToUTF8 returns a reader of the text in r as UTF-8. A text whose charset is unknown, or says nothing
// about 8-bit bytes, is not changed.
func ToUTF8(name string, r io.Reader) io.Reader {
	if c := charset.Declared(name); c != (charset.Charset{}) {
		return c.Reader(r)
	}
	return r
}

// get returns the value of a field, or "".
func get(fields []string, name string) string {
	for _, f := range fields {
		if n, value, ok := strings.Cut(f, ":"); ok && strings.EqualFold(n, name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// source remembers the error of its reader.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil {
		s.err = err
	}
	return n, err
}

// lenient continues without the decoder once that has failed.
type lenient struct {
	decoder io.Reader
	origin  *source
	failed  bool
}

func (l *lenient) Read(p []byte) (int, error) {
	if l.failed {
		return l.origin.Read(p)
	}
	n, err := l.decoder.Read(p)
	switch {
	case err == nil || err == io.EOF && (l.origin.err == nil || l.origin.err == io.EOF):
		return n, err
	case l.origin.err != nil && l.origin.err != io.EOF:
		return n, l.origin.err
	}
	l.failed = true
	return n, nil
}
