// Package textview makes of texts what the templates of the gateway show: blocks and parts with their
// links.
package textview

import (
	"iter"
	"strings"

	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/plaintext"
	"github.com/fetch1738/fetch1738/locator"
)

// A Page is what a text needs to know of the page that shows it.
type Page struct {
	Document  locator.Locator                  // that has the text
	LinkTo    func(locator.Locator) place.Link // empty if the gateway has no page of it
	Linked    func(text string) []Piece        // splits a text at the URLs in it
	Visible   func(text string) string         // makes a text safe to show
	IsPicture func(locator.Locator) bool       // whether a browser can show it as a picture
}

// A Piece is a part of a text: plain, or a link.
type Piece struct {
	Text string     // safe to show
	Link place.Link // empty for plain text
}

// A Bit is a part of a text in one style.
type Bit struct {
	Text            string
	Link            place.Link
	Line            int    // of source code, which begins here; otherwise 0
	ID              string // of a heading
	Bold, Underline bool
}

// Plain are the pieces of a text.
func Plain(pieces iter.Seq[Piece]) iter.Seq[Bit] {
	return func(yield func(Bit) bool) {
		for p := range pieces {
			if !yield(Bit{Text: p.Text, Link: p.Link}) {
				return
			}
		}
	}
}

// maxNumbered is how many lines have numbers: the element of a number is longer than most lines. What
// is behind them is not split into lines, which would take a template seconds.
const maxNumbered = 100_000

// Numbered are the pieces of a text, in which each line begins with its number.
func Numbered(pieces iter.Seq[Piece]) iter.Seq[Bit] {
	return func(yield func(Bit) bool) {
		line, begins := 0, true
		for p := range pieces {
			for rest := p.Text; rest != ""; {
				bit := Bit{Text: rest, Link: p.Link}
				if end := strings.IndexByte(rest, '\n'); end >= 0 && line < maxNumbered {
					bit.Text = rest[:end+1]
				}
				if begins && line < maxNumbered {
					line++
					bit.Line = line
				}
				rest = rest[len(bit.Text):]
				begins = strings.HasSuffix(bit.Text, "\n")
				if !yield(bit) {
					return
				}
			}
		}
	}
}

// Struck are the parts of a text whose letters are printed over others.
func (p *Page) Struck(parts iter.Seq[string]) iter.Seq[Bit] {
	return func(yield func(Bit) bool) {
		for part := range parts {
			for _, s := range plaintext.Overstrike(part) {
				for _, piece := range p.Linked(s.Text) {
					if !yield(Bit{Text: piece.Text, Link: piece.Link, Bold: s.Bold, Underline: s.Underline}) {
						return
					}
				}
			}
		}
	}
}
