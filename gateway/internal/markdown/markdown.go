// Package markdown splits texts in Markdown into blocks and links, so that they can be shown as
// texts that read well: joined lines, headings, code as it is. It makes no HTML, and leaves all
// marks within a line except those of links as they are.
package markdown

import (
	"iter"
	"math"
	"strings"
)

// A Kind is what a Block is.
type Kind string

// The kinds of blocks.
const (
	Paragraph Kind = "paragraph" // lines that are joined
	Heading   Kind = "heading"
	Item      Kind = "item"  // the first paragraph of an item of a list
	Quote     Kind = "quote" // without the ">" before its lines
	Code      Kind = "code"  // also a table: its lines are not joined
	Rule      Kind = "rule"  // a line between parts of the text
)

// A Block is a part of a text.
type Block struct {
	Kind  Kind
	Depth int    // of an Item, or what is in one: 1 to 3; otherwise 0
	Mark  string // of an Item, such as "-" or "2."
	Text  string
}

// maxBlock is the size from which on a block is split, so that a reader of blocks needs little
// memory.
const maxBlock = 64 << 10

// Blocks are the blocks of a text, whose lines have no line ends. It reads lines as far as the
// sequence is used.
func Blocks(lines iter.Seq[string]) iter.Seq[Block] {
	return func(yield func(Block) bool) {
		p := parser{yield: yield}
		for line := range lines {
			p.line(strings.TrimRight(line, "\r"))
			if p.stopped {
				return
			}
		}
		p.end()
	}
}

// A parser has what the lines so far say about the next one.
type parser struct {
	yield   func(Block) bool
	stopped bool
	block   Block // that which lines are added to, if it has a Kind
	text    strings.Builder
	fence   string // that of a block of code, which another one ends
	indent  int    // of the lines of the code, or more
	lists   []int  // the indents of the items around the next line
}

// end ends the block, if there is one.
func (p *parser) end() {
	if p.block.Kind != "" && !p.stopped {
		p.block.Text = p.text.String()
		p.stopped = !p.yield(p.block)
	}
	p.block = Block{}
	p.text.Reset()
}

// begin begins a block. It is in a list only if it is an item or has an indent.
func (p *parser) begin(b Block, indent int) {
	p.end()
	if b.Kind != Item && indent < 2 {
		p.lists = nil
	}
	b.Depth = min(len(p.lists), 3)
	p.block = b
	p.text.WriteString(b.Text)
}

// add adds a line to the block.
func (p *parser) add(line, separator string) {
	if p.text.Len() > maxBlock {
		p.begin(Block{Kind: p.block.Kind}, 2)
	}
	if p.text.Len() > 0 {
		p.text.WriteString(separator)
	}
	p.text.WriteString(line)
}

func (p *parser) line(line string) {
	text := strings.TrimSpace(line)
	indent := indentOf(line)
	if p.fence != "" {
		if strings.HasPrefix(text, p.fence) && strings.Trim(text, p.fence[:1]) == "" {
			p.fence = ""
			p.end()
			return
		}
		p.add(cutIndent(line, p.indent), "\n")
		return
	}
	switch {
	case text == "":
		p.end()
	case fenceOf(text) != "":
		p.fence, p.indent = fenceOf(text), indent
		p.begin(Block{Kind: Code}, indent)
	case p.underlined(text):
		p.block.Kind = Heading
		p.end()
	case headingOf(text) > 0:
		p.begin(Block{Kind: Heading, Text: strings.TrimSpace(strings.Trim(text, "#"))}, 0)
		p.end()
	case isRule(text):
		p.begin(Block{Kind: Rule}, 0)
		p.end()
	case p.block.Kind == Code && indent >= p.indent:
		p.add(cutIndent(line, p.indent), "\n")
	case p.block.Kind == "" && indent >= p.inner()+4:
		p.indent = p.inner() + 4
		p.begin(Block{Kind: Code, Text: cutIndent(line, p.indent)}, indent)
	case text[0] == '|':
		if p.block.Kind != Code {
			p.begin(Block{Kind: Code}, indent)
			p.indent = math.MaxInt // the table ends with its rows
		}
		p.add(text, "\n")
	case markOf(text) != "":
		p.item(text, indent)
	case text[0] == '>':
		if p.block.Kind != Quote {
			p.begin(Block{Kind: Quote}, indent)
		}
		p.add(strings.TrimSpace(strings.TrimLeft(text, ">")), " ")
	default:
		p.paragraph(line, text, indent)
	}
}

// paragraph adds a line to a paragraph, an item or a quotation, or begins a paragraph.
func (p *parser) paragraph(line, text string, indent int) {
	switch p.block.Kind {
	case Paragraph, Item, Quote:
	default:
		p.begin(Block{Kind: Paragraph}, indent)
	}
	p.add(strings.TrimSuffix(text, "\\"), " ")
	if strings.HasSuffix(line, "  ") || strings.HasSuffix(text, "\\") { // a line that ends here
		p.text.WriteString("\n")
	}
}

