package pool

import (
	"cmp"
	"slices"
	"sync"
)

// A Reporter reports the events of a run, one at a time. A failure in doubt is held until another
// request succeeds; if the run ends for the same reason, it is not reported.
type Reporter[E any] struct {
	report func(E)
	calm   func() bool
	stop   func()

	mu     sync.Mutex
	held   []failure[E] // that may end the run
	failed bool
	over   bool // a failure has ended the run
	err    error
}

// A failure is an error, and what makes an event of it.
type failure[E any] struct {
	err   error
	event func(err error, ends bool) E
}

// NewReporter returns a Reporter. report is called for each event that is certain. calm reports
// whether no failure is in doubt any more. stop breaks off the requests that are under way.
func NewReporter[E any](report func(E), calm func() bool, stop func()) *Reporter[E] {
	return &Reporter[E]{report: report, calm: calm, stop: stop}
}

// Tell reports an event.
func (r *Reporter[E]) Tell(e E) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report(e)
}

// Worked reports the event of a request that has succeeded. What is held was a failure, then.
func (r *Reporter[E]) Worked(e E) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calm() {
		r.release()
	}
	r.report(e)
}

// Fail reports a failure. event gets the error without its [Mark]. If that ends the run, the
// requests under way are broken off, and no other failure is reported.
func (r *Reporter[E]) Fail(err error, event func(err error, ends bool) E) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	r.failed = true
	mark, err := Unmark(err)
	f := failure[E]{err, event}
	switch mark {
	case Doubt:
		r.held = append(r.held, f)
		return
	case Ends:
		r.over = true
		r.held = slices.DeleteFunc(r.held, func(held failure[E]) bool { return SameReason(held.err, err) })
		r.release()
		r.stop()
	}
	r.say(f, mark == Ends)
}

// say reports a failure that is certain.
func (r *Reporter[E]) say(f failure[E], ends bool) {
	r.err = cmp.Or(r.err, f.err)
	r.report(f.event(f.err, ends))
}

// release reports what is held.
func (r *Reporter[E]) release() {
	for _, f := range r.held {
		r.say(f, false)
	}
	r.held = nil
}

// HasFailed reports whether something has failed so far.
func (r *Reporter[E]) HasFailed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// IsOver reports whether a failure has ended the run.
func (r *Reporter[E]) IsOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

// Flush reports what is held, and returns the first error that was reported.
func (r *Reporter[E]) Flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.release()
	return r.err
}
