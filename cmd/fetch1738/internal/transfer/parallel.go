package transfer

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/pace"
	"github.com/fetch1738/fetch1738/locator"
)

// Limits of parallel transfers.
const (
	initialPerHost = 8                      // connections to a server at first
	growAfter      = 100 * time.Millisecond // without the end of a transfer
	maxHeldBack    = 64                     // transfers that wait for their host or their file
)

// A pool performs the transfers of Operations in parallel. A worker takes its next transfer itself,
// because to hand each one over takes a noticeable part of the time of a small file.
type pool struct {
	engine *Engine
	global *plan.Global
	next   func() (*Transfer, error, bool)
	output *output.Outlet
	abort  context.CancelCauseFunc // ends the transfers
	idle   chan struct{}           // closed when the last worker ends

	mu      sync.Mutex // protects the rest
	running int
	streams int // of running: those with servers that speak HTTP/2
	adopted int
	held    []*queued // waiting to be started
	hosts   map[locator.HostPort]*host
	files   map[string]bool // those being written
	folders output.Folders  // their directories
	last    *Result         // the last failure in the order of the Operations, or some success
	failed  int             // the rank of last, or 0 for a success
	err     error           // why there are no more transfers
}

// A queued is a transfer in a pool.
type queued struct {
	*Transfer
	rank    int   // among the transfers, from 1
	lost    error // of writing its portion of the output after the transfer
	server  locator.HostPort
	file    string        // that is written, or ""
	streams bool          // it is a stream of a shared connection
	delay   time.Duration // before it starts
	next    *queued       // that its worker performs next, if already chosen
}

// AtOnce performs the transfers of Operations in parallel. It returns the Result of the
// last failure in the order of the Operations, which, unlike the order of time, is the
// same in every run. Without failures it returns any Result. It stops at an Operation
// that cannot be started.
func (e *Engine) AtOnce(ctx context.Context, ops []*plan.Operation) (*Result, error) {
	next, stop := iter.Pull2(e.allTransfers(ctx, ops))
	defer stop()
	p := &pool{
		engine: e, global: ops[0].Global, next: next, output: output.NewOutlet(e.Out), idle: make(chan struct{}),
		hosts: make(map[locator.HostPort]*host), files: make(map[string]bool),
	}
	p.run(ctx)
	return p.last, p.err
}

// allTransfers returns the transfers of all Operations, in order.
func (e *Engine) allTransfers(ctx context.Context, ops []*plan.Operation) iter.Seq2[*Transfer, error] {
	return func(yield func(*Transfer, error) bool) {
		for _, op := range ops {
			network, err := e.Client.Network(ctx, op)
			if err != nil {
				yield(nil, err)
				return
			}
			for t := range e.transfers(ctx, e.asked(ctx, network)) {
				if !yield(t, nil) {
					return
				}
			}
		}
	}
}

// run performs transfers within the limits, until there are no more, or until the first failure
// with --fail-early.
func (p *pool) run(ctx context.Context) {
	ctx, p.abort = context.WithCancelCause(ctx)
	defer p.abort(nil)
	ticks := time.NewTicker(growAfter)
	defer ticks.Stop()
	for p.startMore(ctx) {
		select {
		case <-p.idle:
			return
		case <-ticks.C:
			p.widen()
		}
	}
}

// startMore starts a worker for each transfer that may start now, and reports whether any transfer
// is running.
func (p *pool) startMore(ctx context.Context) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for t := p.start(ctx); t != nil; t = p.start(ctx) {
		go p.work(ctx, t)
	}
	return p.running > 0
}

// work performs t and further transfers, one after the other, until none may start.
func (p *pool) work(ctx context.Context, t *queued) {
	for t != nil {
		t.more = func() bool { return p.reserve(ctx, t) } // called during perform
		p.perform(ctx, t)
		if t = p.turn(ctx, t); t != nil {
			p.startMore(ctx)
		}
	}
}

// reserve chooses the transfer that the worker of t performs next, and reports whether it is a
// transfer of data with the same server.
func (p *pool) reserve(ctx context.Context, t *queued) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.next == nil && t.host != nil && ctx.Err() == nil {
		p.count(t, -1) // t will have ended
		t.next = p.take()
		p.count(t, 1)
	}
	return t.next != nil && t.next.Err == nil && t.next.server == t.server && !t.next.Op.Ask.Head
}

// turn records that a transfer has ended, and returns the next one of its worker, or nil.
func (p *pool) turn(ctx context.Context, t *queued) *queued {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.next != nil {
		p.held, t.next = slices.Insert(p.held, 0, t.next), nil
	}
	p.end(t)
	failed := p.err
	if failed == nil && p.failed > 0 {
		failed = p.last.Err
	}
	if endsRun(p.global, failed) {
		if !stdio.Unread(failed) {
			failed = errAborted
		}
		p.abort(failed)
	}
	next := p.start(ctx)
	if next == nil && p.running == 0 {
		close(p.idle)
	}
	return next
}

// widen permits more connections to servers where no transfer has ended since the last tick.
func (p *pool) widen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.hosts {
		if !h.ended {
			if p.engine.Lasting != nil {
				p.engine.Lasting()
			}
			if int(h.running.Load()) >= h.width {
				h.width *= 2
			}
		}
		h.ended = false
	}
}

