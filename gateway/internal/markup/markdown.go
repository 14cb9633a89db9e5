package markup

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"

	// goldmark parses Markdown as CommonMark defines it, with the tables of GitHub: a parser of our own
	// for all of that would be as long. Hostile texts make it quadratic, so each of its parsers pays for
	// what it may look at: see meter. Its renderer is not used: html/template escapes what is shown.
	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// The limits of a text in Markdown. What is beyond them is read as plain text, in constant memory.
const (
	MaxSize  = 256 << 10 // bytes
	maxLines = 10_000
)

// Markdown reads a text in Markdown. It reports whether the text is within the limits, which keep the time below a
// constant.
func Markdown(source string) (blocks []*Block, ok bool) {
	if len(source) > MaxSize || strings.Count(source, "\n") > maxLines {
		return nil, false
	}
	r := reader{source: []byte(source), ids: make(map[string]int)}
	m := &meter{left: maxWork}
	root := newParser(m).Parse(text.NewReader(r.source))
	if m.left < 0 {
		return nil, false
	}
	return r.blocks(root), true
}

// A reader makes blocks of the tree of goldmark.
type reader struct {
	source []byte
	ids    map[string]int // of headings, with the number of the next one that is alike
}

// blocks are the children of a node.
func (r *reader) blocks(parent ast.Node) []*Block {
	var blocks []*Block
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if b := r.block(n); b != nil {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// block is a node as a block. It is nil for what is not shown: the definition of a reference.
func (r *reader) block(n ast.Node) *Block {
	switch n := n.(type) {
	case *ast.Heading:
		b := &Block{Kind: Heading, Level: n.Level, Text: r.text(n)}
		b.ID = r.id(b.Text)
		return b
	case *ast.Paragraph:
		return &Block{Kind: Paragraph, Text: r.text(n)}
	case *ast.TextBlock:
		return &Block{Kind: Line, Text: r.text(n)}
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return &Block{Kind: Code, Text: []Span{{Runs: []Run{{Text: r.lines(n)}}}}}
	case *ast.Blockquote:
		return &Block{Kind: Quote, Children: r.blocks(n)}
	case *ast.List:
		if n.IsOrdered() {
			return &Block{Kind: Ordered, Number: n.Start, Children: r.blocks(n)}
		}
		return &Block{Kind: List, Children: r.blocks(n)}
	case *ast.ListItem:
		return &Block{Kind: Item, Task: taskOf(n), Children: r.blocks(n)}
	case *ast.ThematicBreak:
		return &Block{Kind: Rule}
	case *extension.Table:
		return &Block{Kind: Table, Children: r.blocks(n)}
	case *extension.TableHeader:
		return &Block{Kind: Row, Head: true, Children: r.cells(n, true)}
	case *extension.TableRow:
		return &Block{Kind: Row, Children: r.cells(n, false)}
	}
	return nil
}

// cells are the cells of a row.
func (r *reader) cells(row ast.Node, head bool) []*Block {
	var cells []*Block
	for n := row.FirstChild(); n != nil; n = n.NextSibling() {
		cell := &Block{Kind: Cell, Head: head, Text: r.text(n)}
		if c, ok := n.(*extension.TableCell); ok && c.Alignment != extension.AlignNone {
			cell.Align = c.Alignment.String()
		}
		cells = append(cells, cell)
	}
	return cells
}

// lines are the lines of a block of code.
func (r *reader) lines(n ast.Node) string {
	var b bytes.Buffer
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(r.source))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// taskOf says whether an item of a list is a task, and done.
func taskOf(item ast.Node) string {
	if first := item.FirstChild(); first != nil {
		if box, ok := first.FirstChild().(*extension.TaskCheckBox); ok {
			if box.IsChecked {
				return "done"
			}
			return "open"
		}
	}
	return ""
}

// id is the name of a heading, as GitHub makes it: in lower case, with hyphens for spaces, without
// marks. A heading that has the name of another one gets a number behind it.
func (r *reader) id(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		for _, run := range s.Runs {
			b.WriteString(run.Text)
		}
	}
	id := strings.Map(func(c rune) rune {
		switch {
		case unicode.IsLetter(c), unicode.IsDigit(c), c == '-', c == '_':
			return unicode.ToLower(c)
		case c == ' ':
			return '-'
		}
		return -1
	}, b.String())
	name := id
	for taken := id == ""; taken || r.ids[name] > 0; taken = false {
		name = id + "-" + strconv.Itoa(r.ids[id])
		r.ids[id]++
	}
	r.ids[name]++
	return name
}
