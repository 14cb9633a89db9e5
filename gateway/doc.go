package gateway

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/plaintext"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// document shows a document that is not a picture, a sound or a video: text as a page, anything else
// as a download.
func (v documentPages) document(res *fetch.Resource) error {
	if v.native || !v.accepts("text/html") {
		return v.octetsOf(res)
	}
	body := bufio.NewReaderSize(res.Body, sniffed)
	start, err := body.Peek(sniffed)
	if err != nil && err != io.EOF && len(start) == 0 {
		return err
	}
	mediaType := mediaTypeOf(res)
	start = textStart(v.visit, start)
	c, _, _ := v.charset(res.Charset, start)
	if mediaType == "" && !looksLikeText(start) || mediaType != "" && !isText(mediaType) || strings.Contains(c.Decode(string(start)), "\x00") {
		if v.r.Method == http.MethodPost || v.wants("in") { // the answer to a form, or a part of an archive, which raw would not get
			res.Body = struct {
				io.Reader
				io.Closer
			}{body, res.Body}
			return v.octetsOf(res)
		}
		_ = res.Close() // raw has what downloads need: the length, ranges and the like
		return v.raw()
	}
	return v.text(mediaType, res.Charset, body)
}

// text shows a text as a page. The server says that it has a media type and a charset; either may be
// empty.
func (v documentPages) text(mediaType, named string, body *bufio.Reader) error {
	start, _ := body.Peek(sniffed)
	if bytes.HasPrefix(start, []byte("\ufeff")) { // it says that the text is UTF-8
		_, _ = body.Discard(3)
		start = start[3:]
	}
	screen := screenKindOf(v.visit, start)
	c, how, err := v.charset(named, start)
	if how == "detected" {
		c = screen.guess(start)
	}
	if err != nil {
		return &failure{Status: http.StatusBadRequest, Text: "The gateway does not know this charset.", Detail: err.Error(), err: err}
	}
	t := &textPage{
		Empty: len(start) == 0, Source: isSource(mediaType), MediaType: mediaType,
		Charset: c.Name(), How: how, Charsets: v.charsets(c), Raw: here(v.visit).With("raw"),
		visit: v.visit, body: body, charset: c,
	}
	t.choose(mediaType, c.Decode(string(start)))
	t.Screen = newScreenText(screen, t)
	p := &page{Main: t, Early: t.Form == plaintext.Markdown} // its tables have columns as wide as their widest cell
	if wrap := t.wrap(); !wrap.Link.Empty() && t.Screen == nil {
		p.Actions = append(usualActions(v.visit), wrap)
	}
	return v.render("text", http.StatusOK, p)
}

// A textPage is the data of the page of a text.
type textPage struct {
	Empty     bool
	Source    bool   // a browser would run it, or load more: its source is shown
	MediaType string // empty if it is not known
	Charset   string // the name of the one that is shown
	How       string // why that one
	Charsets  []crumb
	Raw       place.Link
	Form      plaintext.Form // what the text is
	Wrap      bool           // long lines are wrapped
	Beyond    bool           // it is a text in Markdown that is shown as plain text, after Prose
	Screen    *screenText    // shown instead of it; nil if the text has no colours

	visit   *visit
	body    *bufio.Reader
	charset charset.Charset
	shown   *io.LimitedReader // what the page shows of body
	reader  io.Reader         // of that, from its beginning
	more    bool              // there is more of the text than the page shows
}

// maxShown is how many bytes of a text are shown on a page. A browser needs a multiple of it in
// memory, and more for gemtext, whose lines may be elements of one letter.
const (
	maxShown   = 4 << 20
	maxGemtext = 1 << 20
)

// keepError keeps the error of reading the text for the end of the page.
func (t *textPage) keepError(err error) { t.visit.err = err }

// beginning reads the text if it has at most size bytes. Otherwise reader begins with it anew.
func (t *textPage) beginning(size int) (text string, ok bool) {
	read, err := io.ReadAll(io.LimitReader(t.reader, int64(size)+1))
	if err != nil {
		t.keepError(err)
	}
	if len(read) > size {
		t.reader = io.MultiReader(bytes.NewReader(read), t.reader)
		return "", false
	}
	return t.charset.Decode(string(read)), true
}

// shownOf are parts of the text. At their end it finds out whether there is more of it than the page
// shows.
func shownOf[T any](t *textPage, parts iter.Seq[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		parts(yield)
		if t.shown.N == 0 {
			_, err := t.body.Peek(1)
			t.more = err == nil
			if err != nil && err != io.EOF {
				t.visit.err = err
			}
		}
	}
}

// Shown is how much of the text the page shows, after the text; empty if that is all of it.
func (t *textPage) Shown() string {
	if !t.more {
		return ""
	}
	return fmt.Sprintf("%d MiB", t.limit()>>20)
}

// Cut says, after the text, why the text ends early; empty if it does not.
func (t *textPage) Cut() string { return t.visit.cut() }

// charset is the one that a text is shown in, and why. The server says that it is named, which may be
// empty.
func (v documentPages) charset(named string, start []byte) (c charset.Charset, how string, err error) {
	if name := v.query.Get("charset"); name != "" && !v.native {
		if c, err = charset.Named(name); err != nil || c.Name() != "" {
			return c, "chosen", err
		}
	}
	if c = charset.Declared(named); c.Name() != "" {
		return c, "according to the server", nil
	}
	if len(start) >= sniffed-3 { // without a mark of three bytes
		start = charset.Whole(start)
	}
	return charset.Guess(start), "detected", nil
}

// mediaTypeOf is the media type of a document, as far as it is known. FTP servers do not say what
// they send.
func mediaTypeOf(res *fetch.Resource) string {
	if _, ok := res.Locator.(*locator.FTP); ok && res.MediaType == "" {
		return typeOfURL(res.Locator)
	}
	return res.MediaType
}

// isSource reports whether a browser would run documents of a media type, or load more for them.
func isSource(mediaType string) bool {
	return strings.HasSuffix(mediaType, "html") || strings.HasSuffix(mediaType, "+xml") || strings.HasSuffix(mediaType, "/xml")
}

// isText reports whether documents of a media type can be read as text.
func isText(mediaType string) bool {
	switch mediaType {
	case "application/json", "application/xml", "application/mbox", "message/rfc822", "application/x-wais-source":
		return true
	}
	return strings.HasPrefix(mediaType, "text/") || strings.HasSuffix(mediaType, "+xml") || strings.HasSuffix(mediaType, "+json")
}
