package simulation

import (
	"cmp"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// most is after how many different failures TestSeeds ends.
const most = 5

// fixed is how many seeds each run of the tests has.
const fixed = 2000

// TestSeeds runs many worlds. SIM_SEEDS is another number of them, or a range such as 5000-6000.
func TestSeeds(t *testing.T) {
	from, to := seeds(t, cmp.Or(os.Getenv("SIM_SEEDS"), strconv.Itoa(fixed)))
	alone(t)
	acted := make(map[string]int)
	began := time.Now()
	failed := make(map[string]bool) // by what went wrong
	for seed := from; seed < to && len(failed) < most; seed++ {
		p := Draw(seed)
		if os.Getenv("SIM_TELL") != "" {
			_ = os.WriteFile(os.Getenv("SIM_TELL"), []byte(p.String()), 0o666)
		}
		o := Run(t, p, false)
		Sums(acted, o.Acted)
		if len(o.Broken) > 0 && !failed[class(o.Broken[0])] {
			failed[class(o.Broken[0])] = true
			report(t, seed, p, o)
		}
	}
	t.Logf("%d seeds in %v", to-from, time.Since(began))
	for _, name := range slices.Sorted(maps.Keys(acted)) {
		t.Logf("%8d %s", acted[name], name)
	}
}

// alone makes the order of what happens the same in each run: one goroutine runs at a time, and memory is
// not collected meanwhile.
func alone(t *testing.T) {
	procs, percent := runtime.GOMAXPROCS(1), debug.SetGCPercent(-1)
	t.Cleanup(func() {
		runtime.GOMAXPROCS(procs)
		debug.SetGCPercent(percent)
	})
}

// report shows the shortest plan that goes wrong in the same way.
func report(t *testing.T, seed uint64, p *Plan, o *Outcome) {
	t.Errorf("seed %d: %s", seed, strings.Join(o.Broken, "\n"))
	t.Logf("%s", p)
	short := Shrink(p, func(q *Plan) bool {
		return slices.ContainsFunc(Run(t, q, false).Broken, func(text string) bool { return class(text) == class(o.Broken[0]) })
	})
	o = Run(t, short, true)
	t.Logf("shrunk: %s\n%s\n%s", strings.Join(o.Broken, "\n"), short, strings.Join(o.Log, "\n"))
}

func seeds(t *testing.T, text string) (from, to uint64) {
	first, last, isRange := strings.Cut(text, "-")
	from, err := strconv.ParseUint(first, 10, 64)
	if err == nil && isRange {
		to, err = strconv.ParseUint(last, 10, 64)
		to++
	} else if !isRange {
		from, to = 0, from
	}
	if err != nil {
		t.Fatalf("SIM_SEEDS=%s: %v", text, err)
	}
	return from, to
}

// class returns what kind of failure a text is about: without its numbers and reasons.
func class(text string) string {
	text, _, _ = strings.Cut(text, ": ")
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return -1
		}
		return c
	}, text)
}

// TestReplay runs worlds twice: everything happens again, in the same order and at the same time.
func TestReplay(t *testing.T) {
	alone(t)
	for seed := range uint64(300) {
		p := Draw(seed)
		if a, b := Run(t, p, false), Run(t, p, false); a.Sum != b.Sum || a.Steps != b.Steps {
			t.Errorf("seed %d: %d steps with sum %x, then %d with sum %x", seed, a.Steps, a.Sum, b.Steps, b.Sum)
			showDifference(t, Run(t, p, true).Log, Run(t, p, true).Log)
		}
	}
}

// showDifference shows where two logs begin to differ.
func showDifference(t *testing.T, a, b []string) {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Logf("...\n%s\nor\n%s", strings.Join(a[max(0, i-5):min(len(a), i+3)], "\n"), strings.Join(b[max(0, i-5):min(len(b), i+3)], "\n"))
			return
		}
	}
}
