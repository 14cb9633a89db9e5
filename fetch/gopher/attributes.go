package gopher

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/codec/menu"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// Attributes are the Gopher+ attributes of an item: the response to "!", or an item's part of the
// answer to "$".
type Attributes struct {
	// Descriptor is the item's line in a menu ("+INFO").
	Descriptor string
	// Admin is the administrator of the item: "Name <address>".
	Admin string
	// ModTime is when the item was last modified. The server's clock is assumed to be UTC. The zero
	// value means that the server does not send it.
	ModTime time.Time
	// Details are the other lines of the administrative block, such as TTL or Author, or the Org
	// and Geog of a site.
	Details []fetch.Field
	// Abstract is a text of one or more lines.
	Abstract string
	// Views are the representations of the item. The first is the preferred one.
	Views []View
	// Ask is the form that must be filled in to get the item; nil if there is no form.
	Ask *Form
	// Other holds all other blocks, unchanged.
	Other []Block

	header []fetch.Field // all blocks
}

// A Block is one attribute of an item.
type Block struct {
	// Name is the name without the "+", such as "KEYWORDS".
	Name string
	// Lines are the lines of the block. The first may be a menu line that says where the value is.
	Lines []string
}

// isReference reports whether a line of a block is a menu line that says where the attribute is.
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

// parseDate parses "any text <YYYYMMDDhhmmss>". It returns the zero Time if there is no such date.
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

// AttributesOf parses the Gopher+ attributes in the Header of a [fetch.Attributes] or [fetch.Item].
// It returns nil if there are no such attributes.
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

// blockFields returns blocks as header fields, one for each line.
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

// apply copies the attributes to those of an item. The size is that of the preferred view, which
// servers round.
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
	bound int    // maximum bytes of an item; 0 means no limit
	first *Block // the "+INFO" that ended the previous item
	err   error
}

// all yields the blocks of each item.
func (s *attributeScanner) all(yield func([]Block, error) bool) {
	for {
		blocks, err := s.next()
		if err == io.EOF || !yield(blocks, err) || err != nil {
			return
		}
	}
}

// next returns the blocks of the next item, or io.EOF after the last one. Blocks before the first
// "+INFO" form an item too.
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

// blockStart parses a line that begins a block: "+NAME", "+NAME:" or "+NAME: value". The colon
// after "+INFO" may be missing (gopherd 2.3).
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

// blockOctet reports whether c may be part of the name of a block.
func blockOctet(c byte) bool {
	return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}
