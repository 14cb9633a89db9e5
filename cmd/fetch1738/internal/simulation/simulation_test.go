package simulation

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/internal/raced"
)

// fixed is how many seeds each run of the tests has. most is after how many different failures
// TestSeeds ends.
const (
	fixed = 2000
	most  = 5
)

// TestSeeds runs many worlds. SIM_SEEDS is another number of them, or a range such as 5000-6000, or
// "fresh" and a number of seconds, as in fresh60: as many as fit, from a seed that nobody has
// chosen. SIM_OPERATIONS is a regular expression for
// operations with their schemes, as in "Download ftp": others are left out.
func TestSeeds(t *testing.T) {
	number := fixed
	if raced.Enabled {
		number /= 20
	}
	from, to, end := seeds(t, cmp.Or(os.Getenv("SIM_SEEDS"), strconv.Itoa(number)))
	alone(t)
	acted, failed, began := make(map[string]int), make(map[string]bool), time.Now()
	operations := regexp.MustCompile(os.Getenv("SIM_OPERATIONS"))
	tell := os.Getenv("SIM_TELL") // a file for the current plan, in case that the program crashes
	last, failures := from, ""
	defer func() { // a data race ends the test in the middle
		var events []string
		for _, name := range slices.Sorted(maps.Keys(acted)) {
			events = append(events, fmt.Sprintf("%s %d", name, acted[name]))
		}
		if t.Failed() && failures == "" {
			failures = fmt.Sprintf("\nseed %d: see above", last)
		}
		// The failures come last: of a long output, people often see the end only.
		t.Logf("seeds %d to %d in %v: %s%s", from, last, time.Since(began).Round(time.Second), strings.Join(events, ", "), failures)
	}()
	for seed := from; seed < to && len(failed) < most && (end == 0 || time.Since(began) < end); seed++ {
		last = seed
		p := Draw(seed)
		if !operations.MatchString(p.about()) {
			continue
		}
		if tell != "" {
			_ = os.WriteFile(tell, []byte(p.String()), 0o666)
		}
		o := Run(t, p, false)
		for name, n := range o.Acted {
			acted[name] += n
		}
		if len(o.Broken) > 0 && !failed[class(o.Broken[0])] {
			failed[class(o.Broken[0])] = true
			report(t, seed, p, o)
			failures += fmt.Sprintf("\nseed %d: %.300s", seed, o.Broken[0])
		}
	}
}

// seeds reads SIM_SEEDS.
func seeds(t *testing.T, text string) (from, to uint64, end time.Duration) {
	if seconds, fresh := strings.CutPrefix(text, "fresh"); fresh {
		n, err := strconv.Atoi(seconds)
		if err != nil {
			t.Fatalf("SIM_SEEDS=%s: %v", text, err)
		}
		from = rand.Uint64N(1 << 40)
		return from, from + 1<<40, time.Duration(n) * time.Second
	}
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
	return from, to, 0
}

