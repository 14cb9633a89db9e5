package plaintext

import (
	"fmt"
	"strings"
	"testing"
)

// TestFormOf tests what says what a text is.
func TestFormOf(t *testing.T) {
	for _, tc := range []struct {
		name, mediaType, start string
		want                   Form
	}{
		{"README", "", "text\n", Flowing}, {"notes.txt", "text/plain", "text\n", Flowing}, {"", "", "", Flowing},
		{"README.md", "text/markdown", "# a", Markdown}, {"x", "text/markdown", "# a", Markdown}, {"a.MARKDOWN", "", "", Markdown},
		{"index.gmi", "", "# a", Gemtext}, {"x", "text/gemini", "", Gemtext},
		{"rfc1738.txt", "text/plain", "", RFC}, {"RFC10.TXT", "", "", RFC}, {"draft-ietf-a-b-00.txt", "", "", RFC}, {"rfc-index.txt", "", "", Flowing}, {"rfc1738.txt.gz", "", "", Flowing},
		{"main.c", "", "int", Source}, {"MAIN.GO", "", "", Source}, {"Makefile", "", "", Source}, {"x.json", "application/json", "", Source}, {"page.html", "text/html", "", Source}, {"x", "image/svg+xml", "", Source},
		{"ls.1", "", ".TH LS 1\n", Source}, {"ls.1", "", `'\" t` + "\n", Source}, {"ls.1", "", "LS(1)\n\nN\bNA\bA", Manual}, {"notes.1", "", "text\n", Flowing}, {"notes.99", "", ".TH LS\n", Flowing},
		{"ls.txt", "", "_\ba", Manual}, {"bell", "", "a\b b\n\b", Flowing}, {"a.c", "", "N\bN", Source}, {"a. ", "", "", Flowing},
	} {
		if got := FormOf(tc.name, tc.mediaType, tc.start); got != tc.want {
			t.Errorf("%q, %q, %q: %s, want %s", tc.name, tc.mediaType, tc.start, got, tc.want)
		}
	}
}

// struck writes a text in its styles.
func struck(text string) string {
	var b strings.Builder
	for _, s := range Overstrike(text) {
		mark := ""
		if s.Bold {
			mark = "*"
		}
		if s.Underline {
			mark += "_"
		}
		b.WriteString(mark + s.Text + mark)
	}
	return b.String()
}

func TestOverstrike(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain": "plain",
		"N\bNA\bAM\bME\bE\n":         "*NAME*\n",
		"a _\bb_\bc d":               "a _bc_ d",
		"_\bb\bb_\bc\bc":             "*_bc*_",
		"b\b_":                       "_b_",
		"ü\bü_\bé":                   "*ü*_é_",
		"+\bo item":                  "o item",
		"_\b_x\bx":                   "*_x*",
		"\b\ba\b":                    "\b\ba\b",
		"a\b\nb":                     "a\b\nb",
		"a\b b":                      "a\b b",
		"bold\b\b\b\bbold":           "bold\b\b\b\bbold",
		strings.Repeat("a\ba", 5000): "*" + strings.Repeat("a", 5000) + "*",
	} {
		if got := struck(text); got != want {
			t.Errorf("%.40q is %.40q, want %.40q", text, got, want)
		}
	}
}

func FuzzOverstrike(f *testing.F) {
	f.Add("N\bN_\ba b\b\b\xff\b\xff")
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		for _, s := range Overstrike(text) {
			n += len(s.Text)
		}
		if n > len(text) || n == 0 && text != "" || !strings.Contains(text, "\b") && n != len(text) {
			t.Errorf("%q becomes %+v", text, Overstrike(text))
		}
	})
}

const rfc = `Network Working Group                                       A. Author
Request for Comments: 9999                                 December 1994

Table of Contents

   1.  Introduction . . . . . . . . . . . . . . . . . . . . . . . .   2
     1.1.  Terms  ..................................................  2
   7.  Not there . . . . . . . . . . . . . . . . . . . . . . . . . .  9

1.  Introduction

   See Section 1.1, Section 9, and

Author                                                          [Page 1]
` + "\f\n" + `RFC 9999                          Title                    December 1994


   Section 1.1
   of RFC 1738.

1.1 Terms
   12 is a number, section 1 of [12] too.
1.  Introduction
2026 is not a section

Appendix A.  More




Author                                                          [Page 2]
`

// written writes a document, with headings, the table of contents and mentions marked.
func written(d *Document) string {
	var b strings.Builder
	first := true
	for p := range d.Pages() {
		if !first {
			fmt.Fprintf(&b, "\n--- %d\n", p.Number)
		}
		first = false
		for _, part := range p.Parts {
			switch {
			case part.ID != "":
				fmt.Fprintf(&b, "{#%s %s}", part.ID, part.Text)
			case part.Section != "":
				fmt.Fprintf(&b, "{>%s}", part.Section)
			default:
				at := 0
				for _, r := range d.References(part.Text) {
					fmt.Fprintf(&b, "%s{%s %d %s}", part.Text[at:r.From], strings.Join(strings.Fields(part.Text[r.From:r.To]), " "), r.RFC, r.Section)
					at = r.To
				}
				b.WriteString(part.Text[at:])
			}
		}
	}
	return b.String()
}

