package browse

import (
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/locator"
)

// parser reads the URLs in documents.
var parser = locator.Parser{Tolerate: locator.TolerateUsual}

// formatText returns the lines of a text, with a number before each URL.
func (p *page) formatText() []string {
	var marked strings.Builder
	rest := p.text
	for ref := range parser.Extract(p.text) {
		at := strings.Index(rest, ref.Text)
		if len(p.links) >= maxLinks {
			break
		}
		if _, unknown := ref.Locator.(*locator.Opaque); unknown || at < 0 {
			continue
		}
		n := p.add(link{name: stdio.Line(ref.Redacted()), to: ref.Locator})
		marked.WriteString(rest[:at] + mark(n) + ref.Text)
		rest = rest[at+len(ref.Text):]
	}
	return safeLines(marked.String() + rest)
}

// mark returns what stands before a link in a text.
func mark(n int) string { return "[" + strconv.Itoa(n) + "]" }

// safeLines splits a text into lines that are safe to show.
func safeLines(text string) []string {
	text = strings.TrimRight(term.Safe(text), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
