package archie

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/verbtest"
)

// TestArguments tests the command that the verb is short for, and its exit code.
func TestArguments(t *testing.T) {
	t.Setenv("ARCHIE_HOST", "archie.example:1525")
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"xv"}, "search --match exact --max-hits 95 -- prospero://archie.example:1525/ xv"},
		{[]string{"--archie-server", "other.example", "--search", "regex", "--hits", "2500", "-v", "x.*"}, "search --match regex --max-hits 2500 --verbose -- prospero://other.example/ x.*"},
		{[]string{"--archie-server", "::1", "--", "-x"}, "search --match exact --max-hits 95 -- prospero://[::1]/ -x"},
	} {
		var got []string
		verb := Command(func(_ context.Context, args []string, _ stdio.Streams) int { got = args; return 1 })
		if done := verbtest.Run(t, verb, "", tc.args...); done.Code != 1 || strings.Join(got, " ") != tc.want {
			t.Errorf("%q: %+v, %q, want %q", tc.args, done, got, tc.want)
		}
	}
}

// TestArgumentsRefused tests that nothing is searched for with arguments that mean nothing.
func TestArgumentsRefused(t *testing.T) {
	t.Setenv("ARCHIE_HOST", "")
	server := []string{"--archie-server", "archie.example"}
	for want, args := range map[string][]string{
		"requires exactly one NAME":                                              nil,
		"no archie server; set --archie-server HOST or $ARCHIE_HOST":             {"xv"},
		"--search glob: unknown kind; use exact, substring, case or regex":       slices.Concat(server, []string{"--search", "glob", "xv"}),
		"--hits 0: out of range; use 1 to 2500":                                  slices.Concat(server, []string{"--hits", "0", "xv"}),
		"--hits 2501: out of range; use 1 to 2500":                               slices.Concat(server, []string{"--hits", "2501", "xv"}),
		`--archie-server "archie.example:x" has an invalid port; use 0 to 65535`: {"--archie-server", "archie.example:x", "xv"},
	} {
		verb := Command(func(context.Context, []string, stdio.Streams) int { t.Errorf("%q searches", args); return 0 })
		done := verbtest.Run(t, verb, "", args...)
		if verbtest.OneLine(t, done.Err); done.Code != 2 || done.Out != "" || !strings.Contains(done.Err, "archie: "+want) {
			t.Errorf("%q: %+v, want %q", args, done, want)
		}
	}
}
