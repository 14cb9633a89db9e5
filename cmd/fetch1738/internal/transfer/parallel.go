package transfer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/pace"
	"github.com/fetch1738/fetch1738/locator"
)

// Bounds of transfers that run at once.
const (
	readily        = 8 // connections that a server gets at once
	reluctance     = 100 * time.Millisecond
	maxHeldBack    = 64              // transfers that wait for their host or their file
	maxPutBack     = 8               // how often a transfer is put back
	maxAlone       = 5               // tries of a server that has no room for a single connection
	aloneWait      = 1 * time.Second // before the first of them, doubled each time
	longestPutBack = aloneWait << (maxAlone - 1)
)

// A pool performs the transfers of Operations, several at once. Its fields belong to
// the goroutine of run.
type pool struct {
	engine *Engine
	global *plan.Global
	next   func() (*Transfer, error, bool)
	output *output.Outlet

	started chan *Transfer // to a goroutine that works
	ended   chan *Transfer // from it
	workers int            // how many of them there are

	running int
	adopted int
	held    []*Transfer // taken, but not to be started yet
	hosts   map[locator.HostPort]*host
	files   map[string]bool // those being written
	folders output.Folders  // that they are in
	last    *Result         // the failure that came last in the order of the Operations, or some success
	failed  int             // the rank of the transfer that last is of; 0 for a success
	err     error           // why there are no more transfers
}

// A host is what a pool knows of a server. Transfers look at it, the pool changes
// it.
type host struct {
	running atomic.Int32
	limit   atomic.Int32 // on running; 0 is none
	alone   atomic.Int32 // how often in succession it had no room for one
	served  atomic.Bool  // something came from it

	// Of the pool alone. Where transfers end soon their connections are at hand
	// again: a new one would cost more than waiting for them.
	width int  // limit on running for that reason; 0 is none
	ended bool // a transfer has, of late
}

// AtOnce performs the transfers of Operations, several at once. It gives the Result
// of the last failure in the order of the Operations, which unlike the order of time
// is the same in every run; without failures that of any transfer. An Operation that
// cannot be begun is the last one.
func (e *Engine) AtOnce(ctx context.Context, ops []*plan.Operation) (*Result, error) {
	next, stop := iter.Pull2(e.allTransfers(ctx, ops))
	defer stop()
	p := &pool{
		engine: e, global: ops[0].Global, next: next, output: output.NewOutlet(e.Out), started: make(chan *Transfer), ended: make(chan *Transfer),
		hosts: make(map[locator.HostPort]*host), files: make(map[string]bool),
	}
	p.run(ctx)
	return p.last, p.err
}

// allTransfers are those of all Operations, in order.
func (e *Engine) allTransfers(ctx context.Context, ops []*plan.Operation) iter.Seq2[*Transfer, error] {
	return func(yield func(*Transfer, error) bool) {
		for _, op := range ops {
			access, err := e.Client.Access(ctx, op)
			if err != nil {
				yield(nil, err)
				return
			}
			for t := range e.transfers(ctx, access) {
				if !yield(t, nil) {
					return
				}
			}
		}
	}
}

// run starts transfers as there is room for them, until there are no more, or
// the first failure if that is enough.
func (p *pool) run(ctx context.Context) {
	work, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	defer close(p.started)
	stopped := false
	ticks := time.NewTicker(reluctance)
	defer ticks.Stop()
	for {
		for !stopped && ctx.Err() == nil && p.running < p.global.Parallel.Max {
			t := p.take()
			if t == nil {
				break
			}
			p.start(work, t)
		}
		if p.running == 0 {
			break
		}
		select {
		case t := <-p.ended:
			p.end(t)
		case <-ticks.C:
			p.widen()
			continue
		}
		failed := p.err
		if failed == nil && p.failed > 0 {
			failed = p.last.Err
		}
		if (ctx.Err() != nil || enough(p.global, failed)) && !stopped {
			stopped = true
			abort(errAborted)
		}
	}
}

