package deploy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
	"github.com/fetch1738/fetch1738/internal/sync/site"
)

// A journal makes the events of a run, and keeps what of them later steps ask for.
type journal struct {
	*pool.Reporter[Event]
	site    *site.Site
	renamed map[string]string // the paths in Dir of what has another path on the server, by the latter
	noted   sync.Map          // the texts of the notes so far

	mu     sync.Mutex
	broken map[string]bool // directories whose failure was reported
}

func newJournal(s *site.Site, r *pool.Reporter[Event]) *journal {
	return &journal{Reporter: r, site: s, renamed: make(map[string]string), broken: make(map[string]bool)}
}

// at returns an event about a path on the server.
func (j *journal) at(a Action, name string, dir bool) Event {
	return Event{Action: a, File: cmp.Or(j.renamed[name], name), URL: j.site.URL(components(name), dir), Size: -1}
}

// of returns an event about a file.
func (j *journal) of(a Action, f *file) Event {
	e := j.at(a, f.path, false)
	e.File, e.Size = cmp.Or(f.local, e.File), f.size
	return e
}

// listed reports that a directory has been listed.
func (j *journal) listed(dir string, d site.Directory) {
	j.Worked(Event{Action: Listed, URL: j.site.URL(components(dir), true), Size: -1, Files: d.Files()})
}

// failAs reports an event of a failure.
func (j *journal) failAs(e Event, err error) {
	j.Fail(err, func(err error, ends bool) Event {
		e.Action, e.Err, e.Ends = Failed, err, ends
		return e
	})
}

// fail reports a failure. A request that an interruption broke off is not a failure.
func (j *journal) fail(ctx context.Context, name string, dir bool, err error) {
	if ctx.Err() != nil {
		return
	}
	j.failAs(j.at(Failed, name, dir), err)
	if dir {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.broken[name] = true
	}
}

// failFile is fail for a file, which is then not placed.
func (j *journal) failFile(ctx context.Context, f *file, err error) {
	f.failed = true
	if ctx.Err() == nil {
		e := j.of(Failed, f)
		e.Size = -1
		j.failAs(e, err)
	}
}

// isSaid reports whether the failure of a directory, or of one above it, has been reported.
func (j *journal) isSaid(dir string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for ; !j.broken[dir]; dir = path.Dir(dir) {
		if dir == "." {
			return false
		}
	}
	return true
}

// note reports once how the server departs from what is usual.
func (j *journal) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if _, again := j.noted.LoadOrStore(text, true); !again {
		j.Tell(Event{Action: Noted, URL: j.site.URL(nil, true), Size: -1, Err: errors.New(text)})
	}
}

// unchanged reports a file that need not be sent.
func (j *journal) unchanged(f *file) {
	f.placed = true
	j.Tell(j.of(Unchanged, f))
}

// watch returns a copy of ctx in which the transfer of a file is reported. from is the number of bytes that
// the server has already.
func (j *journal) watch(ctx context.Context, f *file, from int64) (context.Context, *pool.Part) {
	part := pool.NewPart(func(octets int64) {
		e := j.of(Progress, f)
		e.Octets = octets
		j.Tell(e)
	})
	part.Set(from)
	return fetch.WithTrace(ctx, &fetch.Trace{Body: part.Add}), part
}
