package textview

import (
	"iter"

	"github.com/fetch1738/fetch1738/gateway/internal/markup"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
)

// A Block is a part of a text with markup, ready to be shown.
type Block struct {
	Kind     markup.Kind
	Level    int    // of a heading of the page
	ID       string // of a heading; no element of the page itself has it
	Number   int    // of the first item of a list
	Task     string // of an item: "open" or "done"
	Head     bool   // of a cell
	Align    string // of a cell
	Text     []Span
	Children []*Block
}

// A Span is a link, or text between links.
type Span struct {
	Link place.Link
	Runs []Run
}

// A Run is a part of a text in one style.
type Run struct {
	markup.Run
	Image place.Link // the octets of a picture; empty if it is not shown
}

// docID begins the IDs of headings of a document, so that no element of the page itself has them.
const docID = "doc-"

// maxPictures is how many pictures of a text are shown. The others are links.
const maxPictures = 50

// A proseMaker makes the blocks of a text.
type proseMaker struct {
	*Page
	below    int // the level of the heading above the text
	pictures int
}

// Prose are blocks ready to be shown, below a heading of a level.
func (p *Page) Prose(blocks iter.Seq[*markup.Block], below int) iter.Seq[*Block] {
	return func(yield func(*Block) bool) {
		m := &proseMaker{Page: p, below: below}
		for b := range blocks {
			if !yield(m.block(b)) {
				return
			}
		}
	}
}

func (m *proseMaker) block(b *markup.Block) *Block {
	made := &Block{Kind: b.Kind, Level: min(b.Level+m.below, 6), Number: b.Number, Task: b.Task, Head: b.Head, Align: b.Align}
	if b.ID != "" {
		made.ID = docID + b.ID
	}
	for _, s := range b.Text {
		m.span(made, s)
	}
	for _, child := range b.Children {
		made.Children = append(made.Children, m.block(child))
	}
	return made
}

// span adds a part of a text to a block.
func (m *proseMaker) span(to *Block, s markup.Span) {
	link := m.resolve(s.Target)
	for _, run := range s.Runs {
		shown, image := run, place.Link{}
		shown.Text = m.Visible(run.Text)
		switch {
		case run.Picture != "":
			var page place.Link
			if page, image = m.picture(run.Picture); s.Target == "" {
				to.add(page, Run{shown, image})
				continue
			}
		case s.Target == "":
			for _, p := range m.Linked(run.Text) {
				shown.Text = p.Text
				to.add(p.Link, Run{Run: shown})
			}
			if !run.Break {
				continue
			}
		}
		to.add(link, Run{shown, image})
	}
	if s.Target != "" && link.Empty() { // then the reader sees at least where it leads
		to.add(link, Run{Run: markup.Run{Text: " (" + m.Visible(s.Target) + ")"}})
	}
}

// add adds a run to a block.
func (b *Block) add(link place.Link, run Run) {
	if n := len(b.Text); n > 0 && b.Text[n-1].Link == link {
		b.Text[n-1].Runs = append(b.Text[n-1].Runs, run)
		return
	}
	b.Text = append(b.Text, Span{link, []Run{run}})
}

// resolve is the link to a target in the document. It is empty if that has no page.
func (m *proseMaker) resolve(target string) place.Link {
	if target == "" {
		return place.Link{}
	}
	to, fragment := place.Resolve(m.Document, target)
	link := m.LinkTo(to)
	_, web := to.(*locator.HTTP)
	switch {
	case fragment == "" || link.Empty() && target[0] != '#':
		return link
	case web:
		return link.Part(fragment)
	}
	return link.Part(docID + fragment)
}

// picture is the page of a picture, and its octets if the page of the document may show them: only
// those that are on the same server, because the browser fetches them without a click.
func (m *proseMaker) picture(target string) (page, image place.Link) {
	to, _ := place.Resolve(m.Document, target)
	page = m.LinkTo(to)
	if to == nil || page.Empty() || !m.IsPicture(to) {
		return page, image
	}
	if m.pictures++; !locator.SameServer(m.Document, to) || m.pictures > maxPictures {
		return page, image
	}
	return page, page.With("raw")
}
