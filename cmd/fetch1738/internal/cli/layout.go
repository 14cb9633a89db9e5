package cli

import (
	"fmt"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/render"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
)

// The layout of help is between MinWidth and MaxWidth columns wide. A narrower terminal breaks the
// lines itself; lines longer than MaxWidth are hard to read.
const (
	MinWidth = 40
	MaxWidth = 120
)

const (
	indent  = 6  // indentation of a text below its name
	gap     = 2  // columns between a name and its text
	maxName = 29 // width of the longest name with its text on the same line
	minText = 30 // minimum width of a text beside its name
)

// Width returns the number of columns for text on stream: the width of its terminal, or 80
// without one.
func Width(stream any) int { return min(max(term.Columns(stream), MinWidth), MaxWidth) }

// A Row is a name and its description.
type Row struct{ Name, Text string }

// Rows lays out names in one column and their texts in the next. Long texts are wrapped within
// their column. The text of a long name is on the line below the name; on a narrow terminal this
// applies to all texts.
func Rows(rows []Row, width int) string {
	column := 0
	for _, r := range rows {
		if len(r.Name) <= maxName {
			column = max(column, len(r.Name)+gap)
		}
	}
	if column == 0 || width-column < minText {
		column = indent
	}
	var b strings.Builder
	for _, r := range rows {
		if len(r.Name)+gap <= column {
			b.WriteString(render.Paragraph(fmt.Sprintf("%-*s", column, r.Name), r.Text, column, width))
			continue
		}
		name := strings.TrimLeft(r.Name, " ")
		b.WriteString(render.Paragraph(r.Name[:len(r.Name)-len(name)], name, indent, width))
		b.WriteString(render.Paragraph(strings.Repeat(" ", column), r.Text, column, width))
	}
	return b.String()
}

// Options lays out options as Rows.
func Options(list []curl.Option, width int) string {
	rows := make([]Row, len(list))
	for i, o := range list {
		rows[i] = Row{spelled(o), o.Help}
	}
	return Rows(rows, width)
}

// spelled returns an option with its letter and the name of its value.
func spelled(o curl.Option) string {
	letter := "    "
	if o.Short != "" {
		letter = "-" + o.Short + ", "
	}
	name := " " + letter + "--" + o.Long
	if o.Arg != "" {
		name += " " + o.Arg
	}
	return name
}

// Prose lays out the text of a verb's help. Paragraphs are filled; paragraphs that begin with white
// space are examples and are not changed. The first paragraph is the synopsis.
func Prose(text string, width int) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		switch {
		case i == 0:
			const other = "\n       fetch1738 " // begins another form of the command
			for j, form := range strings.Split(paragraph, other) {
				if j == 0 {
					b.WriteString(synopsis(form, width))
					continue
				}
				b.WriteString(strings.Replace(synopsis("Usage: fetch1738 "+form, width), "Usage:", "      ", 1))
			}
		case strings.HasPrefix(paragraph, " "):
			b.WriteString(paragraph + "\n")
		default:
			b.WriteString(render.Paragraph("", paragraph, 0, width))
		}
	}
	return b.String()
}

// synopsis lays out the synopsis of a verb. Text in brackets is not broken.
func synopsis(text string, width int) string {
	const space = "\x00" // within brackets
	depth := 0
	kept := strings.Map(func(r rune) rune {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == ' ' && depth > 0:
			return rune(space[0])
		}
		return r
	}, strings.Join(strings.Fields(text), " "))
	below := indent
	if words := strings.SplitN(kept, " ", 4); len(words) == 4 && width >= 80 {
		below = len(strings.Join(words[:3], " ")) + 1
	}
	return strings.ReplaceAll(render.Paragraph("", kept, below, width), space, " ")
}
