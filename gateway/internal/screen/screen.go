// Package screen shows texts that were made for terminals, with their colours.
package screen

import (
	"bytes"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/gateway/internal/ansi"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/textview"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// A Span is a part of a text with the colours of a terminal, or plain.
type Span struct {
	textview.Piece
	Class string // in the style sheet; empty for plain text
}

// MaxSpans is how many coloured spans a page has. A browser needs much more memory for each than for
// text, so what comes after them is plain.
const MaxSpans = 20_000

// A Colouring makes spans of a text with the escape sequences of terminals.
type Colouring struct {
	ansi.Reader
	used int
}

// Visible returns a line of a text, safe to show. If a part of it has a colour, spans are its parts, else
// nil.
func (c *Colouring) Visible(text string) (plain string, spans []Span) {
	var all strings.Builder
	coloured := false
	for _, run := range c.Line(text) {
		s := Span{Piece: textview.Piece{Text: visible.Name(run.Text)}, Class: c.class(run.Style)}
		coloured = coloured || s.Class != ""
		all.WriteString(s.Text)
		spans = append(spans, s)
	}
	if !coloured {
		spans = nil
	}
	return all.String(), spans
}

// class is the class of a style, as long as the page may have more of them.
func (c *Colouring) class(style ansi.Style) string {
	class := style.Class()
	if class == "" || c.used == MaxSpans {
		return ""
	}
	c.used++
	return class
}

// Joined are the spans of consecutive lines, which are plain where they have none; nil if all are.
func Joined(plain []string, spans [][]Span) (all []Span) {
	if !slices.ContainsFunc(spans, func(s []Span) bool { return s != nil }) {
		return nil
	}
	for i, line := range plain {
		if i > 0 {
			line = "\n" + line
		}
		if spans[i] == nil {
			all = append(all, Span{Piece: textview.Piece{Text: line}})
			continue
		}
		if i > 0 {
			all = append(all, Span{Piece: textview.Piece{Text: "\n"}})
		}
		all = append(all, spans[i]...)
	}
	return all
}

// screenWidth is the number of columns that pictures of characters are made for.
const screenWidth = 80

// A Kind says how a text for terminals is shown.
type Kind int

// The kinds of texts.
const (
	None      Kind = iota // as any other text
	Coloured              // with its colours
	PCText                // likewise, and probably in CP437
	PCPicture             // likewise, and made for a dark screen of 80 columns
)

// KindOf is the kind of a text, by the ending of the name in its URL and, for a text without one, by its
// beginning.
func KindOf(l locator.Locator, start []byte) Kind {
	switch strings.ToLower(path.Ext(place.FileName(l))) {
	case ".ans":
		return PCPicture
	case ".nfo", ".diz":
		return PCText
	case ".asc":
		return Coloured
	}
	if g, ok := l.(*locator.Gopher); ok && g.Type == '0' && ansi.Has(string(start)) {
		return Coloured
	}
	return None
}

// Guess detects the charset of a text of this kind by its beginning.
func (k Kind) Guess(start []byte) charset.Charset {
	if k >= PCText {
		return charset.GuessDOS(start)
	}
	return charset.Guess(start)
}

// TextStart is the beginning of a document without what is behind the end of a text for DOS.
func TextStart(l locator.Locator, start []byte) []byte {
	if end := bytes.IndexByte(start, ansi.EndOfFile); end >= 0 && KindOf(l, start) >= PCText {
		return start[:end]
	}
	return start
}

// A Text is a text with the colours of a terminal.
type Text struct {
	Art  bool // it may have drawings, whose lines must not wrap
	Dark bool // it is a picture, whose colours are those of a dark screen

	parts     iter.Seq[string]
	linked    func(string) []textview.Piece
	colouring Colouring
}

// New returns the text that consists of parts as a text of a kind; nil if that has no colours. The
// function linked splits a text at the URLs in it.
func New(kind Kind, parts iter.Seq[string], linked func(string) []textview.Piece) *Text {
	if kind == None {
		return nil
	}
	t := &Text{Art: kind >= PCText, Dark: kind == PCPicture, parts: parts, linked: linked}
	t.colouring.DOS = t.Art
	if t.Dark {
		t.colouring.Columns = screenWidth
	}
	return t
}

// Spans are the text. It can be used once.
func (t *Text) Spans() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for part := range t.parts {
			for _, run := range t.colouring.Read(part) {
				if !t.pieces(run, yield) {
					return
				}
			}
		}
	}
}

// pieces yields a run, whose URLs are links.
func (t *Text) pieces(run ansi.Run, yield func(Span) bool) bool {
	class := t.colouring.class(run.Style)
	for _, p := range t.linked(run.Text) {
		if !yield(Span{p, class}) {
			return false
		}
	}
	return true
}
