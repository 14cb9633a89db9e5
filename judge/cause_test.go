package judge

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
)

// TestCauses checks that each cause has a sentence and a verdict, and that the worst verdict is first.
func TestCauses(t *testing.T) {
	all := Causes()
	for i, c := range all {
		if text := c.Sentence(); !strings.HasPrefix(text, "It ") && c != CauseSetup || !strings.HasSuffix(text, ".") || c.Verdict() == Right {
			t.Errorf("%s: %q, %v", c, text, c.Verdict())
		}
		if i > 0 && c.Verdict() > all[i-1].Verdict() || slices.Index(all, c) != i {
			t.Errorf("%s is in a wrong place", c)
		}
	}
	for _, c := range []Cause{"", "none"} {
		if c.Sentence() != "" || c.Verdict() != Right {
			t.Errorf("%q: %q, %v", c, c.Sentence(), c.Verdict())
		}
	}
}

// TestCauseOfVerdict has a client that writes half a document, then one that fails: the cause tells
// them apart, and what is said and what is true are apart.
func TestCauseOfVerdict(t *testing.T) {
	const plain, cut, stranger = "http/download/plain", "http/download/body/cut/1000", "https/download/certificate/untrusted"
	half := func(_ context.Context, c Case) error { return os.WriteFile(c.Out, testcase.Octets(1000)[:500], 0o600) }
	fails := func(context.Context, Case) error { return errors.New("no") }
	for _, tc := range []struct {
		on     string
		client Client
		want   Result
		why    string
	}{
		{plain, half, Result{Verdict: Lied, Cause: CauseCut, Claim: "success", Fact: "the file has only the first 500 of 1000 bytes"}, "success, but the file has only the first 500 of 1000 bytes"},
		{plain, fails, Result{Verdict: GaveUp, Cause: CauseError, Claim: "no"}, "no"},
		{cut, fails, Result{Verdict: Right, Claim: "no"}, "no"},
		{stranger, half, Result{Verdict: Lied, Cause: CauseImpossible, Claim: "success", Fact: "the server cannot prove that it is the host of the URL"}, ""},
		{plain, func(context.Context, Case) error { return &CrashError{"signal: killed"} }, Result{Verdict: Crashed, Cause: CauseCrash, Claim: "signal: killed"}, "signal: killed"},
		{plain, func(_ context.Context, c Case) error {
			return errors.Join(errors.New("no"), os.WriteFile(c.Dir+"/../../evil", nil, 0o600))
		},
			Result{Verdict: Lied, Cause: CauseOutside, Claim: "no", Fact: `it has written "in/evil" outside of its folder`}, `no, but it has written "in/evil" outside of its folder`},
	} {
		r := (&Judge{Client: tc.client, Folder: t.TempDir()}).runCase(t.Context(), named(t, tc.on))
		if r.Verdict != tc.want.Verdict || r.Cause != tc.want.Cause || r.Claim != tc.want.Claim || r.Fact != tc.want.Fact || tc.why != "" && r.Why() != tc.why {
			t.Errorf("%s: %v, %s: %q, %q: %s", tc.on, r.Verdict, r.Cause, r.Claim, r.Fact, r.Why())
		}
	}
}

// TestGrouped has the worst cause first, and the results of each in their order.
func TestGrouped(t *testing.T) {
	var results []Result
	for _, text := range []string{"error a", "cut b", " c", "hang d", "cut e", "secret f"} {
		cause, name, _ := strings.Cut(text, " ")
		results = append(results, Result{Case: Case{Name: name}, Cause: Cause(cause)})
	}
	var got []string
	for _, g := range Grouped(results) {
		for _, r := range g.Results {
			got = append(got, string(g.Cause)+" "+r.Case.Name)
		}
	}
	if want := []string{"secret f", "cut b", "cut e", "hang d", "error a"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestEnded hears of each result once, also of those that All yields late, and of none that All
// leaves out.
func TestEnded(t *testing.T) {
	cases := Select(Cases(), "http/download/body/cut/1000", "http/download/body/cut/1", "http/download/status/404")
	var ended, yielded []string
	j := &Judge{Client: get, Folder: t.TempDir(), Ended: func(r Result) { ended = append(ended, r.Case.Name) }}
	for r := range j.All(t.Context(), cases) {
		yielded = append(yielded, r.Case.Name)
	}
	slices.Sort(ended)
	if slices.Sort(yielded); len(ended) != len(cases) || !slices.Equal(ended, yielded) {
		t.Errorf("%q ended, %q were yielded", ended, yielded)
	}
}
