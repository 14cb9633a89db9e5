package gateway

import (
	"fmt"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/gateway/internal/gophermenu"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/screen"
	"github.com/fetch1738/fetch1738/internal/text/charset"
)

// A textPart is a part of prose, which ends with its line.
type textPart struct {
	gophermenu.Part
	Spans []screen.Span // Text with its colours; nil if it has none
}

// A menuText makes rows of the texts of a menu, in turn.
type menuText struct {
	charset charset.Charset // the one that was chosen; else the zero Charset
	dos     bool            // a drawing is in CP437
	colours screen.Colouring
	arts    int // drawings
}

// texts are the rows of consecutive lines of text: prose, columns and drawings, in turn. A colour goes on
// from one line to the next.
func (m *menuText) texts(lines []string) []*menuRow {
	c := m.charsetOf(strings.Join(lines, "\n")) // because a single line tells little
	shown, spans := make([]string, len(lines)), make([][]screen.Span, len(lines))
	m.colours.Reset()
	for i, line := range lines {
		shown[i], spans[i] = m.colours.Visible(c.Decode(line))
	}
	var rows []*menuRow
	for len(shown) > 0 {
		n, kind := gophermenu.SameKind(shown)
		r := &menuRow{}
		if kind == gophermenu.Prose {
			r.Parts = partsOf(gophermenu.Paragraphs(shown[:n]), shown, spans)
		} else {
			r.Lines, r.Spans = strings.Join(shown[:n], "\n")+"\n", screen.Joined(shown[:n], spans[:n])
			r.Label = fmt.Sprintf("Text in columns, %d lines", strings.Count(strings.TrimSpace(r.Lines), "\n")+1)
		}
		if kind == gophermenu.Drawn {
			m.arts++
			r.Art, r.Label = m.arts, strings.Replace(r.Label, "Text in columns", "Drawing of characters", 1)
		}
		rows, shown, spans = append(rows, r), shown[n:], spans[n:]
	}
	return rows
}

// charsetOf is the charset of a text of the menu: the one that was chosen, or else the detected one. A
// drawing in CP437 tells it for what is below it.
func (m *menuText) charsetOf(text string) charset.Charset {
	switch {
	case m.charset.Name() != "":
		return m.charset
	case m.dos:
		return charset.GuessDOS([]byte(text))
	}
	c := charset.Guess([]byte(text))
	m.dos = c.Name() == "CP437"
	return c
}

// partsOf are parts with the colours of the lines that they consist of.
func partsOf(prose []gophermenu.Part, lines []string, spans [][]screen.Span) (parts []textPart) {
	at := 0
	for _, p := range prose {
		n := strings.Count(p.Text, "\n") + 1
		parts = append(parts, textPart{p, screen.Joined(lines[at:at+n], spans[at:at+n])})
		at += n
	}
	return parts
}

// name sets the name of an item. Spaces around it are no part of the link.
func (m *menuText) name(r *menuRow, name string) {
	m.colours.Reset()
	name, spans := m.colours.Visible(m.charsetOf(name).Decode(name))
	r.Text = strings.TrimSpace(name)
	switch {
	case r.Text == "":
		r.Text = "(no name)"
	case spans != nil:
		r.Spans = spans
	default:
		r.Indent = name[:len(name)-len(strings.TrimLeft(name, " "))]
	}
}

// A menuRow is a part of a menu: lines of text, or an item of a list.
type menuRow struct {
	Open, Close bool // a list begins before the row, or ended before it

	Parts  []textPart    // prose
	Lines  string        // text that keeps its lines, which is announced by Label
	Spans  []screen.Span // Lines or Text with its colours; nil if it has none
	Label  string
	Art    int    // the number of a drawing; 0 for other text
	Kind   string // the word for the item's type; empty for text
	Icon   string // the symbol for it
	Indent string // the spaces before Text, which align it
	Text   string
	Link   place.Link
	Search *searchForm
	About  place.Link // the Gopher+ attributes of the item
	Why    string     // why the line is not a link, or how to use a service
	Size   string
	Time   *time.Time // in UTC; nil if it is not known
	Error  bool
	Web    bool // the link leads to a web server, which must not learn where it was found
}
