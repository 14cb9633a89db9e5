package browse

import (
	"regexp"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/render"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/internal/text/hypertext"
	"github.com/fetch1738/fetch1738/locator"
)

var whiteSpace = regexp.MustCompile(`\s+`)

// What elements do: invisible ones have no text, blocks begin a line, wide blocks have an empty line
// before them, the space and the lines of verbatim ones are kept. A tag that is not closed, or of
// another kind, has no effect on the others.
const (
	invisible  = " script style noscript template svg select textarea title "
	blocks     = " br div tr li dt dd p h1 h2 h3 h4 h5 h6 ul ol dl table pre xmp listing plaintext blockquote hr section article header footer nav main form "
	wideBlocks = " p h1 h2 h3 h4 h5 h6 ul ol dl table pre xmp listing plaintext blockquote hr "
	verbatim   = " pre xmp listing plaintext "
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
	linked  int       // where the text of a link begins in line; 0 for none
	form    *htmlForm // nil outside of a form
}

// formatHTML returns the text of a document in HTML, with a number before each link.
func (p *page) formatHTML(columns int) []string {
	f := &formatter{page: p, columns: min(columns, 80), base: p.at}
	hidden := "" // the invisible element around the token
	for t := range hypertext.Tokens(p.text) {
		switch {
		case hidden != "" && (t.Name != hidden || t.Empty):
		case t.Name == "":
			f.text(t.Text)
		default:
			hidden = ""
			if !t.End && !t.Empty && isOne(invisible, t.Name) {
				hidden = t.Name
			}
			f.tag(&t)
		}
	}
	f.endForm()
	f.end(false)
	return f.lines
}

// text adds text without tags.
func (f *formatter) text(s string) {
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
func (f *formatter) tag(t *hypertext.Token) {
	if isOne(blocks, t.Name) {
		f.end(isOne(wideBlocks, t.Name))
	}
	switch {
	case isOne(verbatim, t.Name):
		f.pre = !t.End
	case t.Name == "a" && t.End && f.linked > 0:
		if name := strings.TrimSpace(f.line.String()[f.linked:]); name != "" {
			f.page.links[len(f.page.links)-1].name = stdio.Line(name)
		}
		f.linked = 0
	case t.Name == "form" && t.End:
		f.endForm()
	case t.End:
	case t.Name == "form":
		f.beginForm(t)
	case t.Name == "input" && f.form != nil:
		f.form.input(t)
	case t.Name == "li":
		f.line.WriteString("* ")
	case t.Name == "base":
		if l := f.locator(t.Value("href")); l != nil {
			f.base = l
		}
	case t.Name == "a" || t.Name == "area":
		f.link(t.Value("href"))
	case t.Name == "frame" || t.Name == "iframe":
		f.end(false)
		f.link(t.Value("src"))
		f.line.WriteString("frame " + t.Value("name"))
		f.end(false)
	case t.Name == "img":
		if alt := t.Value("alt"); alt != "" {
			f.text("(" + alt + ")")
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
