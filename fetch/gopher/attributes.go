package gopher

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/menu"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// Attributes are what a Gopher+ server says about an item (the answer to "!",
// or a part of that to "$").
type Attributes struct {
	// Descriptor is the item's line in a menu ("+INFO").
	Descriptor string
	// Admin is who looks after the item: "Name <address>".
	Admin string
	// ModTime is when the item was last modified, by the server's clock, which is
	// taken for UTC; zero when it does not say.
	ModTime time.Time
	// Details are the lines of the administrative block besides these two, such as
	// TTL, Author, or a site's Org and Geog.
	Details []fetch.Field
	// Abstract is a text of one line or more.
	Abstract string
	// Views are the forms that the item is to be had in, the preferred one first.
	Views []View
	// Ask is the form to be filled in to get the item; nil when there is none.
	Ask *Form
	// Other has the blocks that are none of the above, as they are.
	Other []Block

	header []fetch.Field // all of it
}

// A Block is one attribute of an item.
type Block struct {
	// Name is such as "KEYWORDS", without the "+" before it.
	Name string
	// Lines are its lines. The first may be a menu line: where the value is.
	Lines []string
}

// isReference reports whether a line of a block is a menu line that says where
// the attribute is.
func isReference(line string) bool {
	if strings.Count(line, "\t") < 3 {
		return false
	}
	l := menu.Parse([]byte(line))
	return l.Link()
}

// parseAttributes reads the blocks of one item.
func parseAttributes(blocks []Block) *Attributes {
	a := &Attributes{header: blockFields(blocks)}
	for _, b := range blocks {
		switch strings.ToUpper(b.Name) {
		case "INFO":
			if len(b.Lines) > 0 && a.Descriptor == "" {
				a.Descriptor = b.Lines[0]
			}
		case "ADMIN":
			a.admin(b.Lines)
		case "ABSTRACT":
			if len(b.Lines) == 1 && isReference(b.Lines[0]) {
				a.Other = append(a.Other, b)
				continue
			}
			text := b.Lines
			if len(text) > 0 && isReference(text[0]) {
				text = text[1:]
			}
			a.Abstract = strings.Join(text, "\n")
		case "VIEWS":
			for _, line := range b.Lines {
				if v, ok := parseView(line); ok {
					a.Views = append(a.Views, v)
				}
			}
		case "ASK":
			a.Ask = parseForm(b.Lines)
		default:
			a.Other = append(a.Other, b)
		}
	}
	return a
}

// admin reads the lines of the administrative block.
func (a *Attributes) admin(lines []string) {
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case strings.EqualFold(name, "Admin") && a.Admin == "":
			a.Admin = value
		case strings.EqualFold(name, "Mod-Date") && a.ModTime.IsZero():
			a.ModTime = parseDate(value)
		case name != "":
			a.Details = append(a.Details, fetch.Field{Name: name, Value: value})
		}
	}
}

// parseDate reads "any text <YYYYMMDDhhmmss>"; zero if it is none.
func parseDate(s string) time.Time {
	i := strings.LastIndexByte(s, '<')
	end := strings.LastIndexByte(s, '>')
	if i < 0 || end < i {
		return time.Time{}
	}
	t, err := time.Parse("20060102150405", s[i+1:end])
	if err != nil {
		return time.Time{}
	}
	return t
}

// AttributesOf reads the Gopher+ attributes in the Header of a
// [fetch.Attributes] or [fetch.Item]; nil if it has none.
func AttributesOf(header []fetch.Field) *Attributes {
	var blocks []Block
	for _, f := range header {
		name, ok := strings.CutPrefix(f.Name, "+")
		switch last := len(blocks) - 1; {
		case !ok:
		case last >= 0 && blocks[last].Name == name && name != "INFO":
			blocks[last].Lines = append(blocks[last].Lines, f.Value)
		default:
			blocks = append(blocks, Block{Name: name, Lines: []string{f.Value}})
		}
	}
	if blocks == nil {
		return nil
	}
	return parseAttributes(blocks)
}

// blockFields are blocks as header fields, one for each line.
func blockFields(blocks []Block) []fetch.Field {
	var fields []fetch.Field
	for _, b := range blocks {
		if len(b.Lines) == 0 {
			fields = append(fields, fetch.Field{Name: "+" + b.Name})
		}
		for _, line := range b.Lines {
			fields = append(fields, fetch.Field{Name: "+" + b.Name, Value: line})
		}
	}
	return fields
}

// apply adds what the blocks say to what is known of an item. The size is that
// of the preferred view, which servers round.
func (a *Attributes) apply(to *fetch.Attributes) {
	to.ModTime = a.ModTime
	if len(a.Views) == 0 {
		return
	}
	to.MediaType, to.Guessed = strings.ToLower(a.Views[0].Type), false
	if v := a.Views[0]; v.Size > 0 || v.Exact {
		to.Size = v.Size
	}
}

// attributeScanner reads a list of attributes, item by item.
type attributeScanner struct {
	lines *wire.LineReader
	bound int    // on the octets of an item; 0 is none
	first *Block // the "+INFO" that ended the item before
	err   error
}

// all are the blocks of one item after the other.
func (s *attributeScanner) all(yield func([]Block, error) bool) {
	for {
		blocks, err := s.next()
		if err == io.EOF || !yield(blocks, err) || err != nil {
			return
		}
	}
}

// next is the blocks of the next item; io.EOF when there is none. What comes
// before the first "+INFO" is one too if it has any block.
func (s *attributeScanner) next() (blocks []Block, err error) {
	if s.first != nil {
		blocks, s.first = []Block{*s.first}, nil
	}
	octets := 0
	for s.err == nil {
		var line []byte
		if line, s.err = s.lines.ReadLine(); s.err != nil {
			break
		}
		if octets += len(line); s.bound > 0 && octets > s.bound {
			s.err = wire.ErrLineTooLong
			break
		}
		line = bytes.TrimRight(line, "\r\n")
		if string(line) == "." {
			s.err = io.EOF
			break
		}
		b, ok := blockStart(line)
		switch {
		case ok && b.Name == "INFO" && len(blocks) > 0:
			s.first = &b
			return blocks, nil
		case ok:
			blocks = append(blocks, b)
		case len(blocks) > 0:
			last := &blocks[len(blocks)-1]
			last.Lines = append(last.Lines, string(bytes.TrimPrefix(line, []byte(" "))))
		}
	}
	if len(blocks) > 0 && s.err == io.EOF {
		return blocks, nil
	}
	return nil, s.err
}

// blockStart reads a line that begins a block: "+NAME", "+NAME:" or "+NAME:
// value". The colon behind "+INFO" may be missing (gopherd 2.3).
func blockStart(line []byte) (b Block, ok bool) {
	if len(line) < 2 || line[0] != '+' {
		return b, false
	}
	end := 1 + slices.IndexFunc(append(line[1:len(line):len(line)], ':'), func(c byte) bool { return !blockOctet(c) })
	b.Name = string(line[1:end])
	rest := string(line[end:])
	switch {
	case b.Name == "":
		return b, false
	case rest == "":
		return b, true
	case rest[0] == ':':
		rest = rest[1:]
	case rest[0] != ' ' || b.Name != "INFO":
		return b, false
	}
	if rest = strings.TrimPrefix(rest, " "); strings.TrimSpace(rest) != "" {
		b.Lines = []string{rest}
	}
	return b, true
}

// blockOctet reports whether c may be in the name of a block.
func blockOctet(c byte) bool {
	return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}
