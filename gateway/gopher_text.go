package gateway

import (
	"fmt"
	"strings"

	"github.com/fetch1738/fetch1738/gateway/internal/gophermenu"
	"github.com/fetch1738/fetch1738/internal/text/charset"
)

// A textPart is a part of prose, which ends with its line.
type textPart struct {
	gophermenu.Part
	Spans []span // Text with its colours; nil if it has none
}

// texts are the rows of consecutive lines of text: prose, columns and drawings, in turn. A colour goes on
// from one line to the next.
func (m *menuPage) texts(lines []string) []*menuRow {
	c := m.charsetOf(strings.Join(lines, "\n")) // because a single line tells little
	shown, spans := make([]string, len(lines)), make([][]span, len(lines))
	m.colours.Reset()
	for i, line := range lines {
		shown[i], spans[i] = m.colours.line(c.Decode(line))
	}
	var rows []*menuRow
	for len(shown) > 0 {
		n, kind := gophermenu.SameKind(shown)
		r := &menuRow{}
		if kind == gophermenu.Prose {
			r.Parts = partsOf(gophermenu.Paragraphs(shown[:n]), shown, spans)
		} else {
			r.Lines, r.Spans = strings.Join(shown[:n], "\n")+"\n", joined(shown[:n], spans[:n])
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
func (m *menuPage) charsetOf(text string) charset.Charset {
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
func partsOf(prose []gophermenu.Part, lines []string, spans [][]span) (parts []textPart) {
	at := 0
	for _, p := range prose {
		n := strings.Count(p.Text, "\n") + 1
		parts = append(parts, textPart{p, joined(lines[at:at+n], spans[at:at+n])})
		at += n
	}
	return parts
}
