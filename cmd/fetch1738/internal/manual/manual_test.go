package manual

import (
	"context"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/verbtest"
)

// TestPage tests that the page has the verbs with their options, and that nothing in a text is a
// request of roff.
func TestPage(t *testing.T) {
	knit := cli.New("knit", "knit a scarf.\n.de x", "Usage: fetch1738 knit\n", func(v *cli.Verb) func(context.Context) int {
		v.Bool("purl", false, `Purl a \ in front`)
		return nil
	})
	done := verbtest.Run(t, Command(func() []cli.Command { return []cli.Command{knit} }), "")
	for _, want := range []string{
		".B fetch1738 knit\n", ".SS fetch1738 knit\nknit a scarf.\n\\&.de x.\n", "\\fB\\-\\-purl\\fR\nPurl a \\e in front.\n",
		"\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fI", ".TP\n.B 28\n",
	} {
		if !strings.Contains(done.Out, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if done.Code != 0 || done.Err != "" || strings.Contains(done.Out, "{verbs}") {
		t.Errorf("code %d, %s", done.Code, done.Err)
	}
	if done := verbtest.Run(t, Command(func() []cli.Command { return nil }), "", "x"); done.Code != 2 {
		t.Errorf("an argument: %+v", done)
	}
}
