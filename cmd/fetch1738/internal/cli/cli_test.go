package cli

import (
	"bytes"
	"context"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// An error message is one printable line, whatever it is about.
func TestFail(t *testing.T) {
	var out bytes.Buffer
	c := New("try", "try", "", func(v *Verb) func(context.Context) int {
		return func(context.Context) int { return v.Fail(7, "%s: %s", "a\x1b[31m", "b\nfetch1738: c") }
	})
	if code := c.Run(t.Context(), nil, stdio.Streams{Err: &out}); code != 7 || out.String() != "fetch1738: (7) try: a␛[31m: b␊fetch1738: c\n" {
		t.Errorf("%d, %q", code, out.String())
	}
}
