package render

import (
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	for _, tc := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 10, ""}, {"one two three", 7, "one two|three"}, {"one two three", 6, "one|two|three"}, {"unbreakable word", 5, "unbreakable|word"},
	} {
		if got := strings.Join(Fold(tc.text, tc.width), "|"); got != tc.want {
			t.Errorf("%q in %d: %q", tc.text, tc.width, got)
		}
	}
}
