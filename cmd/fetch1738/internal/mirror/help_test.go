package mirror

import (
	"strings"
	"testing"
)

// The help fits the width of the terminal and contains every option.
func TestHelpFolds(t *testing.T) {
	for _, width := range []int{40, 60, 80, 120} {
		text := Command().Help(width)
		for line := range strings.Lines(text) {
			if len(line)-1 > width && !strings.HasPrefix(line, "  $ ") {
				t.Errorf("%d columns on %d: %q", len(line)-1, width, line)
			}
		}
		whole := strings.Join(strings.Fields(text), " ")
		for _, o := range new(settings).options() {
			if want := "--" + o.Long; !strings.Contains(whole, want) || !strings.Contains(whole, o.Help) {
				t.Errorf("no %s, %q on %d columns:\n%s", want, o.Help, width, text)
			}
		}
	}
}