// take returns a transfer that may start now, or nil. Those that write to the same file keep their
// order, so that the file is that of the last URL.
func (p *pool) take() *queued {
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
		one, err, ok := p.next()
		if !ok {
			return nil
		}
		if err != nil {
			p.err = err
			return nil
		}
		p.adopted++
		t := &queued{Transfer: one, rank: p.adopted}
		t.portion = p.output.Portion()
		t.Out = t.portion
		p.settle(t)
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

// mayStart reports whether the limits of its server permit t, and no other transfer
// writes to its file.
func (p *pool) mayStart(t *queued) bool {
	if t.Err != nil {
		return true // it only has to be reported
	}
	if p.files[t.file] {
		return false
	}
	h := p.hosts[t.server]
	shared := h != nil && h.shared.Load()
	if connections := p.running - p.streams; !shared && connections >= p.global.Parallel.Connections() {
		return false
	}
	if h == nil {
		return true
	}
	running, most := int(h.running.Load()), p.global.Parallel.PerHost
	limit := int(h.limit.Load())
	return (most == 0 || running < most) && (limit == 0 || running < limit) && (h.width == 0 || shared || running < h.width)
}

// count adds n to the numbers of running transfers that include t.
func (p *pool) count(t *queued, n int) {
	p.running += n
	if t.host != nil {
		t.host.running.Add(int32(n))
	}
	if t.streams {
		p.streams += n
	}
}

// start returns a transfer that now counts as running, or nil.
func (p *pool) start(ctx context.Context) *queued {
	if ctx.Err() != nil || p.running == p.global.Parallel.Transfers() {
		return nil
	}
	t := p.take()
	if t == nil {
		return nil
	}
	if t.Err == nil {
		h := p.hosts[t.server]
		if h == nil {
			h = &host{ended: true} // a tick may follow at once
			if !p.global.Parallel.Immediate {
				h.width = initialPerHost
			}
			p.hosts[t.server] = h
		}
		t.host, t.streams = h, h.shared.Load()
		if t.file != "" {
			p.files[t.file] = true
		}
	}
	p.count(t, 1)
	return t
}

// perform performs t.
func (p *pool) perform(ctx context.Context, t *queued) {
	if t.delay > 0 && pace.Sleep(ctx, t.delay) != nil { // it was put back
		t.Err = driver.Fail(fetch.OpTransfer, t.Locator, fetch.ErrCanceled, context.Cause(ctx))
	}
	if t.Err == nil {
		t.perform(p.widening(ctx, t))
	}
	switch cause := context.Cause(ctx); {
	case !errors.Is(t.Err, fetch.ErrCanceled):
	case cause == errAborted:
		t.Err = localerr.New(localerr.Aborted, errAborted)
	case stdio.Unread(cause):
		t.Err = cause // of this transfer too
	}
	if !t.crowded {
		p.engine.end(t.Transfer)
		t.lost = t.portion.Close()
	}
}

// widening returns ctx with a hook that starts more transfers once the server of t chooses HTTP/2.
func (p *pool) widening(ctx context.Context, t *queued) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{TLSHandshakeDone: func(s tls.ConnectionState, err error) {
		if err == nil && s.NegotiatedProtocol == "h2" && t.Account.Facts().Heard == 0 && !t.host.shared.Swap(true) { // not after a redirect
			p.startMore(ctx)
		}
	}})
}

// end records a transfer that has ended, or puts it back.
func (p *pool) end(t *queued) {
	p.count(t, -1)
	p.err = cmp.Or(p.err, t.lost)
	if t.host != nil {
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
		awaited := slices.ContainsFunc(p.held, func(t *queued) bool { return t.host == h })
		if h.running.Load() == 0 && h.limit.Load() == 0 && !awaited {
			delete(p.hosts, t.server)
		}
	}
	switch {
	case localerr.KindOf(t.Err) == localerr.Output: // whatever failed before or behind it
		p.last, p.failed = &t.Result, math.MaxInt
	case t.Err != nil && localerr.KindOf(t.Err) != localerr.Aborted && t.rank > p.failed:
		p.last, p.failed = &t.Result, t.rank
	case p.last == nil:
		p.last = &t.Result
	}
}

// putBack schedules t again. The number of transfers that its server serves now becomes
// its limit. If that is 0, t waits.
func (p *pool) putBack(t *queued) {
	h := t.host
	delay := t.retryAfter
	running := h.running.Load()
	h.limit.Store(max(1, running))
	if running == 0 {
		delay = max(delay, aloneWait<<(h.alone.Add(1)-1))
	}
	if t.Op.Verbose {
		t.watch.remark(fmt.Sprintf("%s: %v; continuing with %d at once", t.Locator.Redacted(), t.Err, max(1, running)))
	}
	again := &queued{Transfer: t.fresh(), rank: t.rank, delay: delay}
	p.settle(again)
	p.held = slices.Insert(p.held, 0, again)
}

// errAborted is the error of transfers that --fail-early ends.
var errAborted = errors.New("canceled because another transfer failed")

// settle prepares a transfer and determines its server and file.
func (p *pool) settle(t *queued) {
	if t.Err = t.prepare(); t.Err != nil {
		return
	}
	t.server, t.file = t.ServerOf(t.Locator).HostPort, ""
	t.server.Host = strings.ToLower(t.server.Host)
	t.file = p.folders.Place(t.Sink)
}
