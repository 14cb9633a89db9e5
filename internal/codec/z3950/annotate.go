package z3950

import (
	"fmt"
	"strconv"
	"strings"
)

// A Line is one line of an annotated message: some of its octets and their meaning.
type Line struct {
	Offset int    // of Octets, from the start of the message
	Octets []byte // empty in the line that ends a long annotation
	Depth  int    // nesting depth of the element
	Text   string
}

// String returns a text such as "0000e8  63 12                       99 UserInformation, 18 bytes".
func (l Line) String() string {
	const shown = 8
	hex := fmt.Sprintf("% x", l.Octets[:min(len(l.Octets), shown)])
	if len(l.Octets) > shown {
		hex += " ..."
	}
	return fmt.Sprintf("%06x  %-29s%s%s", l.Offset, hex, strings.Repeat("  ", l.Depth), l.Text)
}

// maxAnnotated is the maximum number of lines about one message.
const maxAnnotated = 500

// Annotate explains a message octet by octet. It returns nil for data that does not begin with the
// header of a WAIS message. A malformed message is explained as far as it can be decoded.
func Annotate(message []byte) []Line {
	h, err := ParseHeader(message)
	if err != nil {
		return nil
	}
	a := &annotator{message: message}
	a.add(0, HeaderSize, 0, fmt.Sprintf("header: %d bytes of type %q, version %q, server %q", h.Length, h.Type, h.Version, h.Server))
	if len(message) == HeaderSize {
		return a.lines
	}
	if err := a.pdu(cursor{message[HeaderSize:], HeaderSize}); err != nil {
		a.add(a.done, len(message)-a.done, 0, err.Error())
	}
	return a.lines
}

// annotator collects lines. Cursors count from the start of the message.
type annotator struct {
	message []byte
	lines   []Line
	done    int // number of octets explained so far
}

// add explains the next n octets from at.
func (a *annotator) add(at, n, depth int, text string) {
	a.done = at + n
	switch len(a.lines) {
	case maxAnnotated:
		return
	case maxAnnotated - 1:
		n, text = 0, fmt.Sprintf("... and so on, to byte %06x", len(a.message))
	}
	a.lines = append(a.lines, Line{at, a.message[at : at+n], depth, text})
}

// pdu explains the PDU at the cursor.
func (a *annotator) pdu(c cursor) error {
	start := c.at
	n, err := c.fixed(2)
	if err != nil {
		return err
	}
	if n < 1 || int(n) > len(c.b) {
		return c.fail("a PDU of %d bytes, but only %d are left", n, len(c.b))
	}
	head := cursor{c.skip(int(n)), start + 2}
	typ := Type(head.skip(1)[0])
	a.add(start, 3, 0, fmt.Sprintf("%v, %d bytes", typ, n))
	switch typ {
	case TypeInit:
	case TypeInitResponse:
		err = a.fixed(&head, []int{1}, "result %d")
	case TypeSearch:
		err = a.fixed(&head, []int{3, 3, 3, 1}, "SmallSetUpperBound %d, LargeSetLowerBound %d, MediumSetPresentNumber %d, Replace %d")
	case TypeSearchResponse:
		err = a.fixed(&head, []int{1, 3, 3, 3}, "SearchStatus %d, ResultCount %d, RecordsReturned %d, NextPosition %d")
	default:
		a.add(head.at, len(head.b)+len(c.b), 1, "not used by WAIS")
		return nil
	}
	if err != nil {
		return err
	}
	if err := a.elements(head, 1); err != nil {
		return err
	}
	return a.elements(c, 1)
}

// fixed explains integers of fixed sizes.
func (a *annotator) fixed(c *cursor, sizes []int, format string) error {
	at := c.at
	var values []any
	for _, size := range sizes {
		v, err := c.fixed(size)
		if err != nil {
			return err
		}
		values = append(values, v)
	}
	a.add(at, c.at-at, 1, fmt.Sprintf(format, values...))
	return nil
}

