// Package deploy brings a tree of local files to a server: an ftp or file directory, or URLs of a
// web server that takes PUT. It is the other direction of package mirror, which has its API.
//
// Content decides what is sent. The state has the checksum of each file that was sent, and what the
// server listed afterwards; a file is left alone only if the server lists the same again. A file
// gets its name only when it is complete: it is stored under another one, its size is checked, and
// then it is renamed. At the end the directories are listed again: what the server does not list
// under its name has failed.
package deploy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/deploy/internal/state"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/pace"
	"github.com/fetch1738/fetch1738/internal/sync/filter"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
	"github.com/fetch1738/fetch1738/internal/sync/site"
	"github.com/fetch1738/fetch1738/locator"
)

// A Job is what to bring where. The fields are those of mirror.Mirror and mirror.Upload.
type Job struct {
	Server      site.Server
	Start       locator.Locator
	From        fetch.Provenance
	Options     any
	Dir         string
	Filter      filter.Filter
	Depth       int
	AnyDepth    bool // Depth is only the default: a deeper level is an error
	MaxEntries  int
	Pool        *pool.Pool
	Pace        *pace.Pace
	Retry       func(ctx context.Context, n int, err error) bool
	Delete      bool
	MaxDelete   int
	ErrKept     error // in the chain of the error of a run in which MaxDelete kept files
	NewOnly     bool
	DryRun      bool
	State       string
	StateDir    string
	RemoteState string
	Links       Links
	Order       []filter.Filter
	Modes       bool
	Checksums   bool
	Names       map[string]Name // of files and folders of a copy, by their paths in Dir
	Report      func(Event)     // calls are never concurrent
}

// A Name is the name on the server of a file or folder that has another name in Dir.
type Name struct {
	Server  string
	Refused error // why it is not used; may be nil
}

// Links says what is done with symbolic links.
type Links uint8

// What is done with links.
const (
	SkipLinks   Links = iota
	FollowLinks       // what they lead to is sent, if that is in the folder
	CopyLinks         // the server creates a link
)

// An Event is something that happened. The fields are those of mirror.Event.
type Event struct {
	What   What
	File   string
	URL    string
	Size   int64
	Files  int
	Octets int64
	Err    error
	Name   string // on the server, of Renamed
	Ends   bool   // of Failed: the run ends

	local string // the path in Dir, if File may be that of several files
}

// What is the kind of an Event.
type What uint8

// The kinds of Event.
const (
	Listed What = iota
	Planned
	Started
	Added
	Replaced
	Unchanged
	Checked
	Gone
	Deleted
	Failed
	Skipped
	Kept
	Noted // how the server departs from what is usual
	Missing
	Renamed // a file or folder has another name on the server
	Progress
)

// A run is the state of one Run.
type run struct {
	*Job
	site  site.Site
	root  disk.Folder // of Dir
	state *state.State

	ignored func(path string, dir bool) bool
	local   tree                      // what Dir has
	remote  map[string]site.Directory // what was listed on the server, by path
	files   []*file                   // of local, in the order of paths
	renamed map[string]string         // the paths in Dir of what has another path on the server, by the latter
	left    map[string]bool           // these paths in Dir
	skipped map[string]bool           // what is in Dir and is not sent

	unlisted map[string]bool // directories that exist on the server and could not be listed
	made     []string        // directories that the run has created

	clear  []state.Record // temporary files of the server that are of no use any more
	theirs []byte         // the remote state as it was

	octets   atomic.Int64
	recorded atomic.Bool // the state has new lines
	noted    sync.Map    // the texts of the notes so far
	way      limitations
	shift    time.Duration // by how much the server lists times later than in the previous run

	stop context.CancelFunc // ends the requests of do

	mu       sync.Mutex
	err      error // the first one
	failed   int
	over     bool            // a failure has ended the run
	held     []Event         // failures that may end it
	broken   map[string]bool // directories whose failure was reported
	refusals pool.Refusals
}

// Run brings the tree to the server. It returns the number of bytes of bodies.
func (j *Job) Run(ctx context.Context) (octets int64, err error) {
	r := &run{Job: j, remote: make(map[string]site.Directory), unlisted: make(map[string]bool), renamed: make(map[string]string), left: make(map[string]bool), skipped: make(map[string]bool), broken: make(map[string]bool)}
	r.site = site.Site{Server: j.Server, From: j.From, Options: j.Options, MaxEntries: j.MaxEntries}
	if err := r.site.SetStart(j.Start); err != nil {
		return 0, err
	}
	d := disk.Of(ctx)
	if r.root, err = d.OpenRoot(j.Dir); err != nil {
		return 0, err
	}
	defer r.root.Close()
	place := state.Place{File: j.State, Dir: j.StateDir, Tree: j.Dir}
	if r.state, err = state.Open(d, r.root, place, r.site.Key(), j.DryRun); err != nil {
		return 0, err
	}
	if r.state.Note != "" {
		r.note("%s", r.state.Note)
	}
	err = r.do(ctx)
	if closeErr := r.state.Close(err == nil && ctx.Err() == nil && r.recorded.Load()); err == nil {
		err = closeErr
	}
	return r.octets.Load(), err
}

