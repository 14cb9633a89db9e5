package browse

import (
	"html"
	"net/url"
	"regexp"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/render"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/locator"
)

// The parts of HTML that formatHTML reads. It needs no tree: a tag that is not closed, or of another
// kind, has no effect on the others.
var (
	attribute  = regexp.MustCompile(`(?s)([a-zA-Z-]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"']+)`)
	whiteSpace = regexp.MustCompile(`\s+`)
)

// What elements do: invisible ones have no text, blocks begin a line, wide blocks have an empty line
// before them.
const (
	invisible  = " script style noscript template svg select textarea title "
	blocks     = " br div tr li dt dd p h1 h2 h3 h4 h5 h6 ul ol dl table pre blockquote hr section article header footer nav main form "
	wideBlocks = " p h1 h2 h3 h4 h5 h6 ul ol dl table pre blockquote hr "
)

func isOne(of, name string) bool { return strings.Contains(of, " "+name+" ") }

// maxTag is the length of the longest tag that is read as one, so that the time is linear.
const maxTag = 2 << 10

// cutTag cuts a tag from the beginning of text. The name is in lower case, and "" if there is no tag.
// A ">" in quotation marks does not end it.
func cutTag(text string) (name string, closes bool, attributes, rest string) {
	text, rest = text[:min(len(text), maxTag)], text
	if strings.IndexByte(text, '>') < 0 {
		return "", false, "", ""
	}
	from, quote := 1, byte(0)
	if closes = strings.HasPrefix(text, "</"); closes {
		from = 2
	}
	to := from
	for to < len(text) && strings.IndexByte(alphanumeric, text[to]) >= 0 {
		to++
	}
	if to == from || text[from] <= '9' { // a digit
		return "", false, "", ""
	}
	for i := to; i < len(text); i++ {
		switch c := text[i]; {
		case quote == c:
			quote = 0
		case quote != 0:
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return strings.ToLower(text[from:to]), closes, text[to:i], rest[i+1:]
		}
	}
	return "", false, "", ""
}

const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

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
		name, closes, attributes, rest := cutTag(text)
		if name == "" {
			f.text("<")
			text = text[1:]
			continue
		}
		text = rest
		if !closes && isOne(invisible, name) {
			text = after(text, "</"+name)
		}
		f.tag(name, closes, attributes)
	}
	f.end(false)
	return f.lines
}

// after returns text from the end tag of an invisible element. If it has none, nothing is visible.
func after(text, end string) string {
	for {
		i := strings.Index(text, "</")
		if i < 0 {
			return ""
		}
		text = text[i:]
		if len(text) >= len(end) && strings.EqualFold(text[:len(end)], end) {
			return text
		}
		text = text[2:]
	}
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
		if l := f.locator(valueOf(attributes, "href")); l != nil {
			f.base = l
		}
	case name == "a" || name == "area":
		f.link(valueOf(attributes, "href"))
	case name == "frame" || name == "iframe":
		f.end(false)
		f.link(valueOf(attributes, "src"))
		f.line.WriteString("frame " + valueOf(attributes, "name"))
		f.end(false)
	case name == "img":
		if alt := valueOf(attributes, "alt"); alt != "" {
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
	l, err := resolve(f.base, ref)
	if _, unknown := l.(*locator.Opaque); err != nil || unknown {
		return nil
	}
	return l
}

// resolve returns the URL that ref is at base, which may be nil.
func resolve(base locator.Locator, ref string) (locator.Locator, error) {
	ref = strings.TrimSpace(ref)
	if base != nil {
		b, err := url.Parse(base.String())
		if err != nil {
			return nil, err
		}
		r, err := url.Parse(ref)
		if err != nil {
			return nil, err
		}
		if r.Scheme == "" {
			ref = b.ResolveReference(r).String()
		}
	}
	found, err := parser.Parse(ref)
	return found.Locator, err
}

// valueOf returns the value of an attribute, or "".
func valueOf(attributes, name string) string {
	for _, m := range attribute.FindAllStringSubmatch(attributes, -1) {
		if strings.EqualFold(m[1], name) {
			return html.UnescapeString(strings.Trim(m[2], `"'`))
		}
	}
	return ""
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