// widen lets servers have more connections where no transfer has ended for a
// while.
func (p *pool) widen() {
	for _, h := range p.hosts {
		if !h.ended && int(h.running.Load()) >= h.width {
			h.width *= 2
		}
		h.ended = false
	}
}

// take gives a transfer that may start now, or nil.
func (p *pool) take() *Transfer {
	blocked := make(map[string]bool)
	for i, t := range p.held {
		if p.mayStart(t) && !blocked[t.file] {
			p.held = slices.Delete(p.held, i, i+1)
			return t
		}
		if t.file != "" {
			blocked[t.file] = true
		}
	}
	for len(p.held) < maxHeldBack {
		t, err, ok := p.next()
		if !ok {
			return nil
		}
		if err != nil {
			p.err = err
			return nil
		}
		p.adopt(t)
		if p.mayStart(t) && !blocked[t.file] {
			return t
		}
		p.held = append(p.held, t)
		if t.file != "" {
			blocked[t.file] = true
		}
	}
	return nil
}

// adopt makes t one of the pool's.
func (p *pool) adopt(t *Transfer) {
	p.adopted++
	t.rank = p.adopted
	t.portion = p.output.Portion()
	t.Out = t.portion
	p.settle(t)
}

// mayStart reports whether the server of t has room and nobody writes to its
// file.
func (p *pool) mayStart(t *Transfer) bool {
	if t.Err != nil {
		return true // it only has to be told of
	}
	if p.files[t.file] {
		return false
	}
	h := p.hosts[t.server]
	if h == nil {
		return true
	}
	running, most := int(h.running.Load()), p.global.Parallel.PerHost
	limit := int(h.limit.Load())
	return (most == 0 || running < most) && (limit == 0 || running < limit) && (h.width == 0 || running < h.width)
}

// start performs t beside the others.
func (p *pool) start(ctx context.Context, t *Transfer) {
	p.running++
	if t.Err == nil {
		h := p.hosts[t.server]
		if h == nil {
			h = new(host)
			if !p.global.Parallel.Immediate {
				h.width = readily
			}
			p.hosts[t.server] = h
		}
		h.running.Add(1)
		t.host = h
		if t.file != "" {
			p.files[t.file] = true
		}
	}
	if p.running > p.workers {
		p.workers++
		go p.work(ctx)
	}
	p.started <- t
}

// work performs transfers, one after the other, until there are no more. What a
// goroutine has for one, such as its stack, serves the next.
func (p *pool) work(ctx context.Context) {
	for t := range p.started {
		if pause(ctx, t); t.Err == nil {
			t.perform(ctx)
		}
		if errors.Is(t.Err, fetch.ErrCanceled) && context.Cause(ctx) == errAborted {
			t.Err = fault.New(fault.Aborted, errAborted)
		}
		if !t.crowded {
			p.engine.end(t)
			if err := t.portion.Close(); err != nil && t.Err == nil {
				t.Err = fault.New(fault.Write, err)
			}
		}
		p.ended <- t
	}
}

// end takes account of a transfer that has come to its end, or is to be put
// back.
func (p *pool) end(t *Transfer) {
	p.running--
	if t.host != nil {
		t.host.running.Add(-1)
		t.host.ended = true
		delete(p.files, t.file)
	}
	if t.crowded {
		p.putBack(t)
		return
	}
	if h := t.host; h != nil {
		if t.Err == nil {
			h.served.Store(true)
			h.alone.Store(0)
		}
		if h.running.Load() == 0 && h.limit.Load() == 0 && !p.awaited(h) {
			delete(p.hosts, t.server)
		}
	}
	switch {
	case t.Err != nil && fault.KindOf(t.Err) != fault.Aborted && t.rank > p.failed:
		p.last, p.failed = &t.Result, t.rank
	case p.last == nil:
		p.last = &t.Result
	}
}

// awaited reports whether a transfer that is held back knows h.
func (p *pool) awaited(h *host) bool {
	return slices.ContainsFunc(p.held, func(t *Transfer) bool { return t.host == h })
}

