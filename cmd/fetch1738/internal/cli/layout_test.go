package cli

import (
	"bytes"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
)

func TestRows(t *testing.T) {
	rows := []Row{{" -o, --output FILE", "one two three four five six seven eight"}, {"     --much-too-long-for-the-column NAME", "text"}, {" -x", "y"}}
	for _, tc := range []struct {
		width int
		want  string
	}{
		{53, "" +
			" -o, --output FILE  one two three four five six seven\n" +
			"                    eight\n" +
			"     --much-too-long-for-the-column NAME\n" +
			"                    text\n" +
			" -x                 y\n"},
		{38, "" +
			" -o, --output FILE\n" +
			"      one two three four five six\n" +
			"      seven eight\n" +
			"     --much-too-long-for-the-column\n" +
			"      NAME\n" +
			"      text\n" +
			" -x   y\n"},
	} {
		if got := Rows(rows, tc.width); got != tc.want {
			t.Errorf("on %d columns:\n%s\nwant\n%s", tc.width, got, tc.want)
		}
	}
}

func TestOptionAlone(t *testing.T) {
	got := Options([]curl.Option{{Long: "search", Arg: "exact|substring|case|regex", Help: "text"}}, 80)
	if want := "     --search exact|substring|case|regex\n      text\n"; got != want {
		t.Errorf("got:\n%s", got)
	}
}

func TestProse(t *testing.T) {
	const text = `Usage: fetch1738 verb [--json] [--allow-port PORT]
                       URL...

One two three four five
six seven.

  $ fetch1738 verb with a long line that is an example
`
	for _, tc := range []struct {
		width int
		want  string
	}{
		{80, "Usage: fetch1738 verb [--json] [--allow-port PORT] URL...\n\nOne two three four five six seven.\n\n  $ fetch1738 verb with a long line that is an example\n"},
		{40, "Usage: fetch1738 verb [--json]\n      [--allow-port PORT] URL...\n\nOne two three four five six seven.\n\n  $ fetch1738 verb with a long line that is an example\n"},
		{20, "Usage: fetch1738\n      verb [--json]\n      [--allow-port PORT]\n      URL...\n\nOne two three four\nfive six seven.\n\n  $ fetch1738 verb with a long line that is an example\n"},
	} {
		if got := Prose(text, tc.width); got != tc.want {
			t.Errorf("on %d columns:\n%s\nwant\n%s", tc.width, got, tc.want)
		}
	}
}

func TestWidthWithoutTerminal(t *testing.T) {
	if got := Width(new(bytes.Buffer)); got != 80 {
		t.Errorf("%d columns", got)
	}
}
