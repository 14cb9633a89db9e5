package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/simdisk"
)

// A world is what a plan describes, while it runs.
//
// Everything that processes do is a step: a call of the disk, a dial, a read or a write of a
// connection. A step takes a while, see takes, and events happen at steps. The clock of the bubble
// only moves when all goroutines wait. So one of them runs at a time, and the order is always the
// same.
type world struct {
	plan  *Plan
	op    *operation
	net   testserver.Network
	disk  *simdisk.Disk
	sites []*site

	mu          sync.Mutex
	dice        *rand.Rand // of crashes
	steps       int
	count       map[string]int // of each step
	sum         uint64         // of all steps: two runs with the same sum were the same
	next        []Event        // not yet due
	due         []Event        // for the next call that they fit
	calm        bool           // no more events
	acted       map[string]int
	processes   []*process
	started     int      // how many processes there were
	broken      []string // what should not have happened
	log         []string // only if it is kept
	keep        bool
	crashed     bool // since hasCrashed was last called
	everCrashed bool
	direct      bool     // an upload has stored files under their names
	fellBack    bool     // --segments has written to the file itself
	was         []string // what a.bin had before each time; "" for none
	links       []string // of another user, in the place of files that are not complete
	began       time.Time
	jumps       atomic.Int32 // that hold up a call now
}

func newWorld(p *Plan, keep bool) (*world, error) {
	w := &world{
		plan: p, keep: keep, dice: rand.New(rand.NewPCG(p.Seed, 2)), next: slices.Clone(p.Events),
		disk: simdisk.New(p.Disk), acted: make(map[string]int), count: make(map[string]int), began: time.Now(),
	}
	for i := range p.Sites {
		s, err := newSite(w, i)
		if err != nil {
			return nil, err
		}
		w.sites = append(w.sites, s)
	}
	return w, nil
}

// close ends the servers.
func (w *world) close() {
	for _, s := range w.sites {
		s.note()
		_ = s.server().Close() // its error is that of faults which have not acted
	}
}

// breaks records something that must not happen.
func (w *world) breaks(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if text := fmt.Sprintf(format, args...); !slices.Contains(w.broken, text) {
		w.broken = append(w.broken, text)
	}
}

// step is a step of a process. what, name and actor say which; what and name are part of the sum.
// It takes time, unless the caller may hold a lock: others could not wait for that in virtual time.
func (w *world) step(p *process, what, name, actor string, onNet bool) {
	if onNet {
		w.watch() // before the step: it takes time that does not count
	}
	name = temporary.ReplaceAllString(name, "*")
	if onNet || !strings.HasSuffix(what, "stat") && what != "eval" && !strings.Contains(name, "manifest") && !strings.Contains(name, "/.fetch1738/") && !isState(name) {
		time.Sleep(w.takes(fmt.Sprint(p.number, what, name, actor)))
		// No other goroutine can run now. To the runtime, a new slice of time begins; otherwise it
		// would interrupt a later goroutine after ten milliseconds.
		runtime.Gosched()
	}
	w.mu.Lock()
	w.steps++
	w.note(what + " " + name)
	var now, left []Event
	for i, e := range w.next {
		if e.At > w.steps || w.calm {
			left = append(left, w.next[i:]...)
			break
		}
		if onNet || !kindOf(e.Kind).onNet {
			now = append(now, e)
		} else {
			left = append(left, e)
		}
	}
	w.next = left
	w.mu.Unlock()
	for _, e := range now {
		kindOf(e.Kind).happen(w, p, e)
	}
}

// temporary matches the names that programs choose at random.
var temporary = regexp.MustCompile(`\.fetch1738-[0-9a-f]{16}`)

// takes returns how long a step takes. That depends on nothing but the step and how often it has
// been made before, and two steps hardly ever end at the same moment. So their order is always the
// same.
func (w *world) takes(step string) time.Duration {
	w.mu.Lock()
	w.count[step]++
	sum := hash(w.plan.Seed+uint64(w.count[step])<<32, step)
	w.mu.Unlock()
	took := time.Duration(sum%uint64(2*time.Millisecond)) + 1
	if w.plan.Slow {
		took *= time.Duration(1 + sum>>40%1000)
	}
	return took
}

func hash(sum uint64, text string) uint64 {
	for i := range len(text) {
		sum = (sum ^ uint64(text[i])) * 1099511628211
	}
	return sum ^ sum>>29
}

