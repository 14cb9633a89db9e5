package main

import (
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/verbtest"
)

// TestArchiveRefuses tests the messages of the verbs that show an archive.
func TestArchiveRefuses(t *testing.T) {
	name := verbtest.ArchiveFile(t)
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"serve", "--archive", name + ".missing"}, 26, "missing"},
		{[]string{"serve", "--archive", name, "--at", "yesterday"}, 26, `--at "yesterday" is not a day such as 1994-12-01`},
		{[]string{"serve", "--archive", name, "--gopher", "0"}, 2, "--archive serves each site on a free port"},
		{[]string{"serve", "--archive", name, "--public"}, 2, "--archive serves each site on a free port"},
		{[]string{"serve", "--at", "1994-12-01"}, 2, "--at is for --archive"},
		{[]string{"gateway", "--at", "1994-12-01"}, 2, "--at is for --archive"},
		{[]string{"gateway", "--archive", name + ".missing"}, 26, "missing"},
		{[]string{"gateway", "--archive", name, "--open", "ftp://h.example/"}, 2, "without --archive"},
	} {
		got := runVerb(t, tc.args[0], "", tc.args[1:]...)
		if got.Code != tc.code || got.Out != "" || !strings.Contains(got.Err, tc.want) {
			t.Errorf("%q: %+v", tc.args, got)
		}
		verbtest.OneLine(t, got.Err)
	}
}
