package markup

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	extended "github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

const (
	maxWork    = 32 << 20 // octets and marks that all parsers may look at
	maxNesting = 8        // quotes and lists within each other
	workOfCell = 1000     // the memory of a cell of a table, which may be empty
)

// A meter counts what the parsers of goldmark may look at: for each mark of emphasis the marks before
// it, for each bracket the whole block. When it is used up, the marks in the rest of the text are
// letters, so that the time stays linear.
type meter struct {
	left  int
	block ast.Node // in which marks are counted
	marks int
}

// pay reports whether there is enough left.
func (m *meter) pay(work int) bool {
	if m.left >= 0 {
		m.left -= work
	}
	return m.left >= 0
}

// newParser returns goldmark's parser with its work metered. It does not read HTML, and finds no URLs
// in text, as package gateway does that for all texts.
func newParser(m *meter) parser.Parser {
	inline := func(p parser.InlineParser, priority int) util.PrioritizedValue {
		return util.Prioritized(meteredInline{p, m}, priority)
	}
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(nested{parser.NewListParser()}, 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(nested{parser.NewBlockquoteParser()}, 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			inline(extended.NewTaskCheckBoxParser(), 0),
			inline(parser.NewCodeSpanParser(), 100),
			inline(parser.NewLinkParser(), 200),
			inline(parser.NewAutoLinkParser(), 300),
			inline(parser.NewEmphasisParser(), 500),
			inline(extended.NewStrikethroughParser(), 500),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(meteredReferences{parser.LinkReferenceParagraphTransformer, m}, 100),
			util.Prioritized(meteredTable{extended.NewTableParagraphTransformer(), m}, 200),
		),
	)
}

// meteredInline is a parser of what is in lines.
type meteredInline struct {
	parser.InlineParser
	*meter
}

func (p meteredInline) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if p.block != parent {
		p.block, p.marks = parent, 0
	}
	work := 1 + p.marks
	switch block.Peek() {
	case ']', '`', '<', '[', '!':
		work += sizeOf(parent)
	}
	p.marks++
	if !p.pay(work) {
		return nil
	}
	return p.InlineParser.Parse(parent, block, pc)
}

// CloseBlock ends the links that are open at the end of a block.
func (p meteredInline) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if c, ok := p.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

// sizeOf is the size of a block in the text.
func sizeOf(block ast.Node) int {
	lines := block.Lines()
	if lines.Len() == 0 {
		return 0
	}
	return lines.At(lines.Len()-1).Stop - lines.At(0).Start
}

// nested is a parser of quotes or lists. What is nested too deep is text.
type nested struct{ parser.BlockParser }

func (p nested) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		if n.Kind() != ast.KindListItem {
			depth++
		}
	}
	if depth > maxNesting {
		return nil, parser.NoChildren
	}
	return p.BlockParser.Open(parent, reader, pc)
}

// meteredReferences finds the definitions of references. For each one it may look at the whole
// paragraph.
type meteredReferences struct {
	parser.ParagraphTransformer
	*meter
}

func (t meteredReferences) Transform(p *ast.Paragraph, reader text.Reader, pc parser.Context) {
	definitions := bytes.Count(paragraph(p, reader), []byte("]:"))
	if definitions > 0 && t.pay(definitions*sizeOf(p)) {
		t.ParagraphTransformer.Transform(p, reader, pc)
	}
}

// meteredTable makes tables of paragraphs. A row has as many cells as the first one.
type meteredTable struct {
	parser.ParagraphTransformer
	*meter
}

func (t meteredTable) Transform(p *ast.Paragraph, reader text.Reader, pc parser.Context) {
	columns, rules := 0, 0
	for i := range p.Lines().Len() {
		line := p.Lines().At(i)
		octets := line.Value(reader.Source())
		columns = max(columns, bytes.Count(octets, []byte("|"))+1)
		if len(bytes.Trim(octets, "-:| \t\r\n")) == 0 { // as below the first row
			rules++
		}
	}
	if rules > 0 && t.pay(columns*p.Lines().Len()*workOfCell) {
		t.ParagraphTransformer.Transform(p, reader, pc)
	}
}

// paragraph is the text of a paragraph, with what is between its lines.
func paragraph(p *ast.Paragraph, reader text.Reader) []byte {
	lines := p.Lines()
	if lines.Len() == 0 {
		return nil
	}
	return reader.Source()[lines.At(0).Start:lines.At(lines.Len()-1).Stop]
}
