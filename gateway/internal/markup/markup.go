// Package markup reads texts in Markdown and in gemtext as a tree of blocks and spans, which a template
// of the gateway shows. It makes no HTML: tags in a text are text, and html/template escapes all of it.
package markup

// A Kind is what a Block is.
type Kind string

// The kinds of blocks.
const (
	Heading   Kind = "heading"
	Paragraph Kind = "paragraph"
	Line      Kind = "line"    // a paragraph without space around it
	Code      Kind = "code"    // lines as they are
	Quote     Kind = "quote"   // has Children
	List      Kind = "list"    // of Items
	Ordered   Kind = "ordered" // likewise, with numbers
	Item      Kind = "item"    // has Children
	Rule      Kind = "rule"    // a line between parts of the text
	Space     Kind = "space"   // an empty line
	Table     Kind = "table"   // of Rows
	Row       Kind = "row"     // of Cells
	Cell      Kind = "cell"
)

// A Block is a part of a text.
type Block struct {
	Kind     Kind
	Level    int    // of a Heading: 1 to 6
	ID       string // of a Heading: no other one has it
	Number   int    // of the first Item of an Ordered list
	Task     string // of an Item: "open" or "done"; empty if it is no task
	Head     bool   // of a Cell
	Align    string // of a Cell: "left", "center" or "right"; empty if it does not say
	Text     []Span // of a Heading, Paragraph, Line, Code and Cell
	Children []*Block
}

// A Span is a part of the text of a block: a link, or text between links.
type Span struct {
	Target string // of the link, as it is written; empty for other text
	Runs   []Run
}

// A Run is a part of a Span in one style.
type Run struct {
	Text    string // of a picture: its description
	Strong  bool
	Emph    bool
	Strike  bool
	Code    bool
	Break   bool   // the line ends here; there is no Text
	Picture string // where it is; empty for text
}