func TestReadRFC(t *testing.T) {
	const want = `Network Working Group                                       A. Author
Request for Comments: 9999                                 December 1994

Table of Contents

{>section-1}
{>section-1.1}
   7.  Not there . . . . . . . . . . . . . . . . . . . . . . . . . .  9

{#section-1 1.  Introduction}

   See {Section 1.1 0 section-1.1}, Section 9, and
--- 2
   {Section 1.1 of RFC 1738 1738 section-1.1}.

{#section-1.1 1.1 Terms}
   12 is a number, section 1 of [12] too.
1.  Introduction
2026 is not a section

{#appendix-A Appendix A.  More}`
	for _, text := range []string{rfc, strings.ReplaceAll(rfc, "\n", "\r\n"), strings.ReplaceAll(rfc, "\f\n", "\f"), strings.ReplaceAll(rfc, "\f\n", "")} {
		if got := written(ReadRFC(text)); got != want {
			t.Errorf("got\n%s\n\nwant\n%s", got, want)
		}
	}
}

// TestReferences tests which mentions are of a known section or RFC.
func TestReferences(t *testing.T) {
	d := ReadRFC("1. One\n1.1 Two\nAppendix A. Three\nB.1.  Four\n")
	for text, want := range map[string]string{
		"Section 1.1. section 1, SECTION 1":                            "{Section 1.1 0 section-1.1}. {section 1 0 section-1}, {SECTION 1 0 section-1}",
		"Appendix A, Appendix B.1, Appendix C":                         "{Appendix A 0 appendix-A}, {Appendix B.1 0 appendix-B.1}, Appendix C",
		"[RFC2616], RFC 822 RFC-1036 (RFC0010)":                        "{[RFC2616] 2616 }, {RFC 822 822 } {RFC-1036 1036 } ({RFC0010 10 })",
		"[RFC2616], Section 3.2 and RFC 1 section 1":                   "{[RFC2616], Section 3.2 2616 section-3.2} and {RFC 1 section 1 1 section-1}",
		"Section 1.1 of [RFC2616] Section 1 in RFC 5":                  "{Section 1.1 of [RFC2616] 2616 section-1.1} {Section 1 in RFC 5 5 section-1}",
		"Section 1 of [URI], Section 1 of the other":                   "Section 1 of [URI], Section 1 of the other",
		"Section 1 of this memo, Section 1 in detail":                  "{Section 1 0 section-1} of this memo, {Section 1 0 section-1} in detail",
		"Section 1 in [12]; intersection 1; RFCs; RFC 123456; xRFC 12": "Section 1 in [12]; intersection 1; RFCs; RFC 123456; xRFC 12",
		"Section 12345, Section 1.2":                                   "Section 12345, Section 1.2",
	} {
		got := strings.TrimSpace(written(&Document{[]numbered{{text: "   " + text}}, d.sections}))
		if got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

// FuzzReadRFC tests that no letters of a text are lost, but for the lines at the ends of pages.
func FuzzReadRFC(f *testing.F) {
	f.Add(rfc)
	f.Add("\f\f1. a\n\f[Page 1]\n[Page 2]")
	f.Fuzz(func(t *testing.T, text string) {
		var b strings.Builder
		seen := make(map[string]bool)
		d := ReadRFC(text)
		for p := range d.Pages() {
			for _, part := range p.Parts {
				b.WriteString(part.Text)
				if part.ID != "" && seen[part.ID] {
					t.Errorf("%s a second time", part.ID)
				}
				seen[part.ID] = true
				last := 0
				for _, r := range d.References(part.Text) {
					if r.From < last || r.To <= r.From || r.To > len(part.Text) {
						t.Errorf("%+v in %q", r, part.Text)
					}
					last = r.To
				}
			}
		}
		if !strings.Contains(text, "age ") && !strings.Contains(text, "RFC ") && !strings.Contains(text, "nternet") {
			if got, want := letters(b.String()), letters(text); got != want {
				t.Errorf("%q becomes %q", text, b.String())
			}
		}
	})
}

func letters(s string) string { return strings.Join(strings.Fields(s), "") }

// TestLongRFC tests that parts are small, and join to the text.
func TestLongRFC(t *testing.T) {
	text := strings.Repeat("   A line of text.\n", 10_000)
	var b strings.Builder
	for p := range ReadRFC(text).Pages() {
		for _, part := range p.Parts {
			b.WriteString(part.Text)
			if len(part.Text) > maxPart+100 {
				t.Errorf("a part of %d bytes", len(part.Text))
			}
		}
	}
	if b.String() != strings.TrimRight(text, "\n") {
		t.Errorf("%d bytes", b.Len())
	}
}
