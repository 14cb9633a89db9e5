// Package article takes news articles apart: parts, quotes and threads.
package article

import (
	"bufio"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/internal/text/mime822"
)

// Limits of an article whose parts are shown.
const (
	maxMailHeader = 64 << 10 // bytes of a header; fields after them are not shown
	maxMailFields = 200
	maxMail       = 64 << 20 // bytes of an article; parts after them are not shown
	maxParts      = 100
	maxNested     = 5 // multiparts within each other
)

// Fields is the header of an article or of one of its parts: unfolded, and not decoded.
type Fields []fetch.Field

// Get is the value of the first field of a name, or "".
func (h Fields) Get(name string) string {
	for _, f := range h {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// MediaType is the Content-Type; text/plain if there is no valid one.
func (h Fields) MediaType() (string, map[string]string) {
	mediaType, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || !strings.Contains(mediaType, "/") {
		return "text/plain", nil
	}
	return mediaType, params
}

// FileName is the name that the header gives to a file, or "".
func (h Fields) FileName() string {
	disposition := h.Get("Content-Disposition")
	if name := mime822.FileName(disposition); name != "" {
		return charset.Charset{}.Decode(name)
	}
	_, params, err := mime.ParseMediaType(disposition)
	if err == nil && params["filename"] != "" { // in several parts (RFC 2231 §3)
		return mime822.Text(params["filename"], charset.Charset{})
	}
	_, params = h.MediaType()
	return mime822.Text(params["name"], charset.Charset{})
}

// Attached reports whether a part is a file, rather than a text to read with the article.
func (h Fields) Attached() bool {
	disposition, _, _ := strings.Cut(h.Get("Content-Disposition"), ";")
	return strings.EqualFold(strings.TrimSpace(disposition), "attachment")
}

// readHeader reads a header and the empty line after it. It skips lines that are not fields. Its
// error is that of r.
func readHeader(r *bufio.Reader) (Fields, error) {
	var h Fields
	var folded []string // the lines of the last field
	finish := func() {
		if len(folded) > 0 {
			h[len(h)-1].Value = strings.Join(folded, " ")
		}
		folded = nil
	}
	defer finish()
	for size := 0; ; {
		line, err := r.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			err = nil
		}
		size += len(line)
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			return h, err
		}
		name, value, ok := strings.Cut(text, ":")
		switch {
		case size > maxMailHeader:
		case text[0] == ' ' || text[0] == '\t':
			if len(folded) > 0 {
				folded = append(folded, strings.TrimSpace(text))
			}
		case ok && name != "" && !strings.ContainsAny(name, " \t") && len(h) < maxMailFields:
			finish()
			h, folded = append(h, fetch.Field{Name: name}), []string{strings.TrimSpace(value)}
		default:
			finish()
		}
		if err != nil {
			return h, err
		}
	}
}

// A Part is a part of an article that is not a multipart: the article itself, if it has only one.
type Part struct {
	Fields
	Number int // from 1
	// Alternative is set if the part has the same content as another one, in another form.
	Alternative bool
	// Embedded is what is known of a file that stands in a text; nil for any other part.
	Embedded *Embedded
	// Body is not decoded. It is valid until the next part.
	Body io.Reader

	split bool // Body is decoded: it is a piece of a text
}

// FileName is the name of a file, or "". It is not safe.
func (p *Part) FileName() string {
	if p.Embedded != nil {
		return p.Embedded.Name
	}
	return p.Fields.FileName()
}

// Decoded reads the part without its transfer encoding.
func (p *Part) Decoded() io.Reader {
	if p.split {
		return p.Body
	}
	return mime822.Decode(p.Get("Content-Transfer-Encoding"), p.Body)
}

// Text is the text of a part as UTF-8, up to max bytes. more reports whether it is longer. Its
// charset is the chosen one, else the one of that name, else the one that fits.
func (p *Part) Text(name string, chosen charset.Charset, max int64) (text string, more bool) {
	body := p.Decoded()
	if chosen == (charset.Charset{}) {
		body = mime822.ToUTF8(name, body)
	}
	octets, _ := io.ReadAll(io.LimitReader(body, max+1))
	if int64(len(octets)) > max {
		octets, more = charset.Whole(octets[:max]), true
	}
	return chosen.Decode(string(octets)), more
}

var errParts = errors.New("the article has too many parts")

// Walk calls f for each part of an article, until f returns false. Its error says that there are
// parts that f has not seen; it can be that of the reader below p.
func Walk(p *Part, f func(*Part) bool) error {
	w := walker{f: f}
	return w.walk(p, 0)
}

type walker struct {
	f    func(*Part) bool
	n    int
	done bool
}

// walk calls f for the parts of p, or for p if it has none or is nested too deeply.
func (w *walker) walk(p *Part, nested int) error {
	mediaType, params := p.MediaType()
	if !strings.HasPrefix(mediaType, "multipart/") || params["boundary"] == "" || nested == maxNested {
		if mediaType == "text/plain" && !p.Attached() {
			return w.splitText(p)
		}
		return w.call(p)
	}
	for r := multipart.NewReader(p.Body, params["boundary"]); !w.done; {
		raw, err := r.NextRawPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		inner := &Part{Body: raw, Alternative: p.Alternative || mediaType == "multipart/alternative"}
		for name, values := range raw.Header {
			inner.Fields = append(inner.Fields, fetch.Field{Name: name, Value: values[0]})
		}
		if err := w.walk(inner, nested+1); err != nil {
			return err
		}
	}
	return nil
}

// call calls f for one part.
func (w *walker) call(p *Part) error {
	if w.n++; w.n > maxParts {
		return errParts
	}
	p.Number = w.n
	w.done = !w.f(p)
	return nil
}

// splitText calls f for a text, for the files that stand in it, and for the texts behind these that are
// not empty.
func (w *walker) splitText(p *Part) error {
	in := bufio.NewReaderSize(p.Decoded(), splitBufSize)
	for t, more := (&text{r: in}), true; ; more = t.skipEmpty() {
		if more {
			piece := *p
			piece.Body, piece.split = t, true
			if err := w.call(&piece); err != nil || w.done {
				return err
			}
			_, _ = io.Copy(io.Discard, t) // the error is that of the article
		}
		if t.file == nil {
			return nil
		}
		file := &Part{Fields: Fields{{Name: "Content-Type", Value: "application/octet-stream"}}, Embedded: t.file, Body: t.body}
		if err := w.call(file); err != nil || w.done {
			return err
		}
		_, _ = io.Copy(io.Discard, t.body)
		t = &text{r: in}
	}
}

// Read reads the header of an article, and returns its first part, which has all others in
// its Body. The second result keeps the error of r, if it breaks off.
func Read(r io.Reader) (*Part, *Reader, error) {
	b := &Reader{r: r}
	in := bufio.NewReaderSize(b, 16<<10)
	h, err := readHeader(in)
	if err == io.EOF {
		err = nil
	}
	return &Part{Fields: h, Body: in}, b, err
}

// A Reader reads at most maxMail bytes and remembers the error of its reader.
type Reader struct {
	r    io.Reader
	size int64
	Err  error // not io.EOF
}

func (b *Reader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil && err != io.EOF {
		b.Err = err
	}
	if b.size += int64(n); b.size > maxMail && err == nil {
		return n, errLongMail
	}
	return n, err
}

var errLongMail = errors.New("the article is longer than 64 MiB")

// Others are the fields of a header that have none of the names.
func (h Fields) Others(names []string) Fields {
	return slices.DeleteFunc(slices.Clone(h), func(f fetch.Field) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(f.Name, name) })
	})
}
