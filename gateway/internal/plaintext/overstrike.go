package plaintext

import (
	"strings"
	"unicode/utf8"
)

// A Styled is a part of a text in one style.
type Styled struct {
	Text            string
	Bold, Underline bool
}

// Overstrike reads a text for a printer that goes back by a backspace: a letter that is printed twice
// is bold, one over "_" is underlined. Other letters replace the one before.
func Overstrike(text string) []Styled {
	if strings.IndexByte(text, '\b') < 0 {
		return []Styled{{Text: text}}
	}
	var parts []Styled
	var b strings.Builder // the text of the next part
	style := Styled{}
	add := func(s Styled) {
		if s.Text == "" {
			return
		}
		if s.Bold != style.Bold || s.Underline != style.Underline {
			if style.Text = b.String(); style.Text != "" {
				parts = append(parts, style)
			}
			b.Reset()
			style = s
		}
		b.WriteString(s.Text)
	}
	begin := 0
	for i := 0; i < len(text); {
		_, n := utf8.DecodeRuneInString(text[i:])
		struck, end := strike(text[i:], n)
		if end > n {
			add(Styled{Text: text[begin:i]})
			add(struck)
			begin = i + end
		}
		i += end
	}
	add(Styled{Text: text[begin:]})
	style.Text = b.String()
	return append(parts, style)
}

// strike reads a letter of n octets at the beginning of a text, with the letters that are printed over
// it. If there is no such letter, end is n.
func strike(text string, n int) (s Styled, end int) {
	s.Text, end = text[:n], n
	if s.Text == "\b" || s.Text == "\n" {
		return s, end
	}
	for end+1 < len(text) && text[end] == '\b' && text[end+1] > ' ' {
		_, n := utf8.DecodeRuneInString(text[end+1:])
		over := text[end+1 : end+1+n]
		switch {
		case over == s.Text:
			s.Bold = true
		case over == "_":
			s.Underline = true
		case s.Text == "_":
			s.Text, s.Underline, s.Bold = over, true, false
		default:
			s.Text = over
		}
		end += 1 + n
	}
	return s, end
}
