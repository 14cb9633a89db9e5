package browse

import (
	"html"
	"regexp"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/render"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/internal/hypertext"
	"github.com/fetch1738/fetch1738/locator"
)

// The parts of HTML that formatHTML reads. It needs no tree: a tag that is not closed, or of another
// kind, has no effect on the others.
var whiteSpace = regexp.MustCompile(`\s+`)

// What elements do: invisible ones have no text, blocks begin a line, wide blocks have an empty line
// before them.
const (
	invisible  = " script style noscript template svg select textarea title "
	blocks     = " br div tr li dt dd p h1 h2 h3 h4 h5 h6 ul ol dl table pre blockquote hr section article header footer nav main form "
	wideBlocks = " p h1 h2 h3 h4 h5 h6 ul ol dl table pre blockquote hr "
)

func isOne(of, name string) bool { return strings.Contains(of, " "+name+" ") }

// A formatter turns HTML into lines.
type formatter struct {
	page    *page
	columns int
	base    locator.Locator
	lines   []string
	line    strings.Builder
	pre     bool
	linked  int // where the text of a link begins in line; 0 for none
}

// formatHTML returns the text of a document in HTML, with a number before each link.
func (p *page) formatHTML(columns int) []string {
	f := &formatter{page: p, columns: min(columns, 80), base: p.at}
	for text := p.text; text != ""; {
		at := strings.IndexByte(text, '<')
		if at != 0 {
			if at < 0 {
				at = len(text)
			}
			f.text(text[:at])
			text = text[at:]
			continue
		}
		if strings.HasPrefix(text, "<!") || strings.HasPrefix(text, "<?") {
			end := ">"
			if strings.HasPrefix(text, "<!--") {
				end = "-->"
			}
			_, text, _ = strings.Cut(text, end)
			continue
		}
		name, closes, attributes, rest := hypertext.CutTag(text)
		if name == "" {
			f.text("<")
			text = text[1:]
			continue
		}
		text = rest
		if !closes && isOne(invisible, name) {
			text = hypertext.After(text, "</"+name)
		}
		f.tag(name, closes, attributes)
	}
	f.end(false)
	return f.lines
}

// text adds text without tags.
func (f *formatter) text(s string) {
	s = html.UnescapeString(s)
	if f.pre {
		f.line.WriteString(s)
		return
	}
	s = whiteSpace.ReplaceAllString(s, " ")
	if f.line.Len() == 0 {
		s = strings.TrimLeft(s, " ")
	}
	f.line.WriteString(s)
}

// tag handles a tag.
func (f *formatter) tag(name string, closes bool, attributes string) {
	if isOne(blocks, name) {
		f.end(isOne(wideBlocks, name))
	}
	switch {
	case name == "pre":
		f.pre = !closes
	case name == "a" && closes && f.linked > 0:
		if name := strings.TrimSpace(f.line.String()[f.linked:]); name != "" {
			f.page.links[len(f.page.links)-1].name = stdio.Line(name)
		}
		f.linked = 0
	case closes:
	case name == "li":
		f.line.WriteString("* ")
	case name == "base":
		if l := f.locator(hypertext.ValueOf(attributes, "href")); l != nil {
			f.base = l
		}
	case name == "a" || name == "area":
		f.link(hypertext.ValueOf(attributes, "href"))
	case name == "frame" || name == "iframe":
		f.end(false)
		f.link(hypertext.ValueOf(attributes, "src"))
		f.line.WriteString("frame " + hypertext.ValueOf(attributes, "name"))
		f.end(false)
	case name == "img":
		if alt := hypertext.ValueOf(attributes, "alt"); alt != "" {
			f.text("(" + html.EscapeString(alt) + ")")
		}
	}
}

// link adds a link to a URL, which may be relative.
func (f *formatter) link(ref string) {
	if len(f.page.links) >= maxLinks {
		return
	}
	if to := f.locator(ref); to != nil {
		f.line.WriteString(mark(f.page.add(link{name: stdio.Line(to.Redacted()), to: to})))
		f.linked = f.line.Len()
	}
}

// locator returns a URL in the document, or nil if there is no page for it.
func (f *formatter) locator(ref string) locator.Locator {
	if ref == "" || strings.HasPrefix(ref, "#") {
		return nil
	}
	l, err := hypertext.Resolve(f.base, ref)
	if _, unknown := l.(*locator.Opaque); err != nil || unknown {
		return nil
	}
	return l
}

// end ends a line, and adds an empty one.
func (f *formatter) end(empty bool) {
	text := f.line.String()
	f.line.Reset()
	f.linked = 0
	switch {
	case f.pre:
		f.lines = append(f.lines, safeLines(text)...)
	case strings.TrimSpace(text) != "":
		for _, line := range safeLines(text) {
			f.lines = append(f.lines, render.Fold(line, f.columns)...)
		}
	}
	if empty && len(f.lines) > 0 && f.lines[len(f.lines)-1] != "" {
		f.lines = append(f.lines, "")
	}
}
