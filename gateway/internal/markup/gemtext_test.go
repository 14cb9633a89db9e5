package markup

import (
	"slices"
	"strings"
	"testing"
)

// gemtext writes what is read of a text, in blocks.
func gemtext(text string) (string, int) {
	blocks := slices.Collect(Gemtext(strings.SplitSeq(text, "\n")))
	return written(blocks), len(blocks)
}

// TestGemtext tests what each kind of line is.
func TestGemtext(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "space()",
		"a\nb\r\n\nc":                         "line(a)line(b)space()line(c)",
		"# A\n##B\n### C\n#### D":             "heading 1 #(A)heading 2 #(B)heading 3 #(C)heading 3 #(# D)",
		"=> a.gmi\n=>\tgopher://h/ The h\n=>": "line(<a.gmi a.gmi>)line(<gopher://h/ The h>)line(=>)",
		"* a\n* b\n*c\n* d":                   "list(item(line(a))item(line(b)))line(*c)list(item(line(d)))",
		"> a\n>b\n>\nc":                       "quote(line(a)line(b)line())line(c)",
		"```txt\n# a\n=> b\n\n```\n# c":       "code(# a\n=> b\n\n)heading 1 #(c)",
		"```\nnever ends":                     "code(never ends\n)",
		"``` empty\n```":                      "code()",
		"*a* <b> javascript:x":                "line(*a* <b> javascript:x)",
	} {
		if got, _ := gemtext(text); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

// TestGemtextInParts tests that a block holds only a part of a text of any length.
func TestGemtextInParts(t *testing.T) {
	for _, line := range []string{"* a\n", "> a\n", "a\n", "=> a\n"} {
		const lines = 100_000
		if text, n := gemtext(strings.Repeat(line, lines)); n < lines/maxGroup || strings.Count(text, "(a") != lines && strings.Count(text, "<a") != lines {
			t.Errorf("%q: %d blocks, %d lines", line, n, strings.Count(text, "a)"))
		}
	}
	text, n := gemtext("```\n" + strings.Repeat("x\n", 100_000))
	if n < 100 || strings.Count(text, "x\n") != 100_000 {
		t.Errorf("code: %d blocks, %d lines", n, strings.Count(text, "x\n"))
	}
}
