package plaintext

import (
	"strings"
	"testing"
)

// BenchmarkReadRFC reads texts of 2 MiB: none takes many times as long as
// the others.
func BenchmarkReadRFC(b *testing.B) {
	for name, text := range map[string]string{
		"sample": rfc, "prose": "   The words of a line, as in most of them, and an end.\n", "mentions": "Section 1 of ", "RFCs": "[RFC1], Section 1 ", "spaces": "Section   ", "words": "Section 1 of xx", "dots": "1.1.1.", "headings": "1. a\n",
		"contents": "1. a   1\n", "contents in a line": "1. a   1", "form feeds": "\fa\n", "feet": "a [Page 1]\n", "letters": "A.A",
	} {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			text := strings.Repeat(text, 2<<20/len(text))
			for b.Loop() {
				d := ReadRFC(text)
				for p := range d.Pages() {
					for _, part := range p.Parts {
						d.References(part.Text)
					}
				}
			}
		})
	}
}
