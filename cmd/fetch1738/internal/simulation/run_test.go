package simulation

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/mirror"
)

// An Outcome is what came of a plan.
type Outcome struct {
	Broken []string       // what must not happen, and did
	Acted  map[string]int // the events that had an effect, by kind
	Sum    uint64         // of all that happened
	Steps  int
	Log    []string // of all that happened, if it was asked for
}

// mostRuns is how often an operation is performed again while there is trouble.
const mostRuns = 10

// Run runs a plan. With keep, the Outcome has a log.
func Run(t *testing.T, p *Plan, keep bool) (o *Outcome) {
	o = new(Outcome)
	collect()
	t.Setenv("XDG_STATE_HOME", known)
	var w *world
	defer func() {
		if w != nil {
			o.Broken, o.Acted, o.Sum, o.Steps, o.Log = w.broken, w.acted, w.sum, w.steps, w.log
		}
		if err := recover(); err != nil { // a goroutine that does not end
			o.Broken = append(o.Broken, fmt.Sprintf("panic: %.300v", err))
		}
	}()
	synctest.Test(t, func(*testing.T) {
		var err error
		if w, err = newWorld(p, keep); err != nil {
			panic(err)
		}
		defer w.close()
		w.op = operationOf(p.Operation)
		w.run()
	})
	return o
}

// collect collects memory if there is much of it. While a world runs, that would change the order
// in which goroutines run.
func collect() {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	if metrics.Read(heap); heap[0].Value.Uint64() > 256<<20 {
		runtime.GC()
	}
}

// run performs the operation until it has succeeded, first with trouble and then without.
func (w *world) run() {
	op := w.op
	w.disk.Put(treasure, []byte("treasure"), time.Now())
	if w.plan.hasState() {
		w.sites[0].putState()
	}
	if op.tree {
		w.disk.Put(own, ownText, time.Now())
		if name := w.foreign(); name != "" {
			w.disk.Put(name, ownText, time.Now())
		}
	} else if w.plan.Variant%2 == 0 {
		w.disk.Put(out, []byte("what was there before"), time.Now())
	}
	var err error
	for n := range mostRuns {
		if err = w.perform(op); err == nil && (n >= 3 || !w.more()) {
			break
		}
	}
	if op.durable && w.plan.Variant/32%4 == 0 {
		w.outage(op)
	}
	w.check()
	w.settle()
	for range 3 {
		if err = w.perform(op); err == nil {
			break
		}
	}
	switch s, d := w.main(); {
	case !op.disk || op.wants == nil || w.plan.Disk.Capacity > 0:
	case err != nil && w.everCrashed && strings.Contains(err.Error(), "did not create it"):
		// The line of the manifest is lost, and the document has changed since.
	case err != nil && s.Scheme == "gopher" && (strings.Contains(err.Error(), "the copy is kept") || strings.Contains(err.Error(), "delete the files by hand")): // it cannot know
	case err != nil && w.foreign() != "": // another file is where a document would be
	case err != nil && !(d.last().gone && !op.tree) && !strings.Contains(err.Error(), mirror.ErrMaxDelete.Error()) && !w.folds(d) && !s.forges(w.plan.Events):
		w.breaks("it does not succeed when nothing is wrong any more: %v", err)
	case err == nil && !s.forges(w.plan.Events):
		op.wants(w)
	}
	w.check()
	for name, data := range w.disk.Files() {
		w.tell("file %s has %d bytes", name, len(data))
	}
}

// more reports whether there are events still to come.
func (w *world) more() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.next)+len(w.due) > 0
}

// outage takes the power away after the last process. What is complete then, stays complete.
func (w *world) outage(op *operation) {
	o := &once{process: w.process(), op: op, began: w.began, crashed: true, had: map[string]string{}}
	w.crash()
	o.end()
	w.hasCrashed()
	if op.keeps != nil {
		op.keeps(o, errKilled)
	}
}

// check checks what must be true at any time.
func (w *world) check() {
	if data, _ := w.disk.Get(treasure); string(data) != "treasure" {
		w.breaks("a link was followed: %q", data)
	}
	if data, created := w.disk.Get(nothing); created {
		w.breaks("a link to nothing was followed: %q", data)
	}
	if locks := w.disk.Locks(); len(locks) > 0 {
		w.breaks("locks are left: %v", locks)
	}
}

// perform performs an operation once, or twice at the same time, and checks what it has done.
func (w *world) perform(op *operation) error {
	n := 1
	if w.plan.Twice && !w.calm {
		n = 2
	}
	all := make([]*once, n)
	errs := make([]error, n)
	had := make(map[string]string)
	for name, data := range w.disk.Files() {
		had[name] = string(data)
	}
	if w.plan.uploads() {
		maps.Copy(had, w.serverFiles())
	}
	w.was = append(w.was, had[out])
	var running sync.WaitGroup
	for i := range all {
		all[i] = &once{process: w.process(), op: op, began: time.Now(), had: had}
		running.Go(func() {
			if i > 0 {
				time.Sleep([]time.Duration{0, 3 * time.Millisecond, 100 * time.Millisecond, time.Second}[w.plan.Variant/64%4])
			}
			errs[i] = op.perform(all[i])
			all[i].says(errs[i])
			all[i].end()
		})
	}
	running.Wait()
	crashed := w.hasCrashed()
	var failed error
	for i, o := range all {
		if o.killed() && errs[i] == nil {
			errs[i] = errKilled // it may have succeeded before
		}
		o.crashed = crashed
		if op.keeps != nil {
			op.keeps(o, errs[i])
		}
		if errs[i] != nil {
			failed = errs[i]
		}
	}
	return failed
}

var errKilled = errors.New("killed")

// hasCrashed reports whether the power has failed since it was last called.
func (w *world) hasCrashed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.crashed
	w.crashed, w.everCrashed = false, w.everCrashed || was
	return was
}

// limit returns how many connections to a server a process may have.
func (w *world) limit() int {
	switch {
	case w.plan.uploads() && w.sites[0].Scheme == "http": // net/http dials although a connection becomes idle
		return 0
	case w.op.tree:
		return w.plan.connections()
	}
	return w.op.limit
}

// isServer reports whether an address is that of a server, not of an FTP data connection.
func (w *world) isServer(address string) bool { return strings.Contains(address, ":210") }
