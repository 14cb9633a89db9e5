package curl

import (
	"slices"
	"strings"
	"testing"
)

func TestSplitShort(t *testing.T) {
	for args, want := range map[string]string{
		"-o=x url":             "-o =x url",
		"-sSfLo=x url":         "-sSfLo =x url",
		"-sSfLo x url":         "-sSfLo x url",
		"-o -d=y -d=y":         "-o -d=y -d =y",
		"--output -d=y -dy":    "--output -d=y -d y",
		"--output=-d=y -s":     "--output=-d=y -s",
		"-Lkv --next -r0-5":    "-Lkv --next -r 0-5",
		"-s -- -o=x -d=y":      "-s -- -o=x -d=y",
		"--silent -d=y - -o":   "--silent -d =y - -o",
		"-9=x --nonsense -o=x": "-9=x --nonsense -o =x",
		"-:sd=x -#o=y":         "-:sd =x -#o =y",
		"--no-location -d --":  "--no-location -d --",
		"-oä -s":               "-o ä -s",
	} {
		if got := splitShort(strings.Fields(args)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q", args, got)
		}
	}
}

// Splitting takes nothing away and adds nothing, whatever the arguments.
func FuzzSplitShort(f *testing.F) {
	for _, s := range []string{"-o=x", "-sSfLo x", "-- -o=x", "--output -d=y", "-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Fields(line)
		if got := strings.Join(splitShort(args), ""); got != strings.Join(args, "") {
			t.Errorf("%q became %q", args, got)
		}
	})
}
