package pool

import (
	"errors"
	"slices"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

// A failure in doubt is reported when another request has succeeded, at the end, or before the one that
// ends the run, unless that has the same reason.
func TestReporter(t *testing.T) {
	lost := &fetch.Error{Op: fetch.OpConnect, Kind: fetch.ErrUnreachable}
	full := errors.New("no room")
	for name, test := range map[string]struct {
		run  func(r *Reporter[string])
		want []string
		err  error
	}{
		"success":     {func(r *Reporter[string]) { r.Worked("a") }, []string{"a"}, nil},
		"own":         {func(r *Reporter[string]) { fail(r, "a", full); r.Tell("b") }, []string{"a fails", "b"}, full},
		"held":        {func(r *Reporter[string]) { fail(r, "a", InDoubt(lost)); r.Tell("b"); r.Worked("c") }, []string{"b", "a fails", "c"}, lost},
		"at the end":  {func(r *Reporter[string]) { fail(r, "a", InDoubt(lost)); r.Tell("b") }, []string{"b", "a fails"}, lost},
		"same reason": {func(r *Reporter[string]) { fail(r, "a", InDoubt(lost)); fail(r, "b", Over(lost)) }, []string{"stop", "b ends"}, lost},
		"another":     {func(r *Reporter[string]) { fail(r, "a", InDoubt(lost)); fail(r, "b", Over(full)) }, []string{"a fails", "stop", "b ends"}, lost},
		"after it":    {func(r *Reporter[string]) { fail(r, "a", Over(full)); fail(r, "b", lost); r.Tell("c") }, []string{"stop", "a ends", "c"}, full},
	} {
		var got []string
		r := NewReporter(func(e string) { got = append(got, e) }, func() bool { return true }, func() { got = append(got, "stop") })
		test.run(r)
		if err := r.Flush(); err != test.err || !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, %v; want %q, %v", name, got, err, test.want, test.err)
		}
		if r.HasFailed() != (test.err != nil) || r.IsOver() != slices.Contains(got, "stop") {
			t.Errorf("%s: failed %v, over %v", name, r.HasFailed(), r.IsOver())
		}
	}
}

func fail(r *Reporter[string], file string, err error) {
	r.Fail(err, func(_ error, ends bool) string {
		if ends {
			return file + " ends"
		}
		return file + " fails"
	})
}
