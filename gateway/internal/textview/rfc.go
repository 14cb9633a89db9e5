package textview

import (
	"fmt"
	"iter"
	"regexp"

	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/plaintext"
)

// An RFCPage is a page of an RFC, ready to be shown.
type RFCPage struct {
	Number int // 0 if it is not known
	First  bool
	Bits   iter.Seq[Bit]
}

// contents splits a line of the table of contents: its title is the link, neither the dots nor the
// number of the page.
var contents = regexp.MustCompile(`(?s)^(\s*)(.*?)((?:(?:\s*\.){2,}|\s{3,}).*)?$`)

// An rfcMaker makes the pages of an RFC.
type rfcMaker struct {
	*Page
	doc *plaintext.Document
}

// RFC are the pages of an RFC or an Internet-Draft.
func (p *Page) RFC(text string) iter.Seq[RFCPage] {
	m := rfcMaker{p, plaintext.ReadRFC(text)}
	return func(yield func(RFCPage) bool) {
		first := true
		for page := range m.doc.Pages() {
			if !yield(RFCPage{page.Number, first, m.bits(page.Parts)}) {
				return
			}
			first = false
		}
	}
}

// bits are the parts of a page in smaller parts.
func (m rfcMaker) bits(parts []plaintext.Part) iter.Seq[Bit] {
	return func(yield func(Bit) bool) {
		for _, part := range parts {
			for _, bit := range m.part(part) {
				if !yield(bit) {
					return
				}
			}
		}
	}
}

// part is a part of a page in smaller parts.
func (m rfcMaker) part(part plaintext.Part) []Bit {
	switch {
	case part.ID != "":
		return []Bit{{Text: m.Visible(part.Text), ID: part.ID, Bold: true}}
	case part.Section != "":
		found := contents.FindStringSubmatch(m.Visible(part.Text))
		return []Bit{{Text: found[1]}, {Text: found[2], Link: place.Link{}.Part(part.Section)}, {Text: found[3]}}
	}
	return m.mentions(part.Text)
}

// mentions are the parts of a text, in which URLs, sections and RFCs are links.
func (m rfcMaker) mentions(text string) []Bit {
	var bits []Bit
	for _, p := range m.Linked(text) {
		if !p.Link.Empty() {
			bits = append(bits, Bit{Text: p.Text, Link: p.Link})
			continue
		}
		plain := 0 // the beginning of what is not in bits yet
		for _, r := range m.doc.References(p.Text) {
			link := m.link(r)
			if link.Empty() {
				continue
			}
			bits = append(bits, Bit{Text: p.Text[plain:r.From]}, Bit{Text: p.Text[r.From:r.To], Link: link})
			plain = r.To
		}
		bits = append(bits, Bit{Text: p.Text[plain:]})
	}
	return bits
}

var rfcFile = regexp.MustCompile(`^(?i)(rfc)(0?)\d{1,5}(\.txt)$`)

// link is where a mention leads: a section of the document, or another RFC in its folder. Only the
// folder of an RFC is known to have others, with names like its own.
func (m rfcMaker) link(r plaintext.Reference) place.Link {
	link := place.Link{}
	if r.RFC != 0 {
		name := rfcFile.FindStringSubmatch(place.Name(m.Document))
		if name == nil {
			return link
		}
		digits := 1
		if name[2] != "" { // "rfc0822.txt"
			digits = 4
		}
		to, _ := place.Resolve(m.Document, fmt.Sprintf("%s%0*d%s", name[1], digits, r.RFC, name[3]))
		if link = m.LinkTo(to); link.Empty() {
			return link
		}
	}
	if r.Section == "" {
		return link
	}
	return link.Part(r.Section)
}