// elements explains elements and the elements inside them.
func (a *annotator) elements(c cursor, depth int) error {
	if depth > maxDepth {
		return c.fail("elements nested more than %d deep", maxDepth)
	}
	for len(c.b) > 0 && len(a.lines) < maxAnnotated {
		at := c.at
		e, err := c.element()
		if err != nil {
			return err
		}
		f := infoOf(e.tag)
		if f.form == docID && isDocID(e.value) {
			f.form = group
		}
		if f.form != group {
			a.add(at, c.at-at, depth, annotation(e, f))
			continue
		}
		a.add(at, e.at-at, depth, fmt.Sprintf("%v, %d bytes", e.tag, len(e.value)))
		inside := cursor{e.value, e.at}
		if infoOf(e.tag).form == docID {
			a.docID(inside, depth+1)
		} else if err := a.elements(inside, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func isDocID(b []byte) bool {
	_, ok := ParseDocID(b)
	return ok
}

// docID explains a document-id. Its parts have their own set of tags.
func (a *annotator) docID(c cursor, depth int) {
	names := [...]string{"", "original server", "original database", "original id", "distributor server", "distributor database", "distributor id", "copyright"}
	for len(c.b) > 0 {
		at := c.at
		e, err := c.element()
		if err != nil {
			return
		}
		a.add(at, c.at-at, depth, fmt.Sprintf("%d %s %s", e.tag, names[e.tag], quoted(e.value)))
	}
}

// annotation returns the tag and value of an element as text.
func annotation(e element, f tagInfo) string {
	switch {
	case e.tag == TagDiagnostic:
		d := diagnosticOf(e)
		return fmt.Sprintf("%v %s (%s) %s", e.tag, quoted([]byte(d.Code)), d.Meaning(), quoted([]byte(d.Text)))
	case f.form == number && len(e.value) <= 4:
		return fmt.Sprintf("%v %d", e.tag, e.uint())
	case f.form == bits:
		return fmt.Sprintf("%v %s", e.tag, strings.Trim(fmt.Sprintf("%08b", e.value), "[]"))
	}
	return fmt.Sprintf("%v %s", e.tag, quoted(e.value))
}

// quoted returns octets as quoted text, truncated to fit a line.
func quoted(b []byte) string {
	const most = 48
	if len(b) <= most {
		return strconv.QuoteToASCII(string(b))
	}
	return fmt.Sprintf("%s... %d bytes", strconv.QuoteToASCII(string(b[:most])), len(b))
}

// Summary returns a short description of a message, such as `Search "stories" for "lighthouse"`.
func Summary(message []byte) string {
	h, err := ParseHeader(message)
	if err != nil {
		return quoted(message)
	}
	if len(message) == HeaderSize {
		return fmt.Sprintf("empty message of type %q", h.Type)
	}
	p, err := Decode(message[HeaderSize:])
	if err != nil {
		return err.Error()
	}
	switch p := p.(type) {
	case *Init:
		return fmt.Sprintf("Init %d", p.MaximumRecordSize)
	case *InitResponse:
		return fmt.Sprintf("InitResponse %d, accepted: %t", p.MaximumRecordSize, p.Accepted)
	case *Search:
		return p.summary()
	case *SearchResponse:
		return p.summary()
	}
	return p.Type().String()
}

func (p *Search) summary() string {
	if p.Words != nil {
		text := fmt.Sprintf("Search %q for %q", p.DatabaseNames, p.Words.Seed)
		if n := len(p.Words.Like); n > 0 {
			text += " like " + plural(n, "document")
		}
		return text + fmt.Sprintf(", at most %d", p.Words.Max.Value)
	}
	text := fmt.Sprintf("Retrieve from %q", p.DatabaseNames)
	for _, t := range p.Query {
		if t.Operator != "" {
			continue
		}
		value := quoted(t.Term)
		if id, ok := ParseDocID(t.Term); ok {
			value = quoted([]byte(id.OriginalID))
		}
		text += fmt.Sprintf(" %s %s %s", t.Attribute(0), t.Attribute(1), value)
	}
	return text
}

// plural returns a text such as "1 header" or "2 headers".
func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func (p *SearchResponse) summary() string {
	headers, texts, length := 0, 0, 0
	for r := range p.Documents() {
		if r.Group == TagDocumentTextGroup {
			texts++
			length += len(r.Text)
		} else {
			headers++
		}
	}
	var parts []string
	if headers > 0 {
		parts = append(parts, plural(headers, "header"))
	}
	if texts > 0 {
		parts = append(parts, fmt.Sprintf("%d bytes of text", length))
	}
	for d := range p.Diagnostics() {
		parts = append(parts, fmt.Sprintf("%q %q", d.Code, d.Text))
		if len(parts) == 10 {
			break
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "nothing")
	}
	return "SearchResponse: " + strings.Join(parts, ", ")
}
