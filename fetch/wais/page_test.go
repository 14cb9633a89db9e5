package wais

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/internal/codec/z3950"
)

// TestPage checks that the conversation in docs/wais.md is the recorded one.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/wais.md")
	if err != nil {
		t.Fatal(err)
	}
	var recorded []string
	for _, name := range []string{"lynx-search.c2s", "lynx-search.s2c", "lynx-document.c2s", "lynx-document.s2c"} {
		mark := "< "
		if strings.HasSuffix(name, "c2s") {
			mark = "> "
		}
		for _, m := range messages(t, name) {
			for _, line := range z3950.Annotate(m) {
				recorded = append(recorded, mark+line.String())
			}
		}
	}
	n := 0
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "> 0") && !strings.HasPrefix(line, "< 0") {
			continue
		}
		n++
		at := slices.Index(recorded, line)
		if at < 0 {
			t.Errorf("docs/wais.md has a line that was not recorded, or not in this order: %s", line)
			continue
		}
		recorded = recorded[at+1:]
	}
	if n < 40 {
		t.Errorf("only %d lines", n)
	}
}
