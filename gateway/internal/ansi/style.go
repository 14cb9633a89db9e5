package ansi

import (
	"strconv"
	"strings"
)

// A Color is one of the 16 of a terminal. The zero value is the terminal's own.
type Color uint8

// colorOf is the colour with a number from 0 to 15.
func colorOf(n int) Color { return Color(n + 1) }

// A Style is how a part of a text is shown.
type Style struct {
	Text, Back                                Color
	Bold, Italic, Underlined, Struck, Inverse bool
}

// Class returns the classes of a style in a style sheet: "c0" to "c15" are the colours of letters, "k0"
// to "k15" those behind them. It is empty for plain text. Bold text in one of the first eight colours has
// the brighter one, as terminals without bold letters show it.
func (s Style) Class() string {
	if s == (Style{}) {
		return ""
	}
	var classes []string
	add := func(is bool, class string) {
		if is {
			classes = append(classes, class)
		}
	}
	text, back, bold := s.Text, s.Back, s.Bold
	if bold && text > 0 && text <= 8 {
		text, bold = text+8, false
	}
	if s.Inverse {
		// Only the backgrounds of the style sheet fit all colours of letters.
		if add(text == 0 && back == 0, "inverse"); back != 0 && text == 0 {
			text = colorOf(7)
		}
		text, back = back, text
	}
	add(text > 0, "c"+strconv.Itoa(int(text)-1))
	add(back > 0, "k"+strconv.Itoa(int(back)-1))
	add(bold, "bold")
	add(s.Italic, "italic")
	add(s.Underlined, "underlined")
	add(s.Struck, "struck")
	return strings.Join(classes, " ")
}

// A number is a parameter of a sequence. sub says that a colon, not a semicolon, is before it.
type number struct {
	value int
	sub   bool
}

// numbers are the parameters of a sequence. Missing ones are 0. A sequence with others has none.
func numbers(params string) []number {
	var all []number
	n := number{}
	for i := range len(params) {
		switch b := params[i]; {
		case b >= '0' && b <= '9':
			n.value = min(10*n.value+int(b-'0'), 9999)
		case b == ';' || b == ':':
			all = append(all, n)
			n = number{sub: b == ':'}
		default: // of a private sequence
			return nil
		}
	}
	return append(all, n)
}

// set changes the style as the parameters of SGR say (ECMA-48 §8.3.117). Concealed text stays visible.
func (s *Style) set(params string) {
	for list := numbers(params); len(list) > 0; {
		n := list[0].value
		list = list[1:]
		own := 0 // parameters that belong to this one
		for own < len(list) && list[own].sub {
			own++
		}
		if n == 38 || n == 48 || n == 58 {
			color, used := extended(list, own)
			own = used
			switch {
			case color == 0:
			case n == 38:
				s.Text = color
			case n == 48:
				s.Back = color
			}
		} else if own == 0 || n != 4 {
			s.attribute(n)
		} else {
			s.Underlined = list[0].value != 0 // a kind of line
		}
		list = list[own:]
	}
}

// attribute changes the style as a parameter of SGR that stands alone.
func (s *Style) attribute(n int) {
	switch {
	case n == 0:
		*s = Style{}
	case n == 1 || n == 22:
		s.Bold = n == 1
	case n == 3 || n == 23:
		s.Italic = n == 3
	case n == 4 || n == 21 || n == 24:
		s.Underlined = n != 24
	case n == 7 || n == 27:
		s.Inverse = n == 7
	case n == 9 || n == 29:
		s.Struck = n == 9
	case n >= 30 && n <= 37:
		s.Text = colorOf(n - 30)
	case n == 39:
		s.Text = 0
	case n >= 40 && n <= 47:
		s.Back = colorOf(n - 40)
	case n == 49:
		s.Back = 0
	case n >= 90 && n <= 97:
		s.Text = colorOf(n - 90 + 8)
	case n >= 100 && n <= 107:
		s.Back = colorOf(n - 100 + 8)
	}
}

// extended is the colour of the parameters behind 38 or 48: "5;N" or "2;R;G;B", also with colons, where a
// colour space may be before R. The first own of them are joined by colons. It is 0 if they name no colour. used is
// how many parameters belong to it.
func extended(list []number, own int) (color Color, used int) {
	if len(list) == 0 {
		return 0, 0
	}
	values := list
	if own > 0 {
		values, used = list[:own], own
	}
	switch kind := values[0].value; {
	case kind == 5 && len(values) > 1:
		if used == 0 {
			used = 2
		}
		return indexed(values[1].value), used
	case kind == 2 && len(values) > 3:
		if used == 0 {
			used = 4
		} else if len(values) > 4 {
			values = values[1:]
		}
		return nearest(values[1].value, values[2].value, values[3].value), used
	}
	return 0, len(values) // no other parameters are known to be whole
}

// indexed is the nearest colour to one of the 256 of xterm.
func indexed(n int) Color {
	switch {
	case n < 16:
		return colorOf(n)
	case n < 232:
		level := func(n int) int {
			if n == 0 {
				return 0
			}
			return 55 + 40*n
		}
		n -= 16
		return nearest(level(n/36), level(n/6%6), level(n%6))
	case n < 256:
		grey := 8 + 10*(n-232)
		return nearest(grey, grey, grey)
	}
	return 0
}

// vga are the 16 colours as a text screen had them.
var vga = [16][3]int{
	{0, 0, 0}, {170, 0, 0}, {0, 170, 0}, {170, 85, 0}, {0, 0, 170}, {170, 0, 170}, {0, 170, 170}, {170, 170, 170},
	{85, 85, 85}, {255, 85, 85}, {85, 255, 85}, {255, 255, 85}, {85, 85, 255}, {255, 85, 255}, {85, 255, 255}, {255, 255, 255},
}

// nearest is the nearest of the 16 colours to one in red, green and blue; 0 if there is no such colour.
func nearest(red, green, blue int) Color {
	if max(red, green, blue) > 255 {
		return 0
	}
	best, least := 0, 1<<30
	for i, c := range vga {
		dr, dg, db := red-c[0], green-c[1], blue-c[2]
		if distance := dr*dr + dg*dg + db*db; distance < least {
			best, least = i, distance
		}
	}
	return colorOf(best)
}
