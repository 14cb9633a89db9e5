package gateway

import (
	"bytes"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/gateway/internal/ansi"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// A span is a part of a text with the colours of a terminal, or plain.
type span struct {
	piece
	Class string // in the style sheet; empty for plain text
}

// maxSpans is how many coloured spans a page has. A browser needs much more memory for each than for
// text, so what comes after them is plain.
const maxSpans = 20_000

// A colouring makes spans of a text with the escape sequences of terminals.
type colouring struct {
	ansi.Reader
	used int
}

// line returns a line of a text, safe to show. If a part of it has a colour, spans are its parts, else
// nil.
func (c *colouring) line(text string) (plain string, spans []span) {
	var all strings.Builder
	coloured := false
	for _, run := range c.Line(text) {
		s := span{piece: piece{Text: visible(run.Text)}, Class: c.class(run.Style)}
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
func (c *colouring) class(style ansi.Style) string {
	class := style.Class()
	if class == "" || c.used == maxSpans {
		return ""
	}
	c.used++
	return class
}

// joined are the spans of consecutive lines, which are plain where they have none; nil if all are.
func joined(plain []string, spans [][]span) (all []span) {
	if !slices.ContainsFunc(spans, func(s []span) bool { return s != nil }) {
		return nil
	}
	for i, line := range plain {
		if i > 0 {
			line = "\n" + line
		}
		if spans[i] == nil {
			all = append(all, span{piece: piece{Text: line}})
			continue
		}
		if i > 0 {
			all = append(all, span{piece: piece{Text: "\n"}})
		}
		all = append(all, spans[i]...)
	}
	return all
}

// screenWidth is the number of columns that pictures of characters are made for.
const screenWidth = 80

// A screenKind says how a text for terminals is shown.
type screenKind int

const (
	noScreen  screenKind = iota // as any other text
	coloured                    // with its colours
	pcText                      // likewise, and probably in CP437
	pcPicture                   // likewise, and made for a dark screen of 80 columns
)

// screenKindOf is the kind of a text, by the ending of its name and, for a text without one, by its
// beginning.
func screenKindOf(v *visit, start []byte) screenKind {
	switch strings.ToLower(path.Ext(fileName(v.loc))) {
	case ".ans":
		return pcPicture
	case ".nfo", ".diz":
		return pcText
	case ".asc":
		return coloured
	}
	if l, ok := v.loc.(*locator.Gopher); ok && l.Type == '0' && ansi.Has(string(start)) {
		return coloured
	}
	return noScreen
}

// guess detects the charset of a text of this kind by its beginning.
func (k screenKind) guess(start []byte) charset.Charset {
	if k >= pcText {
		return charset.GuessDOS(start)
	}
	return charset.Guess(start)
}

// textStart is the beginning of a document without what is behind the end of a text for DOS.
func textStart(v *visit, start []byte) []byte {
	if end := bytes.IndexByte(start, ansi.EndOfFile); end >= 0 && screenKindOf(v, start) >= pcText {
		return start[:end]
	}
	return start
}

// A screenText is a text with the colours of a terminal.
type screenText struct {
	Art  bool // it may have drawings, whose lines must not wrap
	Dark bool // it is a picture, whose colours are those of a dark screen

	visit *visit
	of    *textPage
	colouring
}

// newScreenText returns the text of a page as a text of a kind; nil if that has no colours.
func newScreenText(kind screenKind, of *textPage) *screenText {
	if kind == noScreen {
		return nil
	}
	s := &screenText{Art: kind >= pcText, Dark: kind == pcPicture, visit: of.visit, of: of}
	s.DOS = s.Art
	if s.Dark {
		s.Columns = screenWidth
	}
	return s
}

// Spans are the text. It can be used once.
func (s *screenText) Spans() iter.Seq[span] {
	return shownOf(s.of, func(yield func(span) bool) {
		for part := range partsFrom(s.of.reader, s.of.charset, s.of.keepError) {
			for _, run := range s.Read(part) {
				if !s.pieces(run, yield) {
					return
				}
			}
		}
	})
}

// pieces yields a run, whose URLs are links.
func (s *screenText) pieces(run ansi.Run, yield func(span) bool) bool {
	class := s.class(run.Style)
	for _, p := range s.visit.linked(run.Text) {
		if !yield(span{p, class}) {
			return false
		}
	}
	return true
}
