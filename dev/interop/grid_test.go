package interop

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// A grid is the screen of a terminal as the user sees it. It supports the control sequences of a
// progress display: write, move up, erase below.
type grid struct {
	columns, rows int
	cells         [][]string // a wide character's second column is ""
	row, column   int
	full          bool // the last column has been written: the next character wraps
	wraps         int  // number of lines that wrapped
	history       []string
	unknown       []string // control sequences that it does not support
}

func newGrid(columns, rows int) *grid {
	g := &grid{columns: columns, rows: rows}
	for range rows {
		g.cells = append(g.cells, g.blank())
	}
	return g
}

func (g *grid) blank() []string {
	row := make([]string, g.columns)
	for i := range row {
		row[i] = " "
	}
	return row
}

// write receives what a program wrote.
func (g *grid) write(text string) {
	for len(text) > 0 {
		if sequence, ok := strings.CutPrefix(text, "\x1b["); ok {
			end := strings.IndexFunc(sequence, func(r rune) bool { return r >= '@' && r <= '~' })
			if end < 0 {
				return // the rest is yet to come
			}
			g.control(sequence[:end], sequence[end])
			text = sequence[end+1:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		switch {
		case r == '\r':
			g.column, g.full = 0, false
		case r == '\n':
			g.feed()
		case r < ' ', r == 0x7F, r == utf8.RuneError:
			g.unknown = append(g.unknown, strconv.QuoteRune(r))
		default:
			g.put(r)
		}
	}
}

func (g *grid) control(parameter string, final byte) {
	n, err := strconv.Atoi(parameter)
	switch {
	case final == 'A' && err == nil:
		g.row, g.full = max(0, g.row-n), false
	case final == 'J' && parameter == "":
		for i := g.column; i < g.columns; i++ {
			g.cells[g.row][i] = " "
		}
		for i := g.row + 1; i < g.rows; i++ {
			g.cells[i] = g.blank()
		}
	default:
		g.unknown = append(g.unknown, fmt.Sprintf("CSI %s %c", parameter, final))
	}
}

func (g *grid) feed() {
	g.full = false
	if g.row++; g.row == g.rows {
		g.row--
		g.history = append(g.history, line(g.cells[0]))
		g.cells = append(g.cells[1:], g.blank())
	}
}

func (g *grid) put(r rune) {
	w := 1
	if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
		w = 2
	}
	if g.full || g.column+w > g.columns {
		g.wraps++
		g.column = 0
		g.feed()
	}
	g.cells[g.row][g.column] = string(r)
	if w == 2 {
		g.cells[g.row][g.column+1] = ""
	}
	if g.column += w; g.column == g.columns {
		g.column, g.full = g.columns-1, true
	}
}

func line(cells []string) string { return strings.TrimRight(strings.Join(cells, ""), " ") }

// text returns what is visible, without empty lines at the end.
func (g *grid) text() string {
	var b strings.Builder
	for _, row := range g.cells {
		b.WriteString(line(row) + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// TestGrid compares the grid with a terminal's behavior.
func TestGrid(t *testing.T) {
	for text, want := range map[string]string{
		"one\r\ntwo\r\n\x1b[2A\x1b[Jthree\r\n": "three\n",
		"0123456789\r\nx":                      "0123456789\nx\n",
		"0123456789x":                          "0123456789\nx\n!",
		"漢字漢字漢字":                               "漢字漢字漢\n字\n!",
		"a\r\nb\r\nc\r\nd":                     "b\nc\nd\n",
		"\x1b[31m":                             "\n?",
	} {
		g := newGrid(10, 3)
		g.write(text)
		got := g.text() + strings.Repeat("!", g.wraps) + strings.Repeat("?", len(g.unknown))
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
