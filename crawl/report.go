package crawl

import (
	"context"
	"fmt"
	"time"
)

// longWait is the shortest wait for a host that is reported although nothing has failed.
const longWait = 3 * time.Second

// report calls Report.
func (r *run) report(e Event) {
	if r.Report == nil {
		return
	}
	e.Queued = r.frontier.open()
	r.Report(e)
}

// open returns the number of URLs that are to be fetched from hosts that are not given up.
func (f *frontier) open() int {
	n := f.totals.Queued
	for _, h := range f.byID {
		if h.Dead != "" {
			n -= h.Queued
		}
	}
	return n
}

// sayWait reports a long wait in which nothing is asked, once.
func (r *run) sayWait(ctx context.Context) {
	if r.busy > 0 || len(r.due) == 0 || r.stopped || ctx.Err() != nil {
		return
	}
	h := r.due[0]
	e := Event{Host: h.Name, Next: h.due, Reason: h.why}
	if time.Until(h.due) >= longWait && e != r.waiting {
		r.waiting = e
		r.report(e)
	}
}

// refuse remembers the first refusal by the policy.
func (j *job) refuse() {
	if j.run.refused == nil {
		j.run.refused = j.err
	}
}

// onlyRefused returns the error of a run that has fetched no more than Start, because the policy has
// refused what is linked.
func (r *run) onlyRefused() error {
	if r.refused == nil || len(r.Start) == 0 || r.frontier.totals.Documents > len(r.Start) || r.frontier.open() > 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrRefused, r.refused)
}
