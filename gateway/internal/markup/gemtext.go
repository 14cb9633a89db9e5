package markup

import (
	"iter"
	"strings"
)

// maxGroup is how many lines Gemtext joins to one block.
const maxGroup = 1000

// Gemtext reads a text in gemtext, whose lines have no line ends. A line means the same wherever it
// stands, except between two lines "```", so it reads lines as far as the sequence is used.
func Gemtext(lines iter.Seq[string]) iter.Seq[*Block] {
	return func(yield func(*Block) bool) {
		var group *Block // of lines of one kind
		n, code := 0, false
		flush := func() bool {
			done := group
			group, n = nil, 0
			return done == nil || yield(done)
		}
		for line := range lines {
			line = strings.TrimSuffix(line, "\r")
			if strings.HasPrefix(line, "```") {
				if code = !code; !flush() {
					return
				}
				if code {
					group = &Block{Kind: Code}
				}
				continue
			}
			var b *Block
			if code {
				b = &Block{Kind: Code, Text: words(line + "\n")}
			} else {
				b = gemtextLine(line)
			}
			if n++; group == nil || group.Kind != b.Kind || n > maxGroup {
				if !flush() {
					return
				}
			}
			if group == nil {
				if !code && !joins(b.Kind) {
					if !yield(b) {
						return
					}
					continue
				}
				group = b
				continue
			}
			group.Text = append(group.Text, b.Text...)
			group.Children = append(group.Children, b.Children...)
		}
		flush()
	}
}

// joins reports whether several lines of a kind are one block.
func joins(kind Kind) bool { return kind == List || kind == Quote || kind == Code || kind == Space }

// gemtextLine is a line that is not preformatted.
func gemtextLine(line string) *Block {
	level := 0
	for level < 3 && strings.HasPrefix(line[level:], "#") {
		level++
	}
	switch {
	case level > 0:
		return &Block{Kind: Heading, Level: level, Text: words(strings.TrimSpace(line[level:]))}
	case strings.HasPrefix(line, "=>"):
		target, text := cutSpace(strings.TrimSpace(line[2:]))
		if target == "" {
			break
		}
		if text == "" {
			text = target
		}
		return &Block{Kind: Line, Text: []Span{{Target: target, Runs: []Run{{Text: text}}}}}
	case strings.HasPrefix(line, "* "):
		return &Block{Kind: List, Children: []*Block{{Kind: Item, Children: []*Block{{Kind: Line, Text: words(line[2:])}}}}}
	case strings.HasPrefix(line, ">"):
		return &Block{Kind: Quote, Children: []*Block{{Kind: Line, Text: words(strings.TrimSpace(line[1:]))}}}
	case strings.TrimSpace(line) == "":
		return &Block{Kind: Space}
	}
	return &Block{Kind: Line, Text: words(line)}
}

// cutSpace cuts a text at its first space or tab.
func cutSpace(text string) (before, after string) {
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i], strings.TrimSpace(text[i:])
	}
	return text, ""
}

// words are a text without links.
func words(text string) []Span {
	return []Span{{Runs: []Run{{Text: text}}}}
}
