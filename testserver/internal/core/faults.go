package core

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Rules are the armed faults of a server.
type Rules struct {
	Table *Table

	mu    sync.Mutex
	rules []*rule
}

// rule is what one call has armed.
type rule struct {
	stage string
	by    string // the place of the call
	nth   int
	armed []*armed
	seen  int // occurrences of the stage since it was armed, when the conditions held
	when  when
	full  int // the number of occurrences that Gather waits for, or 0
	come  chan struct{}
}

// armed is a fault that waits for its occurrence.
type armed struct {
	Spec
	acted atomic.Bool
}

// Arm arms faults for the n-th occurrence of a stage from now on, or none of them if one cannot act
// there; 0 means every occurrence.
func (all *Rules) Arm(stage string, n int, wanted []Spec) error {
	r := &rule{stage: stageKey(stage), by: caller(), nth: n, come: make(chan struct{})}
	err := all.Table.checkStage(r.stage)
	if n < 0 {
		err = errors.New("the occurrence must not be negative")
	}
	for i := 0; i < len(wanted) && err == nil; i++ {
		a, isCondition := &armed{}, false
		if a.Spec, err = all.Table.check(r.stage, wanted[i]); err == nil {
			isCondition, err = r.when.add(all.Table, a.Spec)
		}
		if a.Kind == Gather {
			r.full = int(a.N)
		}
		if !isCondition {
			r.armed = append(r.armed, a)
		}
	}
	if err == nil && len(r.armed) == 0 && len(wanted) > 0 {
		err = errNoFault
	}
	if err != nil {
		return fmt.Errorf("testserver: On(%q, %d): %w", stage, n, err)
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.rules = append(all.rules, r)
	return nil
}

// caller returns the place that called the test servers, in the form of a test's messages: its file
// without the directory, and its line.
func caller() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, servers) || strings.HasSuffix(f.File, "_test.go") || !more {
			return filepath.Base(f.File) + ":" + strconv.Itoa(f.Line)
		}
	}
}

// servers is what the names of the functions of all test servers begin with.
const servers = "github.com/fetch1738/fetch1738/testserver"

// ResetFaults disarms all faults.
func (all *Rules) ResetFaults() {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, r := range all.rules {
		if r.seen < r.full {
			close(r.come)
		}
	}
	all.rules = nil
}

// At returns the faults armed for an event of no connection that has all the given stage names.
func (all *Rules) At(stages ...string) *Faults { return all.at(new(place), stages...) }

// at is At for an event of a connection.
func (all *Rules) at(at *place, stages ...string) *Faults {
	all.mu.Lock()
	defer all.mu.Unlock()
	keys := make([]string, len(stages))
	for i, s := range stages {
		keys[i] = stageKey(s)
	}
	defer func() { // an event comes not after itself
		for _, r := range all.rules {
			for _, key := range keys {
				r.when.note(at, key)
			}
		}
	}()
	faults := new(Faults)
	for _, r := range all.rules {
		if !slices.Contains(keys, r.stage) || !r.when.holds(at, keys) {
			continue
		}
		if r.reached(); (r.nth == 0 || r.nth == r.seen) && r.seen >= r.when.from {
			faults.armed = append(faults.armed, r.armed...)
			if r.full > 0 {
				faults.gather = append(faults.gather, r.come)
			}
		}
	}
	return faults
}

// reached counts an occurrence of the stage.
func (r *rule) reached() {
	if r.seen++; r.seen == r.full {
		close(r.come)
	}
}

// A Pending is a rule that has faults which have not acted.
type Pending struct {
	By      string // the place that armed it, such as "client_test.go:12"
	Message string
	Partly  bool // other faults of the rule have acted
}

// Pending returns the rules that have faults which have not acted.
func (all *Rules) Pending() (pending []Pending) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, r := range all.rules {
		var idle []string
		for _, a := range r.armed {
			if !a.acted.Load() || r.seen < r.full {
				idle = append(idle, a.String())
			}
		}
		if idle == nil {
			continue
		}
		message := fmt.Sprintf("fault never used: On(%q, %d, %s)", r.stage, r.nth, strings.Join(idle, ", "))
		if r.seen >= max(1, r.nth, r.full) {
			message += "; the stage was reached, but nothing was sent on which the fault acts"
		}
		pending = append(pending, Pending{r.by, message, len(idle) < len(r.armed)})
	}
	return pending
}

// Faults are all faults for one occurrence of a stage. The zero value has none. A fault counts as used
// when it has acted: Take and what sends octets record that, Peek and Has do not.
type Faults struct {
	armed  []*armed
	gather []<-chan struct{} // closed when the stage has been reached often enough
}

// last returns the last fault of a kind, or nil.
func (f *Faults) last(k *Kind) *armed {
	for _, a := range slices.Backward(f.armed) {
		if a.Kind == k {
			return a
		}
	}
	return nil
}

// Has reports whether there is a fault of a kind.
func (f *Faults) Has(k *Kind) bool { return f.last(k) != nil }

// Peek returns the last fault of a kind.
func (f *Faults) Peek(k *Kind) (Args, bool) {
	if a := f.last(k); a != nil {
		return a.Args, true
	}
	return Args{}, false
}

// Take returns the last fault of a kind, which acts now.
func (f *Faults) Take(k *Kind) (Args, bool) {
	all := f.TakeAll(k)
	if all == nil {
		return Args{}, false
	}
	return all[len(all)-1], true
}

// TakeAll returns the faults of a kind, which act now.
func (f *Faults) TakeAll(k *Kind) (all []Args) {
	for _, a := range f.armed {
		if a.Kind == k {
			a.acted.Store(true)
			all = append(all, a.Args)
		}
	}
	return all
}

// Part returns the faults of some kinds.
func (f *Faults) Part(kinds ...*Kind) *Faults {
	part := new(Faults)
	for _, a := range f.armed {
		if slices.Contains(kinds, a.Kind) {
			part.armed = append(part.armed, a)
		}
	}
	return part
}

// Text returns the text of the last fault of a kind, which acts now, or otherwise.
func (f *Faults) Text(k *Kind, otherwise string) string {
	if a, ok := f.Take(k); ok {
		return a.Text
	}
	return otherwise
}

// N returns the number of the last fault of a kind, which acts now, or otherwise.
func (f *Faults) N(k *Kind, otherwise int64) int64 {
	if a, ok := f.Take(k); ok {
		return a.N
	}
	return otherwise
}

// Acts reports whether there is a fault of a kind, which then acts now.
func (f *Faults) Acts(k *Kind) bool {
	_, ok := f.Take(k)
	return ok
}

// End records that nothing else will be sent, so that no other fault can act.
func (f *Faults) End() {
	for _, a := range f.armed {
		a.acted.Store(true)
	}
}
