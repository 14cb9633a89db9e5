package gateway

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/markup"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/plaintext"
	"github.com/fetch1738/fetch1738/gateway/internal/screen"
	"github.com/fetch1738/fetch1738/gateway/internal/textview"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// documentPages send documents, and show those that have a page.
type documentPages pages

// text shows a text as a page. The server says that it has a media type and a charset; either may be
// empty.
func (v documentPages) text(mediaType, named string, body *bufio.Reader) error {
	start, _ := body.Peek(plaintext.Sniffed)
	if bytes.HasPrefix(start, []byte("\ufeff")) { // it says that the text is UTF-8
		_, _ = body.Discard(3)
		start = start[3:]
	}
	kind := screen.KindOf(v.req.loc, start)
	c, how, err := v.charset(named, start)
	if how == "detected" {
		c = kind.Guess(start)
	}
	if err != nil {
		return &failure{Status: http.StatusBadRequest, Text: "The gateway does not know this charset.", Detail: err.Error(), err: err}
	}
	t := &textPage{
		Empty: len(start) == 0, Source: plaintext.IsSource(mediaType), MediaType: mediaType,
		Charset: c.Name(), How: how, Charsets: charsets(v.req, c), Raw: v.req.here().With("raw"),
		req: v.req, out: v.out, body: body, charset: c,
	}
	t.choose(mediaType, c.Decode(string(start)))
	t.Screen = screen.New(kind, shownOf(t, textview.Parts(t.reader, t.charset, t.out.keepError)), v.req.linked)
	p := &page{Main: t, Early: t.Form == plaintext.Markdown} // its tables have columns as wide as their widest cell
	if wrap := t.wrap(); !wrap.Link.Empty() && t.Screen == nil {
		p.Actions = append(usualActions(v.req), wrap)
	}
	return v.out.render(v.req, "text", http.StatusOK, p)
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
	Screen    *screen.Text   // shown instead of it; nil if the text has no colours

	req     *request
	out     *response
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

// beginning reads the text if it has at most size bytes. Otherwise reader begins with it anew.
func (t *textPage) beginning(size int) (text string, ok bool) {
	read, err := io.ReadAll(io.LimitReader(t.reader, int64(size)+1))
	if err != nil {
		t.out.err = err
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
				t.out.err = err
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
func (t *textPage) Cut() string { return t.out.cut() }

// charset is the one that a text is shown in, and why. The server says that it is named, which may be
// empty.
func (v documentPages) charset(named string, start []byte) (c charset.Charset, how string, err error) {
	if name := v.req.query.Get("charset"); name != "" && !v.req.native {
		if c, err = charset.Named(name); err != nil || c.Name() != "" {
			return c, "chosen", err
		}
	}
	if c = charset.Declared(named); c.Name() != "" {
		return c, "according to the server", nil
	}
	if len(start) >= plaintext.Sniffed-3 { // without a mark of three bytes
		start = charset.Whole(start)
	}
	return charset.Guess(start), "detected", nil
}

// mediaTypeOf is the media type of a document, as far as it is known. FTP servers do not say what
// they send.
func mediaTypeOf(res *fetch.Resource) string {
	if _, ok := res.Locator.(*locator.FTP); ok && res.MediaType == "" {
		return place.MediaType(res.Locator)
	}
	return res.MediaType
}

// choose finds out what the text is by its name, its media type and its beginning, and whether its
// lines are wrapped: those of a text that flows, unless the reader says otherwise.
func (t *textPage) choose(mediaType, start string) {
	t.Form = plaintext.FormOf(place.Name(t.req.loc), mediaType, start)
	if t.Form == plaintext.Flowing && hasColumns(start) {
		t.Form = plaintext.Preformatted
	}
	t.Wrap = t.Form == plaintext.Flowing
	if t.req.wants("wrap") {
		t.Wrap = t.req.query.Get("wrap") != "no"
	}
	t.shown = &io.LimitedReader{R: t.body, N: t.limit()}
	t.reader = t.shown
}

// limit is how many bytes of the text the page shows.
func (t *textPage) limit() int64 {
	if t.Form == plaintext.Gemtext {
		return maxGemtext
	}
	return maxShown
}

// wrap is the link to the text with its lines wrapped, or not. Text with markup is always wrapped.
func (t *textPage) wrap() crumb {
	to := crumb{Text: "Wrap lines", NoFollow: true}
	query := "wrap"
	if t.Wrap {
		to.Text, query = "Do not wrap lines", "wrap=no"
	}
	if t.Form == plaintext.Markdown || t.Form == plaintext.Gemtext {
		return crumb{}
	}
	to.Link = t.req.here().With(query)
	if c := t.req.query.Get("charset"); c != "" {
		to.Link = to.Link.With("charset=" + url.QueryEscape(c))
	}
	return to
}

// Prose are the blocks of a text with markup. It is nil for another text.
func (t *textPage) Prose() iter.Seq[*textview.Block] {
	switch t.Form {
	case plaintext.Gemtext:
		return shownOf(t, view(t.req).Prose(markup.Gemtext(textview.LinesFrom(t.reader, t.charset, t.out.keepError)), 1))
	case plaintext.Markdown:
		if text, ok := t.beginning(markup.MaxSize); ok {
			if blocks := markdown(t.req, text, 1); blocks != nil {
				return blocks
			}
			t.reader, t.charset = strings.NewReader(text), charset.Guess(nil) // UTF-8
		}
		t.Form, t.Wrap, t.Beyond = plaintext.Flowing, true, true
	}
	return nil
}

// Pages are the pages of an RFC. It is nil for another text.
func (t *textPage) Pages() iter.Seq[textview.RFCPage] {
	const maxRFC = 2 << 20 // the longest has 1.5 MB
	if t.Form == plaintext.RFC {
		if text, ok := t.beginning(maxRFC); ok {
			return view(t.req).RFC(text)
		}
	}
	return nil
}

// Bits is a text without markup and pages. It can be used once.
func (t *textPage) Bits() iter.Seq[textview.Bit] {
	if t.Form == plaintext.Manual {
		return shownOf(t, view(t.req).Struck(textview.Parts(t.reader, t.charset, t.out.keepError)))
	}
	pieces := textview.Pieces(textview.Parts(t.reader, t.charset, t.out.keepError), t.req.linked)
	if t.Form == plaintext.Source {
		return shownOf(t, textview.Numbered(pieces))
	}
	return shownOf(t, textview.Plain(pieces))
}
