package picture

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The size of a character and of the space around the text, in pixels. The font is chosen by the
// reader's system; textLength makes its characters this wide.
const (
	width, height = 8, 18
	margin        = 16
	ascent        = 14 // from the top of a line to its base line
)

// SVG returns what the Screen has shown as an SVG image that plays it again and again; end is the
// time of one round. Without animation, or if the reader prefers that, it shows the last state. The
// image has no scripts and no references. title is its name for screen readers.
func (s *Screen) SVG(title string, end time.Duration) []byte {
	s.commit()
	var b strings.Builder
	w, h := s.columns*width+2*margin, s.rows*height+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img">`+"\n", w, h)
	fmt.Fprintf(&b, "<title>%s</title>\n", escaped(title))
	groups := s.groups()
	fmt.Fprintf(&b, "<style>\n%s", style0)
	fmt.Fprintf(&b, "g{animation:0s step-end infinite;animation-duration:%s}\n", seconds(end))
	for i, g := range groups {
		if g.from == 0 && g.to == 0 {
			continue
		}
		fmt.Fprintf(&b, "@keyframes k%d{", i)
		if g.from > 0 {
			fmt.Fprint(&b, "0%{opacity:0}")
		}
		fmt.Fprintf(&b, "%s{opacity:1}", percent(g.from, end))
		if g.to > 0 {
			fmt.Fprintf(&b, "%s{opacity:0}", percent(g.to, end))
		}
		fmt.Fprint(&b, "}\n")
	}
	s.scrolling(&b, end)
	fmt.Fprint(&b, "@media (prefers-reduced-motion:reduce){g{animation:none!important}}\n</style>\n")
	fmt.Fprintf(&b, `<rect class="w" x=".5" y=".5" width="%d" height="%d" rx="8"/>`+"\n", w-1, h-1)
	fmt.Fprintf(&b, `<svg x="%d" y="%[1]d" width="%d" height="%d"><g class="s">`+"\n", margin, s.columns*width, s.rows*height)
	for i, g := range groups {
		fmt.Fprintf(&b, "<g%s>", g.attributes(i))
		for _, r := range g.runs {
			r.draw(&b)
		}
		fmt.Fprint(&b, "</g>\n")
	}
	fmt.Fprint(&b, "</g></svg></svg>\n")
	return []byte(b.String())
}

// style0 is the part of the style sheet that is the same in each picture. The colours have a
// contrast of at least 7:1, and the background is opaque: the page around it may be light or dark.
const style0 = `text{font:13.33px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d8dee9}
.w{fill:#16191f;stroke:#59616e}
.b{font-weight:bold}
.c1{fill:#ff9a91}.c2{fill:#8fd694}.c3{fill:#e8cf7a}.c4{fill:#8ec1ff}.c5{fill:#dcaaf0}.c6{fill:#7fd6d6}.c7{fill:#fff}
.t{opacity:0}
`

// A group is all that is shown in the same time.
type group struct {
	from, to time.Duration
	runs     []run
}

// A run is text in cells beside each other.
type run struct {
	place
	style
	text string
	n    int // cells
}

// groups returns what has been shown, in the order of time.
func (s *Screen) groups() []*group {
	slices.SortFunc(s.spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.row, b.row), cmp.Compare(a.col, b.col))
	})
	var list []*group
	for _, sp := range s.spans {
		if len(list) == 0 || list[len(list)-1].from != sp.from || list[len(list)-1].to != sp.to {
			list = append(list, &group{from: sp.from, to: sp.to})
		}
		list[len(list)-1].add(sp)
	}
	return list
}

// add adds a cell, to the last run if at most one blank is between them.
func (g *group) add(sp span) {
	if last := len(g.runs) - 1; last >= 0 {
		r := &g.runs[last]
		if gap := sp.col - r.col - r.n; r.row == sp.row && r.style == sp.style && (gap == 0 || gap == 1) {
			r.text += strings.Repeat(" ", gap) + string(sp.r)
			r.n += gap + 1
			return
		}
	}
	g.runs = append(g.runs, run{sp.place, sp.style, string(sp.r), 1})
}

// attributes returns those of the i-th group. What is gone at the end is not seen without animation.
func (g *group) attributes(i int) string {
	text := ""
	if g.to > 0 {
		text = ` class="t"`
	}
	if g.from > 0 || g.to > 0 {
		text += fmt.Sprintf(` style="animation-name:k%d"`, i)
	}
	return text
}

// draw writes the element of a run.
func (r run) draw(b *strings.Builder) {
	var classes []string
	if r.bold {
		classes = append(classes, "b")
	}
	if r.colour > 0 {
		classes = append(classes, fmt.Sprintf("c%d", r.colour))
	}
	class := ""
	if classes != nil {
		class = fmt.Sprintf(` class="%s"`, strings.Join(classes, " "))
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" textLength="%d"%s>%s</text>`, r.col*width, r.row*height+ascent, r.n*width, class, escaped(r.text))
}

// scrolling writes the rules that move the lines.
func (s *Screen) scrolling(b *strings.Builder, end time.Duration) {
	if s.top == 0 {
		return
	}
	fmt.Fprintf(b, ".s{transform:translateY(-%dpx);animation-name:s}\n@keyframes s{0%%{transform:none}", s.top*height)
	for _, scroll := range s.scrolls {
		fmt.Fprintf(b, "%s{transform:translateY(-%dpx)}", percent(scroll.at, end), scroll.top*height)
	}
	fmt.Fprint(b, "}\n")
}

func seconds(d time.Duration) string { return fmt.Sprintf("%gs", d.Round(time.Millisecond).Seconds()) }

// percent returns the part of end at which a key frame is.
func percent(at, end time.Duration) string {
	return fmt.Sprintf("%.2f%%", 100*at.Seconds()/end.Seconds())
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// escaped returns text for an element.
func escaped(text string) string { return escaper.Replace(text) }
