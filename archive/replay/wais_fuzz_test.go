package replay

import (
	"strings"
	"testing"
)

// FuzzParseAnswer reads the texts of answers, which an archive may have from anyone.
func FuzzParseAnswer(f *testing.F) {
	f.Add("  1. The lighthouse  (score 1000, 12 lines, TEXT, 162 bytes, 1994-12-01)\n     wais://host/files/TEXT/162/1=h;3=x;\n")
	f.Add("  1. x  (TEXT)\n  2. y  (1 line, PS)\n     wais://host/db/PS/x\nDiagnostic from the server: T1 partial: a\nb\n")
	f.Add("Nothing was found in db.\nIts catalogue:\n     wais://host/db/TEXT/0/1=h;3=x;\n")
	f.Add("(more than 3 documents)\n")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parseAnswer(text)
		if (a == nil) == (err == nil) {
			t.Fatal(a, err)
		}
		if a == nil {
			return
		}
		for _, h := range a.Hits {
			if !strings.Contains(text, h.Headline) && h.Headline != "Catalogue" || h.Score < -1 || h.Lines < -1 || h.Length < -1 {
				t.Errorf("%+v", h)
			}
		}
		for _, d := range a.Diagnostics {
			if len(d.Code) != 2 {
				t.Errorf("%+v", d)
			}
		}
	})
}
