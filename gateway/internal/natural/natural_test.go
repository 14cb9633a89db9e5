package natural

import (
	"slices"
	"strings"
	"testing"
)

// TestCompare tests lists of names that are in order.
func TestCompare(t *testing.T) {
	for _, names := range []string{
		"file-1 file-2 File-3 file-9 file-10 file-11 file-20",
		"alpha apple Apricot banana Beta",
		"1 2 10 a",
		"v1.2.9 v1.2.10 v1.10.0",
		"a a01 a1 ab",
		"x9999999999999999999998 x9999999999999999999999 x10000000000000000000000",
		"Ecole ecole Été été",
	} {
		want := strings.Fields(names)
		got := slices.Clone(want)
		slices.Reverse(got)
		slices.SortFunc(got, Compare)
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// FuzzCompare tests that Compare is an order: only equal names are equal, and it is antisymmetric
// and transitive.
func FuzzCompare(f *testing.F) {
	f.Add("file-2", "File-10", "file-010")
	f.Add("a\xff1", "a\xfe01", "")
	f.Add("1", "01", "1a")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if (Compare(a, b) == 0) != (a == b) || Compare(a, b) != -Compare(b, a) {
			t.Errorf("%q and %q: %d and %d", a, b, Compare(a, b), Compare(b, a))
		}
		if Compare(a, b) <= 0 && Compare(b, c) <= 0 && Compare(a, c) > 0 {
			t.Errorf("%q, %q and %q", a, b, c)
		}
	})
}