// alone makes the order of what happens the same in each run: one goroutine runs at a time, and
// memory is not collected meanwhile, unless a world needs very much.
func alone(t *testing.T) {
	procs, percent, limit := runtime.GOMAXPROCS(1), debug.SetGCPercent(-1), debug.SetMemoryLimit(2<<30)
	t.Cleanup(func() {
		runtime.GOMAXPROCS(procs)
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}

// rows is the file of the plans that have failed once. Each line is a plan, behind the reason.
const rows = "testdata/plans.txt"

var record = flag.Bool("record", false, "add the plans of failures to "+rows)

// report shows the simplest plan that goes wrong in the same way. With -record, it becomes a row.
func report(t *testing.T, seed uint64, p *Plan, o *Outcome) {
	t.Errorf("seed %d: %s\nrepeat it: SIM_SEEDS=%[1]d-%[1]d go test ./cmd/fetch1738/internal/simulation -run TestSeeds -v", seed, strings.Join(o.Broken, "\n"))
	short := Shrink(p, func(q *Plan) bool {
		return slices.ContainsFunc(Run(t, q, false).Broken, func(text string) bool { return class(text) == class(o.Broken[0]) })
	})
	again := Run(t, short, true)
	t.Logf("%s\nshorter: %s\n%s\n%s", p, strings.Join(again.Broken, "\n"), short, strings.Join(again.Log, "\n"))
	if *record {
		f, err := os.OpenFile(rows, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
		if err == nil {
			_, err = fmt.Fprintf(f, "# %s\n%s\n", class(o.Broken[0]), short)
			f.Close()
		}
		if err != nil {
			t.Error(err)
		}
	}
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

// TestRows runs the plans that have failed once.
func TestRows(t *testing.T) {
	alone(t)
	f, err := os.Open(rows)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	why, n := "", 0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		if reason, ok := strings.CutPrefix(line, "# "); ok {
			why = reason
			continue
		}
		n++
		p := new(Plan)
		if err := json.Unmarshal([]byte(line), p); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if o := Run(t, p, false); len(o.Broken) > 0 {
			t.Errorf("%s:\n%s\n%s", why, strings.Join(o.Broken, "\n"), line)
		}
	}
	if err := lines.Err(); err != nil || n == 0 {
		t.Errorf("%d plans: %v", n, err)
	}
}

// TestReplay runs worlds again: everything happens in the same order and at the same time.
func TestReplay(t *testing.T) {
	if raced.Enabled {
		t.Skip("the race detector changes the order")
	}
	alone(t)
	for seed := range uint64(300) {
		p := Draw(seed)
		if n, ok := repeats(func() uint64 { return Run(t, p, false).Sum }); !ok {
			t.Errorf("seed %d: %d runs, and no two thirds of them are the same", seed, n)
			showDifference(t, Run(t, p, true).Log, Run(t, p, true).Log)
		}
	}
}

// repeats reports whether a run is the same each time, after how many runs. Two that are the same
// are enough. Otherwise it counts, because a machine that runs other programs disturbs some runs:
// if the goroutine that runs has no processor for 10 ms, the scheduler prefers another one that is
// ready at the same simulated time. At a load of 24, that is one run in 14 of a large world. A world
// that depends on chance differs in half of its runs or more. So a run like most counts one for the
// world, any other two against it, and twelve decide: that is wrong about once in 400 for one that
// has two ways, and once in a million for one that the machine disturbs.
func repeats(run func() uint64) (n int, ok bool) {
	const enough = 12
	times, most := make(map[uint64]int), 0
	for n < 200 {
		n++
		sum := run()
		times[sum]++
		most = max(most, times[sum])
		switch score := most - 2*(n-most); {
		case n == 2 && most == 2, score >= enough:
			return n, true
		case score <= -enough:
			return n, false
		}
	}
	return n, false
}

// TestRepeats decides about runs that chance or the machine changes.
func TestRepeats(t *testing.T) {
	chance := rand.New(rand.NewPCG(1738, 0))
	for _, c := range []struct {
		name  string
		run   func() uint64
		wrong int // of a thousand decisions
		ok    bool
	}{
		{"always the same", func() uint64 { return 7 }, 0, true},
		{"never the same", chance.Uint64, 0, false},
		{"one in ten is another one", func() uint64 {
			if chance.IntN(10) == 0 {
				return chance.Uint64()
			}
			return 7
		}, 2, true},
		// The first two are the same in half of the cases.
		{"two ways", func() uint64 { return chance.Uint64N(2) }, 540, false},
	} {
		wrong := 0
		for range 1000 {
			if _, ok := repeats(c.run); ok != c.ok {
				wrong++
			}
		}
		if wrong > c.wrong {
			t.Errorf("%s: %d of 1000 decisions are wrong, want %d at most", c.name, wrong, c.wrong)
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

// TestShrink finds the one event of many that matters.
func TestShrink(t *testing.T) {
	p := Draw(1)
	p.Twice, p.Slow = true, true
	p.Events = []Event{{Kind: "jump", At: 1}, {Kind: "cut", At: 2}, {Kind: "kill", At: 3}}
	short := Shrink(p, func(q *Plan) bool {
		return slices.ContainsFunc(q.Events, func(e Event) bool { return e.Kind == "cut" })
	})
	if len(short.Events) != 1 || short.Twice || short.Slow || len(short.Sites[0].Files) != 1 || short.Sites[0].Files[0].Size != 0 {
		t.Errorf("shrunk to %s", short)
	}
}
