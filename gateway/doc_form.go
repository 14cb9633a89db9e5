package gateway

import (
	"io"
	"iter"
	"net/url"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/gateway/internal/gophermenu"
	"github.com/fetch1738/fetch1738/gateway/internal/markup"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/plaintext"
	"github.com/fetch1738/fetch1738/gateway/internal/textview"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// choose finds out what the text is by its name, its media type and its beginning, and whether its
// lines are wrapped: those of a text that flows, unless the reader says otherwise.
func (t *textPage) choose(mediaType, start string) {
	t.Form = plaintext.FormOf(place.Name(t.visit.loc), mediaType, start)
	if t.Form == plaintext.Flowing && hasColumns(start) {
		t.Form = plaintext.Preformatted
	}
	t.Wrap = t.Form == plaintext.Flowing
	if t.visit.wants("wrap") {
		t.Wrap = t.visit.query.Get("wrap") != "no"
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

// hasColumns reports whether a text has a table or a drawing of characters.
func hasColumns(start string) bool {
	if strings.ContainsFunc(start, func(r rune) bool { return 0x2500 <= r && r < 0x25A0 }) { // lines and blocks
		return true
	}
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(start, "\r", ""), "\t", "        "), "\n")
	for len(lines) > 0 {
		n, kind := gophermenu.SameKind(lines)
		if kind != gophermenu.Prose {
			return true
		}
		lines = lines[n:]
	}
	return false
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
	to.Link = here(t.visit).With(query)
	if c := t.visit.query.Get("charset"); c != "" {
		to.Link = to.Link.With("charset=" + url.QueryEscape(c))
	}
	return to
}

// view is what a text needs to know of the page that shows it. Relative links of a text within a zip
// or tar archive lead nowhere.
func (v documentPages) view() *textview.Page {
	document := v.loc
	if v.wants("in") {
		document = nil
	}
	return &textview.Page{Document: document, LinkTo: v.linkTo, Linked: v.linked, Visible: visibleText, IsPicture: func(l locator.Locator) bool { return mediaKind(l, typeOfURL(l)) == "image" }}
}

// markdown are the blocks of a text in Markdown, below a heading of a level. It is nil if the text is
// beyond the limits of package markup.
func (v documentPages) markdown(text string, below int) iter.Seq[*textview.Block] {
	blocks, ok := markup.Markdown(text)
	if !ok {
		return nil
	}
	return v.view().Prose(slices.Values(blocks), below)
}

// Prose are the blocks of a text with markup. It is nil for another text.
func (t *textPage) Prose() iter.Seq[*textview.Block] {
	v := documentPages{t.visit}
	switch t.Form {
	case plaintext.Gemtext:
		return shownOf(t, v.view().Prose(markup.Gemtext(linesFrom(t.reader, t.charset, t.keepError)), 1))
	case plaintext.Markdown:
		if text, ok := t.beginning(markup.MaxSize); ok {
			if blocks := v.markdown(text, 1); blocks != nil {
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
			return documentPages{t.visit}.view().RFC(text)
		}
	}
	return nil
}

// Bits is a text without markup and pages. It can be used once.
func (t *textPage) Bits() iter.Seq[textview.Bit] {
	if t.Form == plaintext.Manual {
		return shownOf(t, documentPages{t.visit}.view().Struck(partsFrom(t.reader, t.charset, t.keepError)))
	}
	pieces := t.visit.linkedFrom(t.reader, t.charset, t.keepError)
	if t.Form == plaintext.Source {
		return shownOf(t, textview.Numbered(pieces))
	}
	return shownOf(t, textview.Plain(pieces))
}