// note adds a line to the sum and to the log. The caller holds the lock.
func (w *world) note(line string) {
	w.sum = w.sum*31 + uint64(time.Since(w.began))
	w.sum = hash(w.sum, line)
	if w.keep {
		w.log = append(w.log, fmt.Sprintf("%5d %12v %s", w.steps, time.Since(w.began), line))
	}
}

// acts records that an event has had an effect.
func (w *world) acts(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := e.Kind
	if e.Kind == "server" {
		name, _, _ = strings.Cut(e.Fault, ":")
		name = w.plan.Sites[e.Site].Scheme + " " + name
	}
	w.acted[name]++
	w.note("event " + e.Kind + " " + e.Name)
}

// wait keeps an event for the next call that fits.
func (w *world) wait(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due = append(w.due, e)
}

// take returns the first event that fits.
func (w *world) take(fits func(e Event) bool) (Event, bool) {
	w.mu.Lock()
	i := slices.IndexFunc(w.due, fits)
	if i < 0 || w.calm {
		w.mu.Unlock()
		return Event{}, false
	}
	e := w.due[i]
	w.due = slices.Delete(w.due, i, i+1)
	w.mu.Unlock()
	w.acts(e)
	return e, true
}

// settle ends all trouble: the servers are new, and much time has passed.
func (w *world) settle() {
	w.mu.Lock()
	w.calm = true
	w.mu.Unlock()
	w.disk.Settle()
	for _, name := range w.links { // a user would do that
		if _, isFile := w.disk.Get(name); !isFile {
			w.disk.Delete(name)
		}
	}
	for _, s := range w.sites {
		s.restart()
	}
	time.Sleep(time.Hour)
}

// A process is one run of the program.
type process struct {
	w      *world
	number int
	disk   *simdisk.Process
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	conns   []*conn
	allowed map[string]bool // the addresses that the policy was asked about
	open    map[string]int  // connections by server
	dead    bool
	last    string // its last call of the disk
	text    said   // what it said
}

// patience is how long a user waits for a process.
const patience = 12 * time.Hour

func (w *world) process() *process {
	p := &process{w: w, allowed: make(map[string]bool), open: make(map[string]int)}
	p.disk = w.disk.Process(p.before)
	p.ctx, p.cancel = context.WithTimeout(context.Background(), patience)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started++
	p.number = w.started
	w.processes = append(w.processes, p)
	return p
}

// kill ends a process at once. Its goroutines find that nothing works any more.
func (p *process) kill() {
	p.mu.Lock()
	p.dead = true
	conns := p.conns
	p.mu.Unlock()
	p.disk.Kill()
	p.cancel()
	for _, c := range conns {
		_ = c.mem.Reset()
	}
}

// called notes a call of the disk, and returns the one before.
func (p *process) called(op string) (before string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, p.last = p.last, op
	return before
}

func (p *process) killed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// end checks what a process leaves.
func (p *process) end() {
	late := errors.Is(p.ctx.Err(), context.DeadlineExceeded)
	p.cancel()
	time.Sleep(100 * time.Hour) // what ends by itself may do so in the background
	p.w.mu.Lock()
	p.w.fellBack = p.w.fellBack || strings.Contains(p.text.String(), "using one connection")
	p.w.direct = p.w.direct || p.storesDirectly()
	p.w.processes = slices.DeleteFunc(p.w.processes, func(q *process) bool { return q == p })
	p.w.mu.Unlock()
	if p.killed() {
		return
	}
	if files := p.disk.Open(); len(files) > 0 {
		p.w.breaks("files are left open: %v", files)
	}
	for _, c := range p.conns {
		if !c.isClosed() {
			p.w.breaks("a connection to %s is left open", c.to)
		}
	}
	if late && !p.w.drips() {
		p.w.breaks("it did not end within %v", patience)
	}
	if strings.Contains(p.text.String(), password) {
		p.w.breaks("the password is in its output: %q", p.text.String())
	}
}

// drips reports whether a server may send for ever.
func (w *world) drips() bool {
	return slices.ContainsFunc(w.plan.Events, func(e Event) bool {
		return strings.HasPrefix(e.Fault, "Drip") || strings.HasPrefix(e.Fault, "EndlessLine") || e.Kind == "jump"
	})
}

// tell adds a line to the log.
func (w *world) tell(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.keep {
		w.log = append(w.log, fmt.Sprintf(format, args...))
	}
}

// said is what a process says, by several goroutines.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
