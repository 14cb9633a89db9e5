package markdown

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// blocks are the blocks of a text, a line each.
func blocks(text string) string {
	var b strings.Builder
	for block := range Blocks(strings.SplitSeq(text, "\n")) {
		fmt.Fprintf(&b, "%s %d %q %q\n", block.Kind, block.Depth, block.Mark, block.Text)
	}
	return b.String()
}

// TestBlocks tests which lines are joined, and which stay as they are.
func TestBlocks(t *testing.T) {
	for text, want := range map[string]string{
		"":                                          "",
		"# One\ntext\nmore\n\nand *this*\r\n":       `heading 0 "" "One"|paragraph 0 "" "text more"|paragraph 0 "" "and *this*"`,
		"Title\n=====\nSub\n--\ntext":               `heading 0 "" "Title"|heading 0 "" "Sub"|paragraph 0 "" "text"`,
		"## Two ##\n#no\n####### seven":             `heading 0 "" "Two"|paragraph 0 "" "#no ####### seven"`,
		"- a\n  b\n- c\n  1. d\n\n  e\n\nf":         `item 1 "-" "a b"|item 1 "-" "c"|item 2 "1." "d"|paragraph 2 "" "e"|paragraph 0 "" "f"`,
		"1) a\n2. b\n1985 was good\n12345678901. x": `item 1 "1)" "a"|item 1 "2." "b 1985 was good 12345678901. x"`,
		"```sh\na  b\n\n# c\n```\nd":                `code 0 "" "a  b\n\n# c"|paragraph 0 "" "d"`,
		"- a\n\n  ~~~~\n  b\n    c\n  ~~~\n  ~~~~":  `item 1 "-" "a"|code 1 "" "b\n  c\n~~~"`,
		"a\n\n    b\n     c\n\n\td":                 `paragraph 0 "" "a"|code 0 "" "b\n c"|code 0 "" "d"`,
		"- a\n\n      b":                            `item 1 "-" "a"|code 1 "" "b"`,
		"| a | b |\n|---|---|\n| 1 | 2 |\ntext":     `code 0 "" "| a | b |\n|---|---|\n| 1 | 2 |"|paragraph 0 "" "text"`,
		"> a\n> b\nc\n\n>> d":                       `quote 0 "" "a b c"|quote 0 "" "d"`,
		"a  \nb\\\nc":                               `paragraph 0 "" "a\n b\n c"`,
		"a\n\n* * *\n---\n___\nb":                   `paragraph 0 "" "a"|rule 0 "" ""|rule 0 "" ""|rule 0 "" ""|paragraph 0 "" "b"`,
		"- a\n\n> b\n\n    c":                       `item 1 "-" "a"|quote 0 "" "b"|code 0 "" "c"`,
		"```\nnever ends":                           `code 0 "" "never ends"`,
		"``` a`b":                                   "paragraph 0 \"\" \"``` a`b\"",
	} {
		if got := strings.ReplaceAll(strings.TrimSpace(blocks(text)), "\n", "|"); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", text, got, want)
		}
	}
}

// TestLongBlock tests that a text without an empty line is shown in parts.
func TestLongBlock(t *testing.T) {
	line := strings.Repeat("x", 1000)
	n, size := 0, 0
	for b := range Blocks(slices.Values(slices.Repeat([]string{line}, 1000))) {
		if n, size = n+1, size+strings.Count(b.Text, "x"); len(b.Text) > maxBlock+2*len(line) {
			t.Errorf("a block of %d bytes", len(b.Text))
		}
	}
	if n < 10 || size != 1_000_000 {
		t.Errorf("%d blocks, %d bytes", n, size)
	}
}

// TestSpans tests which parts of a text are links.
func TestSpans(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "",
		"see [the news](NEWS.md), or not":        "see |the news=NEWS.md|, or not",
		"![A picture](a.png)":                    "A picture=a.png",
		"[![ok](b.svg)](ci) x":                   "ok=ci| x",
		"[![ok](b.svg)] x":                       "[|ok=b.svg|] x",
		`[a](<b c> "title") [d](e 'f')`:          "a=b| |d=e",
		"[a] (b) [](c) [d]() [e](f":              "[a] (b) [](c) [d]() [e](f",
		`\[a](b) [c\](d)`:                        `\[a](b) [c\](d)`,
		"[a[b](c)](d)":                           "[a|b=c|](d)",
		"a ] b [ c](d)":                          "a ] b | c=d",
		"[x](" + strings.Repeat("y", 5000) + ")": "[x](" + strings.Repeat("y", 5000) + ")",
	} {
		var got []string
		for _, s := range Spans(text) {
			if s.Target != "" {
				s.Text += "=" + s.Target
			}
			got = append(got, s.Text)
		}
		if got := strings.Join(got, "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzBlocks tests that no words of a text are lost, except marks of Markdown, and that the spans of
// a text are the whole text.
func FuzzBlocks(f *testing.F) {
	f.Add("# a\n\n- b\n  1. c\n\n```\nd\n```\n> e\n\n    f\n| g |\n---\n[h](i) ![j](k)")
	f.Add("[![a](b)](c)\\[d")
	f.Fuzz(func(t *testing.T, text string) {
		letters := func(s string) string {
			return strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'z' {
					return r
				}
				return -1
			}, s)
		}
		var all strings.Builder
		for b := range Blocks(strings.SplitSeq(text, "\n")) {
			all.WriteString(b.Text)
			var source strings.Builder
			for _, s := range Spans(b.Text) {
				if s.Target == "" {
					source.WriteString(s.Text)
				}
				source.WriteString(s.Source)
			}
			if source.String() != b.Text {
				t.Errorf("%q has the spans %q", b.Text, source.String())
			}
		}
		if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") { // the line of a fence names a language
			if got, want := letters(all.String()), letters(text); got != want {
				t.Errorf("%q becomes %q", text, all.String())
			}
		}
	})
}
