package mirror

import (
	"context"

	"github.com/fetch1738/fetch1738/internal/sync/pool"
)

// A reporter counts and reports what happens in a run, and writes failures to the manifest. It is safe
// for concurrent use.
type reporter struct {
	manifest *manifest
	events   *pool.Reporter[Event]
	sum      Summary // complete when the run has ended
}

// newReporter returns a reporter that calls to, unless that is nil, for each event that is certain. stop
// breaks off the requests of the run, if an error ends it.
func newReporter(to func(Event), m *manifest, p *pool.Pool, stop context.CancelFunc) *reporter {
	r := &reporter{manifest: m}
	r.events = pool.NewReporter(func(e Event) {
		if r.sum.count(e); to != nil {
			to(e)
		}
	}, p.IsCalm, stop)
	return r
}

// report counts an event and reports it. A failure in doubt is held until a file or listing has
// arrived.
func (r *reporter) report(e Event) {
	switch e.Action {
	case Failed:
		r.events.Fail(e.Err, func(err error, ends bool) Event {
			e.Err, e.Ends = err, ends
			return e
		})
	case Listed, Added, Replaced:
		r.events.Worked(e)
	default:
		r.events.Tell(e)
	}
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
