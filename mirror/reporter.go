package mirror

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/fetch1738/fetch1738/internal/sync/pool"
)

// A reporter counts and reports what happens in a run. It writes failures to the manifest, and decides
// which of them ends the run. It is safe for concurrent use.
type reporter struct {
	to       func(Event) // Mirror.Report; nil if nobody is told
	manifest *manifest
	pool     *pool.Pool
	stop     context.CancelFunc // breaks off the requests of the run

	mu   sync.Mutex
	sum  Summary
	err  error   // the first error
	over bool    // a failure has ended the run
	held []Event // failures that may end it
}

// report counts an event and reports it. If the error of a failure ends the run, requests that are
// under way are broken off, and none of them is a failure. A failure in doubt is held until another
// request succeeds; only if the run ends for the same reason, it is not reported.
func (r *reporter) report(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Action {
	case Failed:
		if r.over {
			return
		}
		var meaning pool.Mark
		switch meaning, e.Err = pool.Unmark(e.Err); meaning {
		case pool.Doubt:
			r.held = append(r.held, e)
			return
		case pool.Ends:
			e.Ends, r.over = true, true
			r.held = slices.DeleteFunc(r.held, func(held Event) bool { return pool.SameReason(held.Err, e.Err) })
			r.sayHeld()
			r.stop()
		}
	case Listed, Added, Replaced:
		if r.pool.IsCalm() {
			r.sayHeld()
		}
	}
	r.say(e)
}

// sayHeld reports the failures that are held. r.mu must be locked.
func (r *reporter) sayHeld() {
	for _, e := range r.held {
		r.say(e)
	}
	r.held = nil
}

// say is report for an event that is certain. r.mu must be locked.
func (r *reporter) say(e Event) {
	if e.Action == Failed {
		r.err = cmp.Or(r.err, e.Err)
	}
	r.sum.count(e)
	if r.to != nil {
		r.to(e)
	}
}

// finish reports the failures that are held, and returns the first error of the run.
func (r *reporter) finish() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sayHeld()
	return r.err
}

// write adds a line to the manifest.
func (r *reporter) write(line ManifestLine) {
	if err := r.manifest.add(line); err != nil {
		r.report(Event{Action: Failed, URL: line.URL, File: line.File, Size: -1, Err: err})
	}
}

// fail writes and reports a failure. A request that an interruption broke off is not a failure.
func (r *reporter) fail(ctx context.Context, url, file string, err error) {
	if ctx.Err() != nil {
		return
	}
	if writeErr := r.manifest.add(ManifestLine{URL: url, File: file, Size: -1, Time: now(), Error: err.Error()}); writeErr != nil {
		if meaning, _ := pool.Unmark(err); meaning != pool.Ends {
			err = writeErr
		}
	}
	r.report(Event{Action: Failed, URL: url, File: file, Size: -1, Err: err})
}

// failFile is fail for a local error. size is what the listing says.
func (r *reporter) failFile(url, file string, size int64, err error) {
	r.write(ManifestLine{URL: url, File: file, Size: -1, Time: now(), Error: err.Error()})
	r.report(Event{Action: Failed, URL: url, File: file, Size: size, Err: err})
}