// do performs the run.
func (r *run) do(outer context.Context) error {
	ctx, stop := context.WithCancel(outer)
	defer stop()
	r.stop = stop
	ctx = fetch.WithTrace(ctx, &fetch.Trace{Body: func(k int64) { r.octets.Add(k) }})
	var err error
	if r.ignored, err = readIgnore(r.root); err != nil {
		return err
	}
	if err := r.walk(ctx); err != nil {
		return err
	}
	if err := r.readRemoteState(ctx); err != nil {
		return err
	}
	if err := r.survey(ctx); err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		sayHeld(r)
		return cmp.Or(outer.Err(), r.err, err)
	}
	p := r.plan(ctx)
	if r.DryRun {
		r.reportPlan(p)
		r.removeObsolete(ctx)
		return r.end(outer, p)
	}
	r.report(Event{What: Planned, Size: -1, Files: p.files, Octets: p.octets})
	r.makeDirs(ctx)
	r.send(ctx, p)
	r.verify(ctx, p)
	r.removeObsolete(ctx)
	r.writeRemoteState(ctx)
	r.removeParts(ctx)
	return r.end(outer, p)
}

// end reports what is missing, and returns the error of the run.
func (r *run) end(ctx context.Context, p *plan) error {
	r.mu.Lock()
	sayHeld(r)
	r.mu.Unlock()
	planned := make(map[*file]bool)
	for _, f := range slices.Concat(p.fresh, p.changed) {
		planned[f] = !r.DryRun
	}
	for _, f := range r.files {
		if f.failed || planned[f] && !f.placed {
			r.report(Event{What: Missing, File: f.path, local: f.local, URL: r.site.URL(components(f.path), false), Size: f.size})
		}
	}
	return cmp.Or(ctx.Err(), r.err)
}

// report calls Report. If the error of a failure ends the run, requests that are under way are broken off,
// and none of them is a failure. A failure in doubt is held until another request succeeds; if the run
// ends for the same reason, it is not reported.
func (r *run) report(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.File = cmp.Or(e.local, r.renamed[e.File], e.File)
	switch e.What {
	case Failed:
		if r.over {
			return
		}
		r.failed++
		var mark pool.Mark
		switch mark, e.Err = pool.Unmark(e.Err); mark {
		case pool.Doubt:
			r.held = append(r.held, e)
			return
		case pool.Ends:
			e.Ends, r.over = true, true
			r.held = slices.DeleteFunc(r.held, func(held Event) bool { return pool.SameReason(held.Err, e.Err) })
			sayHeld(r)
			r.stop()
		}
	case Listed, Added, Replaced, Checked:
		if r.Pool.IsCalm() && r.refusals.AreNone() {
			sayHeld(r)
		}
	}
	say(r, e)
}

// sayHeld reports the failures that are held.
func sayHeld(r *run) {
	for _, e := range r.held {
		say(r, e)
	}
	r.held = nil
}

// say is report for an event that is certain.
func say(r *run, e Event) {
	if e.What == Failed {
		r.err = cmp.Or(r.err, e.Err)
	}
	if r.Report != nil {
		r.Report(e)
	}
}

// fail reports a failure. A request that an interruption broke off is not a failure.
func (r *run) fail(ctx context.Context, path string, dir bool, err error) {
	if ctx.Err() != nil {
		return
	}
	r.report(Event{What: Failed, File: path, URL: r.site.URL(components(path), dir), Size: -1, Err: err})
	if dir {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.broken[path] = true
	}
}

// hasFailed reports whether something has failed so far.
func (r *run) hasFailed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed > 0
}

// note reports once how the server departs from what is usual.
func (r *run) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if _, again := r.noted.LoadOrStore(text, true); !again {
		r.report(Event{What: Noted, URL: r.site.URL(nil, true), Size: -1, Err: errors.New(text)})
	}
}

// try makes a request, and retries it as Retry decides.
func (r *run) try(ctx context.Context, do func() error) error {
	for n := 0; ; n++ {
		if err := r.Pool.Turn(ctx); err != nil {
			return err
		}
		err := do()
		if err == nil {
			r.Pool.Worked()
			return nil
		}
		if mark, _ := pool.Unmark(err); mark == pool.Ends || ctx.Err() != nil || r.Pool.Crowded(err) {
			return err
		}
		if r.Pool.Again(err) {
			continue
		}
		if r.Retry == nil || !r.Retry(ctx, n, err) {
			return r.Pool.Failed(err)
		}
	}
}
