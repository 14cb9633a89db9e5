package markup

import (
	"fmt"
	"strings"
	"testing"
)

// written writes blocks as text: an element and its content in brackets, links as <target text>.
func written(blocks []*Block) string {
	var b strings.Builder
	for _, block := range blocks {
		b.WriteString(string(block.Kind))
		switch {
		case block.Kind == Heading:
			fmt.Fprintf(&b, " %d #%s", block.Level, block.ID)
		case block.Kind == Ordered:
			fmt.Fprintf(&b, " %d", block.Number)
		}
		for _, word := range []string{block.Task, block.Align} {
			if word != "" {
				b.WriteString(" " + word)
			}
		}
		if block.Head {
			b.WriteString(" head")
		}
		b.WriteString("(")
		for _, s := range block.Text {
			writeSpan(&b, s)
		}
		b.WriteString(written(block.Children) + ")")
	}
	return b.String()
}

func writeSpan(b *strings.Builder, s Span) {
	if s.Target != "" {
		b.WriteString("<" + s.Target + " ")
	}
	for _, r := range s.Runs {
		open, end := "", ""
		for _, style := range []struct {
			on   bool
			mark string
		}{{r.Strong, "**"}, {r.Emph, "*"}, {r.Strike, "~"}, {r.Code, "`"}} {
			if style.on {
				open, end = open+style.mark, style.mark+end
			}
		}
		text := r.Text
		if r.Break {
			text = "/"
		}
		if r.Picture != "" {
			text = "{" + r.Picture + " " + text + "}"
		}
		b.WriteString(open + text + end)
	}
	if s.Target != "" {
		b.WriteString(">")
	}
}

// TestMarkdown tests what goldmark reads as what, and that the tree has all of it.
func TestMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"# One\ntext\nmore\r\n\r\nx": "heading 1 #one(One)paragraph(text\nmore)paragraph(x)",
		"Title\n===\nSub\n--\n## Title\n### *Title*, too!": "heading 1 #title(Title)heading 2 #sub(Sub)heading 2 #title-1(Title)heading 3 #title-too(*Title*, too!)",
		"a *b **c*** ~~d~~ `e  <f>` ~g~":                   "paragraph(a *b ****c*** ~d~ `e  <f>` ~g~)",
		"snake_case_name 2*3*4 \\*x\\* &amp;amp; &copy=":   "paragraph(snake_case_name 2*3*4 *x* &amp; &copy=)",
		"a  \nb\\\nc":                                      "paragraph(a/b/c)",
		"- a\n  b\n- c\n  1. d\n\n     e":                  "list(item(line(a\nb))item(line(c)ordered 1(item(paragraph(d)paragraph(e)))))",
		"3) a\n4) b":                                       "ordered 3(item(line(a))item(line(b)))",
		"- [ ] a\n- [x] b":                                 "list(item open(line(a))item done(line(b)))",
		"> a\nb\n> > c\n\n---":                             "quote(paragraph(a\nb)quote(paragraph(c)))rule()",
		"```go\na\n\tb\n\n# c\n```\n\n\td":                 "code(a\n\tb\n\n# c)code(d)",
		"| a | b |\n|:-|--:|\n| `c\\|d` | *e* |\n| f\n\nx": "table(row head(cell left head(a)cell right head(b))row(cell left(`c|d`)cell right(*e*))row(cell left(f)cell()))paragraph(x)",
		"[a *b*](c 'd') ![e](f) [![g](h)](i)":              "paragraph(<c a *b*> {f e} <i {h g}>)",
		"[a][r] [r] [x]\n\n[r]: /to?a=1&amp;b 'title'":     "paragraph(</to?a=1&b a> </to?a=1&b r> [x])",
		"<ftp://h/a> <a@b.c> <b>bold</b> <script>x":        "paragraph(<ftp://h/a ftp://h/a> <mailto:a@b.c a@b.c> <b>bold</b> <script>x)",
		"<div onclick=x>\n*a*\n</div>\n<!-- b -->":         "paragraph(<div onclick=x>\n*a*\n</div>\n<!-- b -->)",
		"[a](javascript:alert) <javascript:x>":             "paragraph(<javascript:alert a> <javascript:x javascript:x>)",
	} {
		blocks, ok := Markdown(text)
		if got := written(blocks); !ok || got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

// TestIDs tests that no two headings have the same name, whatever they are.
func TestIDs(t *testing.T) {
	blocks, _ := Markdown("# a\n# a-1\n# a\n# a\n# !\n# ?\n# -0\n# Ä b")
	seen := make(map[string]bool)
	for _, b := range blocks {
		if b.ID == "" || seen[b.ID] {
			t.Errorf("%q a second time in %s", b.ID, written(blocks))
		}
		seen[b.ID] = true
	}
}