// putBack has t done again when its server has room: as many as it serves now
// are what it serves. One that serves none is given time.
func (p *pool) putBack(t *Transfer) {
	h := t.host
	wait := t.retryAfter
	running := h.running.Load()
	h.limit.Store(max(1, running))
	if running == 0 {
		wait = max(wait, aloneWait<<(h.alone.Add(1)-1))
	}
	if t.Op.Verbose && t.watch.Remark != nil {
		t.watch.Remark(fmt.Sprintf("%s: %v; going on with %d at once", t.Locator.Redacted(), t.Err, max(1, running)))
	}
	t = t.fresh()
	p.settle(t)
	t.wait = wait
	t.putBacks++
	p.held = slices.Insert(p.held, 0, t)
}

// errAborted is why transfers end after --fail-early.
var errAborted = errors.New("given up because another transfer failed")

// settle finds out what a transfer needs for itself. It fails as it is prepared.
func (p *pool) settle(t *Transfer) {
	if t.Err = t.prepare(); t.Err != nil {
		return
	}
	t.server, t.file = t.ServerOf(t.Locator).HostPort, ""
	t.server.Host = strings.ToLower(t.server.Host)
	t.file = p.folders.Place(t.Sink)
}

// pause waits before a transfer that was put back.
func pause(ctx context.Context, t *Transfer) {
	if t.wait == 0 {
		return
	}
	if pace.Sleep(ctx, t.wait) != nil {
		t.Err = fetch.Fail(fetch.OpTransfer, t.Locator, fetch.ErrCanceled, context.Cause(ctx))
	}
}

// patient reports whether a transfer rather waits for room at its server than
// takes its refusal: while the server serves others, and for some time after it
// did.
func patient(t *Transfer) bool {
	return besideOthers(t) || t.host != nil && t.putBacks < maxPutBack &&
		(t.host.served.Load() || t.host.limit.Load() > 0) && t.host.alone.Load() < maxAlone
}

// besideOthers reports whether the server is being asked for something else.
func besideOthers(t *Transfer) bool {
	return t.host != nil && t.putBacks < maxPutBack && t.host.running.Load() > 1
}

// turnedAway reports whether a failure is for lack of room that the transfer
// waits for. For an HTTP status judge has decided that: whether the server
// serves others may have changed since.
func turnedAway(t *Transfer, err error) bool {
	t.crowded = err != nil && (t.crowded || patient(t) && tooMany(t, err))
	return t.crowded
}

// crowds reports whether an HTTP status is for lack of room that the transfer
// waits for. A longer wait than that requires --retry.
func crowds(t *Transfer, status int, wait time.Duration) bool {
	switch {
	case !client.IsHTTP(t.Locator), t.Account.Moved.Load() > 0, wait > longestPutBack:
		return false
	case status == http.StatusTooManyRequests:
		return patient(t)
	}
	return status == http.StatusServiceUnavailable && besideOthers(t)
}

// tooMany reports whether a failure says that a server has too many connections.
func tooMany(t *Transfer, err error) bool {
	known, ok := errors.AsType[*fetch.Error](err)
	if !ok || t.Account.Moved.Load() > 0 {
		return false
	}
	wording := strings.ToLower(known.Reply)
	saysSo := strings.Contains(wording, "too many") || strings.Contains(wording, "maximum") || strings.Contains(wording, "limit")
	switch {
	case known.Kind == fetch.ErrUnreachable, known.Kind == fetch.ErrConnectionFailed && t.Account.Facts().Heard == 0:
		return t.host.served.Load()
	case client.IsHTTP(t.Locator):
		return false // see crowds
	case known.Code == 421: // FTP: "Service not available, closing control connection"
		return true
	case client.IsNews(t.Locator):
		return (known.Code == 400 || known.Code == 502) && saysSo
	}
	return known.Code == 530 && saysSo
}

// A placing is what a pool and a transfer of its know of each other.
type placing struct {
	rank     int             // among the transfers, from 1
	portion  *output.Portion // of standard output
	server   locator.HostPort
	file     string        // that is written; "" is none
	host     *host         // nil before the transfer was started
	crowded  bool          // the host had no room, for which the transfer waits
	putBacks int           // how often it did
	wait     time.Duration // before it starts
}
