package markup

import (
	"strings"
	"testing"
)

// hostile are texts that take a parser quadratic time or memory when they are repeated.
var hostile = map[string]string{
	"emphasis":        "*a_ ",
	"openers":         "*a ",
	"closers":         "a* ",
	"triple":          "***a__ ",
	"strikes":         "~~a ",
	"brackets":        "[",
	"pictures":        "![",
	"closed":          "[a](b",
	"labels":          "[a][b",
	"empty labels":    "[][",
	"titles":          "[a](b \"",
	"links in links":  "[a](b)[",
	"code":            "`a``b```",
	"longer code":     "a`` ``` ```` ````` ",
	"tags":            "<a ",
	"URLs":            "<a:",
	"addresses":       "<a@b.",
	"definitions":     "[a]: b\n",
	"with a title":    "[a]: b\n\"\n",
	"long labels":     "[a\n",
	"quotes":          ">",
	"spaced quotes":   "> ",
	"lists":           "- ",
	"numbers":         "1. ",
	"deeper lists":    "- a\n  ",
	"quotes of lists": "> - ",
	"table":           "|a",
	"rows":            "|a|\n|-|\n",
	"escaped bars":    "|`\\|`",
	"headings":        "# a\n",
	"underlines":      "a\n-\n",
	"fences":          "```\n",
	"blank lines":     "\n",
	"entities":        "&amp",
	"backslashes":     "\\",
	"line breaks":     "a  \n",
	"tasks":           "- [ ] ",
}

// hostileTexts are the hostile texts, also such that need a certain beginning.
func hostileTexts(size int) map[string]string {
	texts := make(map[string]string)
	fill := func(name, begin, repeated string) {
		n := max(0, size-len(begin)) / len(repeated)
		if lines := strings.Count(repeated, "\n"); lines > 0 {
			n = min(n, (maxLines-2)/lines)
		}
		texts[name] = begin + strings.Repeat(repeated, n)
	}
	for name, text := range hostile {
		fill(name, "", text)
	}
	fill("lines in quotes", strings.Repeat("> ", 1000)+"a\n", "b\n")
	fill("blank lines in lists", strings.Repeat("- ", 1000)+"a\n", "\n")
	fill("short rows of a wide table", strings.Repeat("|a", 1000)+"\n"+strings.Repeat("|-", 1000)+"\n", "|a\n")
	fill("definitions in a quote", "> ", "[a]: b\n> ")
	fill("nested emphasis", strings.Repeat("*a **a ", size/20), "a** a* ")
	return texts
}

// TestWork tests that a hostile text needs no more work than the limit, and that what is read of it
// has no more blocks and spans than the text has octets.
func TestWork(t *testing.T) {
	for name, text := range hostileTexts(MaxSize) {
		blocks, ok := Markdown(text)
		if n := count(blocks); n > 2*len(text) || !ok && n > 0 {
			t.Errorf("%s: %d blocks, spans and runs of %d octets", name, n, len(text))
		}
	}
	if _, ok := Markdown(strings.Repeat("*a_ ", MaxSize/4)); ok {
		t.Error("quadratic emphasis is read")
	}
	if _, ok := Markdown(strings.Repeat("x", MaxSize+1)); ok {
		t.Error("a text that is too long is read")
	}
	if _, ok := Markdown(strings.Repeat("\n", maxLines+1)); ok {
		t.Error("a text of too many lines is read")
	}
}

// count is how many blocks, spans and runs there are.
func count(blocks []*Block) int {
	n := len(blocks)
	for _, b := range blocks {
		for _, s := range b.Text {
			n += 1 + len(s.Runs)
		}
		n += count(b.Children)
	}
	return n
}

// depth is how deep blocks are nested.
func depth(blocks []*Block) int {
	d := 0
	for _, b := range blocks {
		d = max(d, 1+depth(b.Children))
	}
	return d
}

func TestNesting(t *testing.T) {
	for _, mark := range []string{">", "> ", "- ", "1. ", "> - "} {
		blocks, ok := Markdown(strings.Repeat(mark, 1000) + "a\n")
		if d := depth(blocks); !ok || d > 2*maxNesting+2 {
			t.Errorf("%q: %d blocks within each other", mark, d)
		}
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, text := range hostileTexts(MaxSize) {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Markdown(text)
			}
		})
	}
}

// FuzzMarkdown tests that a text is read, and that its letters are in the tree, but for the definitions
// of references and the targets of links.
func FuzzMarkdown(f *testing.F) {
	for _, text := range hostileTexts(400) {
		f.Add(text)
	}
	f.Add("# a\n\n- b\n  1. c\n\n```\nd\n```\n> e\n\n    f\n|g|\n|-|\nh ![j](k) <b>")
	f.Fuzz(func(t *testing.T, text string) {
		blocks, ok := Markdown(text)
		if ok && count(blocks) > 4*len(text)+4 {
			t.Errorf("%d blocks and runs of %q", count(blocks), text)
		}
		if strings.ContainsAny(text, "[&`~") { // the letters of a target, a reference, the language of code
			return
		}
		if got, want := letters(allText(blocks)), letters(text); got != want {
			t.Errorf("%q becomes %q", text, written(blocks))
		}
	})
}

func allText(blocks []*Block) string {
	var b strings.Builder
	for _, block := range blocks {
		b.WriteString(plain(block.Text) + allText(block.Children))
	}
	return b.String()
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, s)
}