// item begins an item of a list.
func (p *parser) item(text string, indent int) {
	for len(p.lists) > 0 && p.lists[len(p.lists)-1] >= indent {
		p.lists = p.lists[:len(p.lists)-1]
	}
	p.lists = append(p.lists, indent)
	mark := markOf(text)
	p.begin(Block{Kind: Item, Mark: mark, Text: strings.TrimSpace(text[len(mark):])}, indent)
}

// inner is the least indent of the text in the innermost item.
func (p *parser) inner() int {
	if len(p.lists) == 0 {
		return 0
	}
	return p.lists[len(p.lists)-1] + 2
}

// underlined reports whether a line makes the paragraph before it a heading.
func (p *parser) underlined(text string) bool {
	return p.block.Kind == Paragraph && len(text) > 1 && (strings.Trim(text, "=") == "" || strings.Trim(text, "-") == "")
}

// headingOf is the level of a heading; 0 for any other line.
func headingOf(text string) int {
	level := len(text) - len(strings.TrimLeft(text, "#"))
	if level > 6 || strings.Trim(text, "# ") == "" || text[level] != ' ' {
		return 0
	}
	return level
}

// isRule reports whether a line is three or more of the same mark.
func isRule(text string) bool {
	text = strings.ReplaceAll(text, " ", "")
	return len(text) >= 3 && (text[0] == '-' || text[0] == '*' || text[0] == '_') && strings.Trim(text, text[:1]) == ""
}

// fenceOf is the fence at the beginning of a line, or empty.
func fenceOf(text string) string {
	n := len(text) - len(strings.TrimLeft(text, text[:1]))
	if n < 3 || text[0] != '`' && text[0] != '~' || text[0] == '`' && strings.Contains(text[n:], "`") {
		return ""
	}
	return text[:n]
}

// markOf is the mark of an item of a list at the beginning of a line, or empty.
func markOf(text string) string {
	mark, _, ok := strings.Cut(text, " ")
	switch {
	case !ok:
		return ""
	case mark == "-", mark == "*", mark == "+":
		return mark
	case len(mark) < 2 || len(mark) > 10 || mark[len(mark)-1] != '.' && mark[len(mark)-1] != ')' || strings.Trim(mark[:len(mark)-1], "0123456789") != "":
		return ""
	}
	return mark
}

// indentOf is the number of columns before a text.
func indentOf(line string) int {
	columns := 0
	for _, c := range []byte(line) {
		switch c {
		case ' ':
			columns++
		case '\t':
			columns += 4 - columns%4
		default:
			return columns
		}
	}
	return columns
}

// cutIndent is a line without its first columns, as far as they are empty.
func cutIndent(line string, columns int) string {
	for columns > 0 && line != "" {
		switch line[0] {
		case ' ':
			columns--
		case '\t':
			columns -= 4
		default:
			return line
		}
		line = line[1:]
	}
	return line
}

// A Span is a part of the text of a block.
type Span struct {
	Text   string
	Target string // of a link; empty for other text
	Source string // a link as it was written
}

// maxTarget is the length of the longest target of a link, with its title.
const maxTarget = 4 << 10

// Spans splits the text of a block at its links, "[text](target)". A picture is a link to it, or to
// the target of the link that it is the text of.
func Spans(text string) []Span {
	var spans []Span
	plain := 0 // the beginning of what is not in spans yet
	open := -1 // the last "["
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			open = i
		case ']':
			begin := open
			open = -1
			target, size := targetOf(text[i+1:])
			if begin < 0 || begin+1 == i || target == "" {
				continue
			}
			words, end := text[begin+1:i], i+1+size
			if begin > plain && text[begin-1] == '!' {
				begin--
			}
			if begin > plain && text[begin-1] == '[' && end < len(text) && text[end] == ']' {
				if outer, size := targetOf(text[end+1:]); outer != "" {
					begin, end, target = begin-1, end+1+size, outer
				}
			}
			if plain < begin {
				spans = append(spans, Span{Text: text[plain:begin]})
			}
			spans = append(spans, Span{words, target, text[begin:end]})
			plain, i = end, end-1
		}
	}
	if plain < len(text) {
		spans = append(spans, Span{Text: text[plain:]})
	}
	return spans
}

// targetOf is the target in brackets at the beginning of a text, without its title, and the size of
// it all.
func targetOf(text string) (target string, size int) {
	if text == "" || text[0] != '(' {
		return "", 0
	}
	end := strings.IndexByte(text[:min(len(text), maxTarget)], ')')
	if end < 0 {
		return "", 0
	}
	target, _, _ = strings.Cut(strings.TrimSpace(text[1:end]), " ")
	return strings.Trim(target, "<>"), end + 1
}
