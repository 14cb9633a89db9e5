package judge

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
)

// A Judge judges one client.
type Judge struct {
	Client Client
	// Limit is how long a client may take in a case; 0 means [Limit].
	Limit time.Duration
	// Parallel is how many clients run at once; 0 means two for each processor. Those that wait for
	// limits of their own run later, many at once (Waiting).
	Parallel int
	// Waiting is how many clients that wait run at once; 0 means 16 for each processor.
	Waiting int
	// Folder is where folders for the cases are made; "" means the usual one for temporary files.
	Folder string
	// Ended is called with each result at once, in the order in which the cases end and one at a
	// time. All yields them later, in the order of the cases. If nil, it is not called.
	Ended func(Result)
}

// Limit is the usual limit of a case. An ordinary client needs some milliseconds; one that waits
// for a server is expected to have a limit below this.
const Limit = 20 * time.Second

// All judges the client in all cases, and yields the results in the order of the cases. If it does
// not pass the first case of a scheme and task, which has an ordinary server, the other cases of
// that scheme and task are left out. If that first case is not among the cases, it is tried all the
// same, and there is a result only if the client does not pass it. The results end early with ctx.
func (j *Judge) All(ctx context.Context, cases []Case) iter.Seq[Result] {
	return func(yield func(Result) bool) {
		cases := withPlain(cases)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		b := &batch{judge: j, cases: cases, results: make([]chan Result, len(cases))}
		for i := range cases {
			b.results[i] = make(chan Result, 1)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			b.run(ctx)
		}()
		defer func() { cancel(); <-done }()
		for _, result := range b.results {
			r, ok := <-result
			if ok && r.left() {
				continue
			}
			if ctx.Err() != nil || ok && !yield(r) {
				return
			}
		}
	}
}

// withPlain returns the cases, after those of ordinary servers that they lack.
func withPlain(cases []Case) []Case {
	has, lacks := make(map[string]bool), make(map[string]bool)
	for _, c := range cases {
		if lacks[c.group()] = true; c.Plain() {
			has[c.group()] = true
		}
	}
	var plain []Case
	for _, c := range slices.Concat(Cases(), Reports()) {
		if c.Plain() && lacks[c.group()] && !has[c.group()] {
			c.unasked = true
			plain = append(plain, c)
		}
	}
	return append(plain, cases...)
}

// left reports whether a result is left out: it shows that the client can do what it is judged in.
func (r Result) left() bool { return r.Case.unasked && r.Verdict == Right }

// batch is one call of All.
type batch struct {
	judge   *Judge
	cases   []Case
	results []chan Result // of each case; closed without one if it was left out
}

// run runs the plain cases, then the others, then those that wait.
func (b *batch) run(ctx context.Context) {
	passes := make(map[string]bool)
	var mu sync.Mutex
	part := func(parallel int, which func(Case) bool) {
		places := make(chan struct{}, parallel)
		var all sync.WaitGroup
		for i, c := range b.cases {
			if !which(c) {
				continue
			}
			mu.Lock()
			passed, known := passes[c.group()]
			mu.Unlock()
			if ctx.Err() != nil || known && !passed && !c.Plain() {
				close(b.results[i])
				continue
			}
			places <- struct{}{}
			all.Go(func() {
				defer func() { <-places }()
				result := b.judge.runCase(ctx, c)
				mu.Lock()
				if c.Plain() {
					passes[c.group()] = result.Verdict == Right
				}
				if b.judge.Ended != nil && ctx.Err() == nil && !result.left() {
					b.judge.Ended(result)
				}
				mu.Unlock()
				b.results[i] <- result
				close(b.results[i])
			})
		}
		all.Wait()
	}
	parallel := cmp.Or(b.judge.Parallel, 2*runtime.GOMAXPROCS(0))
	part(parallel, func(c Case) bool { return c.Plain() })
	part(parallel, func(c Case) bool { return !c.Plain() && !c.Waits })
	part(cmp.Or(b.judge.Waiting, 16*runtime.GOMAXPROCS(0)), func(c Case) bool { return !c.Plain() && c.Waits })
}

// runCase runs the client in a case of its own.
func (j *Judge) runCase(ctx context.Context, c Case) Result {
	run, err := testcase.Begin(ctx, c.definition, j.Folder)
	defer run.End()
	if err != nil {
		return Result{Case: c, Verdict: GaveUp, Cause: CauseSetup, Claim: "the case cannot be set up: " + err.Error()}
	}
	c = c.given(run)
	limit := cmp.Or(j.Limit, Limit)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	start := time.Now()
	said := make(chan error, 1)
	go func() {
		err := j.Client.call(limited, c)
		if err == nil && run.Again != nil {
			if err = run.Again(); err == nil {
				err = j.Client.call(limited, c)
			}
		}
		said <- err
	}()
	select {
	case err = <-said:
	case <-limited.Done():
		select { // it may have ended at once
		case err = <-said:
		case <-time.After(grace):
			err = limited.Err()
		}
	}
	took := time.Since(start)
	hung := limited.Err() != nil && err != nil
	if hung {
		err = fmt.Errorf("no end within %v", limit)
	}
	return verdict(c, run, err, hung, took)
}

// grace is how long a client may need to end after its limit.
const grace = 2 * time.Second
