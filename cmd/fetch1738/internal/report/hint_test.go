package report

import (
	"os"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
)

// Every hint is shown in the script hint.txtar. Those made of what is known of
// a transfer begin in the same way with nothing known.
func TestHintsAreShown(t *testing.T) {
	script, err := os.ReadFile("../../testdata/script/hint.txtar")
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.NewReplacer(`\`, "", `''`, `'`).Replace(string(script))
	for _, h := range hints() {
		text := h.text(&told{Result: &transfer.Result{Task: transfer.Task{URL: "name"}}, reporter: new(Reporter)})
		if start := text[:min(len(text), 12)]; !strings.Contains(shown, "hint: "+start) {
			t.Errorf("no script shows the hint %q", text)
		}
	}
}
