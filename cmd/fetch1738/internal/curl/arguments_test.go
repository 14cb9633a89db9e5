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
		if got := splitShort(strings.Fields(args), Options()); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q", args, got)
		}
	}
}

// Splitting removes nothing and adds nothing, for any arguments.
func FuzzSplitShort(f *testing.F) {
	for _, s := range []string{"-o=x", "-sSfLo x", "-- -o=x", "--output -d=y", "-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Fields(line)
		if got := strings.Join(splitShort(args, Options()), ""); got != strings.Join(args, "") {
			t.Errorf("%q became %q", args, got)
		}
	})
}

// mayName accepts every spelling of an option; pflag would reject one that it misses as unknown.
func TestMayName(t *testing.T) {
	for _, o := range Options() {
		spellings := []string{"--" + o.Long, "--" + o.Long + "=x", "--expand-" + o.Long, "--no-" + strings.TrimPrefix(o.Long, "no-")}
		if o.Short != "" {
			spellings = append(spellings, "-"+o.Short, "-"+o.Short+"x", "-s"+o.Short)
		}
		for _, arg := range spellings {
			if !mayName([]string{"ftp://host/", arg}, o) {
				t.Errorf("%s does not name --%s", arg, o.Long)
			}
		}
		if mayName([]string{"ftp://host/" + o.Long, "-"}, o) {
			t.Errorf("a URL names --%s", o.Long)
		}
	}
}
