package gophermenu

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Kind says how lines of text in a menu are shown.
type Kind int

const (
	Prose   Kind = iota // wraps
	Columns             // keeps its lines, and scrolls
	Drawn               // likewise; a picture for those who do not see it
)

// A Part is a part of prose, which ends with its line.
type Part struct {
	Text  string
	Class string // "flow": on a narrow screen the lines are one paragraph. "rule": it may be cut off
}

// SameKind returns how many of the lines are of one kind, and which. An empty line ends a block,
// whose lines are of one kind.
func SameKind(lines []string) (n int, kind Kind) {
	for n < len(lines) {
		block := firstBlock(lines[n:])
		is := kindOf(block)
		if n == 0 {
			kind = is
		} else if is != kind && len(block) > 0 {
			break
		}
		for n += len(block); n < len(lines) && isBlank(lines[n]); {
			n++
		}
	}
	return n, kind
}

// firstBlock returns the lines before the first empty one.
func firstBlock(lines []string) []string {
	n := 0
	for n < len(lines) && !isBlank(lines[n]) {
		n++
	}
	return lines[:n]
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

// kindOf returns the kind of the lines of a block. A drawing consists mainly of different characters
// that are neither letters nor digits, in at least three lines, and in half of them. Columns have a
// gap or bars in at least two lines, and in half of them.
func kindOf(block []string) Kind {
	drawing, aligned := 0, 0
	for _, line := range block {
		letters, marks, kinds := 0, 0, map[rune]bool{}
		for _, r := range line {
			switch {
			case unicode.IsSpace(r):
				continue
			case unicode.IsLetter(r) || unicode.IsDigit(r):
				letters++
			default:
				marks++
			}
			kinds[r] = true
		}
		if marks > letters && len(kinds) > 1 {
			drawing++
		}
		if line = strings.TrimSpace(line); strings.Index(line, "   ") > 2 || len(line) > 1 && line[0] == '|' && line[len(line)-1] == '|' {
			aligned++
		}
	}
	switch {
	case drawing >= 3 && 2*drawing >= len(block):
		return Drawn
	case aligned >= 2 && 2*aligned >= len(block) && widest(block) > narrow:
		return Columns
	}
	return Prose
}

// How many letters there are in a line, where nothing wraps: on a narrow screen, and in the texts of
// people who wrap lines themselves.
const (
	narrow  = 40
	typical = 70
)

// widest is the length of the longest line.
func widest(lines []string) (width int) {
	for _, line := range lines {
		width = max(width, utf8.RuneCountInString(line))
	}
	return width
}

// Paragraphs are the parts of prose.
func Paragraphs(lines []string) []Part {
	var parts []Part
	for len(lines) > 0 {
		block := firstBlock(lines)
		if lines = lines[len(block):]; len(block) == 0 {
			parts, lines = append(parts, Part{}), lines[1:]
		}
		for width := min(widest(block), typical); len(block) > 0; {
			n, goesOn := paragraph(block, width)
			if goesOn {
				parts = append(parts, Part{Text: strings.Join(block[:n], "\n"), Class: "flow"})
			} else {
				for _, line := range block[:n] {
					parts = append(parts, linePart(line))
				}
			}
			block = block[n:]
		}
	}
	return parts
}

// paragraph returns how many lines of a block, which is about as wide as width, look like a
// paragraph, at least one: the first word of each line would not have fitted into the line before.
// Only if a sentence goes on from one line to another are they one: verses and lists are not.
func paragraph(block []string, width int) (n int, goesOn bool) {
	const slack = 5 // people do not count
	for n = 1; n < len(block) && width > narrow; n++ {
		line, next := block[n-1], block[n]
		word, _, _ := strings.Cut(strings.TrimSpace(next), " ")
		first, _ := utf8.DecodeRuneInString(word)
		letters := utf8.RuneCountInString(word)
		isItem := !unicode.IsLetter(first) && letters < 4
		full := utf8.RuneCountInString(line)+1+letters+slack > width
		if !full || isItem || isRule(line) || isRule(next) || indent(next) < indent(line) {
			break
		}
		goesOn = goesOn || unicode.IsLower(first)
	}
	return n, goesOn
}

// linePart is a line of its own.
func linePart(line string) Part {
	switch {
	case utf8.RuneCountInString(line) <= narrow:
		return Part{Text: line}
	case isRule(line):
		return Part{Text: line, Class: "rule"}
	}
	return Part{Text: line, Class: "flow"}
}

// isRule reports whether a line only separates others.
func isRule(line string) bool {
	return !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// indent is the number of spaces before a line.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
