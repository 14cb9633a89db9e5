// Package picture draws what a terminal shows over time as an animated SVG. It is for tests, which
// make the picture of the README with it.
package picture

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A Screen is a terminal that remembers what it has shown, and when. It understands what this
// command writes: lines, the sequences that redraw lines, and colours. Everything else is an error,
// so that a picture is never wrong. It is not safe for concurrent use.
type Screen struct {
	columns, rows int

	row, col int // of the cursor; rows count from the first line ever written
	style    style
	top      int             // the first row in the window
	lines    map[place]glyph // what is on the screen
	at       time.Duration   // of the last write
	dirty    map[place]bool  // what that write may have changed

	spans   []span        // what has been shown
	open    map[place]int // the spans of what is shown
	scrolls []scroll
}

// A place is a cell of the screen.
type place struct{ row, col int }

// A glyph is the content of a cell. The zero value is an empty one.
type glyph struct {
	r     rune
	style style
}

// A style is how text looks. The zero value is the default.
type style struct {
	bold   bool
	colour int // 1 to 7: those of SGR 31 to 37; 0 means the default
}

// A span is what a cell shows for some time.
type span struct {
	place
	glyph
	from, to time.Duration // to is 0 if it is still there at the end
}

// A scroll moves the first line of the window.
type scroll struct {
	at  time.Duration
	top int
}

// NewScreen returns an empty Screen of the given size, in characters.
func NewScreen(columns, rows int) *Screen {
	return &Screen{columns: columns, rows: rows, lines: make(map[place]glyph), dirty: make(map[place]bool), open: make(map[place]int)}
}

// Write shows text at a time since the beginning, which must not be before that of the last call.
// What is drawn and replaced at the same time is not seen. An escape sequence must be complete.
func (s *Screen) Write(at time.Duration, text string) error {
	if at != s.at {
		s.commit()
		s.at = at
	}
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		rest := text[size:]
		switch {
		case r == '\x1b':
			n, err := s.escape(rest)
			if err != nil {
				return err
			}
			rest = rest[n:]
		case r == '\n':
			s.row, s.col = s.row+1, 0 // as a terminal shows it after a program
		case r == '\r':
			s.col = 0
		case r == utf8.RuneError || r < ' ' || r >= 0x7F && r < 0xA0 || r >= 0x1100 && (r < 0x2010 || r > 0x2BFF): // controls, and scripts with wide characters
			return fmt.Errorf("character %U is not supported", r)
		case s.col == s.columns:
			s.row, s.col = s.row+1, 0
			continue
		default:
			s.put(place{s.row, s.col}, glyph{r, s.style})
			s.col++
		}
		text = rest
	}
	return nil
}

// sequence matches a control sequence behind its ESC.
var sequence = regexp.MustCompile(`^\[([0-9;]*)([A-Za-z])`)

// escape does the sequence that text begins with, behind its ESC, and returns its length.
func (s *Screen) escape(text string) (int, error) {
	m := sequence.FindStringSubmatch(text)
	if m == nil || !s.control(m[1], m[2]) {
		return 0, fmt.Errorf("the sequence ESC %.10q is not supported", text)
	}
	return len(m[0]), nil
}

// control does a control sequence. It reports whether that is supported.
func (s *Screen) control(parameters, final string) bool {
	number, err := strconv.Atoi(cmp.Or(parameters, "0"))
	switch one := err == nil; {
	case one && final == "A":
		s.row = max(s.row-max(number, 1), s.top)
	case one && number == 0 && (final == "J" || final == "K"):
		s.erase(final == "J")
	case final == "m":
		for field := range strings.SplitSeq(parameters, ";") {
			switch n, _ := strconv.Atoi(field); {
			case n == 0:
				s.style = style{}
			case n == 1:
				s.style.bold = true
			case n > 30 && n < 38:
				s.style.colour = n - 30
			default:
				return false
			}
		}
	default:
		return false
	}
	return true
}

// erase empties the line from the cursor on, and with below also the lines below it.
func (s *Screen) erase(below bool) {
	for p := range s.lines {
		if p.row == s.row && p.col >= s.col || below && p.row > s.row {
			s.put(p, glyph{})
		}
	}
}

// put sets a cell. Blanks are empty cells.
func (s *Screen) put(p place, g glyph) {
	s.dirty[p] = true
	if g.r == ' ' || g.r == 0 {
		delete(s.lines, p)
		return
	}
	s.lines[p] = g
}

// commit ends the spans of what has changed since the last commit, begins new ones, and scrolls.
func (s *Screen) commit() {
	for p := range s.dirty {
		i, shown := s.open[p]
		now := s.lines[p]
		if shown && s.spans[i].glyph == now {
			continue
		}
		if shown {
			s.spans[i].to = s.at
			delete(s.open, p)
		}
		if now != (glyph{}) {
			s.open[p] = len(s.spans)
			s.spans = append(s.spans, span{place: p, glyph: now, from: s.at})
		}
	}
	clear(s.dirty)
	if bottom := s.row - s.rows + 1; bottom > s.top {
		s.top = bottom
		s.scrolls = append(s.scrolls, scroll{s.at, bottom})
	}
}
