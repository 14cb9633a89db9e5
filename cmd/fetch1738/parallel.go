package main

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/pace"
	"github.com/fetch1738/fetch1738/locator"
)

// Bounds of -Z.
const (
	defaultParallel = 50
	maxParallel     = 65535
	readily         = 8 // connections that a server gets at once
	reluctance      = 100 * time.Millisecond
	maxHeldBack     = 64              // transfers that wait for their host or their file
	maxPutBack      = 8               // how often a transfer is put back
	maxAlone        = 5               // tries of a server that has no room for a single connection
	aloneWait       = 1 * time.Second // before the first of them, doubled each time
	longestPutBack  = aloneWait << (maxAlone - 1)
)

// A pool performs the transfers of a whole command line, several at once. Its
// fields belong to the goroutine of run.
type pool struct {
	c      *commandLine
	tally  *tally
	next   func() (*transfer, error, bool)
	output *outlet
	ended  chan *transfer

	running int
	adopted int
	held    []*transfer // taken, but not to be started yet
	hosts   map[locator.HostPort]*host
	files   map[string]bool // those being written
	code    int
	failed  int // the place of the transfer that code is of
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

// performAtOnce does the transfers of all operations, several at once. The exit
// code is that of the last failure in the order of the command line, which unlike
// the order of time is the same in every run.
func (c *commandLine) performAtOnce(ctx context.Context) int {
	for _, op := range c.operations {
		if err := op.check(); err != nil {
			return c.misused(err)
		}
	}
	next, stop := iter.Pull2(c.transfers(ctx))
	defer stop()
	tally := newTally(c.operations)
	c.openDisplay(tally.line)
	p := &pool{
		c: c, tally: tally, next: next, output: newOutlet(c.std.out), ended: make(chan *transfer),
		hosts: make(map[locator.HostPort]*host), files: make(map[string]bool),
	}
	return p.run(ctx)
}

// transfers are those of all operations, in order. An operation that cannot be
// begun is the last.
func (c *commandLine) transfers(ctx context.Context) iter.Seq2[*transfer, error] {
	return func(yield func(*transfer, error) bool) {
		for _, op := range c.operations {
			env, err := c.environment(ctx, op)
			if err != nil {
				yield(nil, err)
				return
			}
			for t := range env.transfers(ctx) {
				if !yield(t, nil) {
					return
				}
			}
		}
	}
}

// run starts transfers as there is room for them, until there are no more, or
// the first failure if that is enough.
func (p *pool) run(ctx context.Context) int {
	work, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	stopped := false
	ticks := time.NewTicker(reluctance)
	defer ticks.Stop()
	for {
		for !stopped && ctx.Err() == nil && p.running < p.c.global.parallelMax {
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
		if stops(ctx, p.c.global, p.code) && !stopped {
			stopped = true
			abort(errAborted)
		}
	}
	return p.code
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
func (p *pool) take() *transfer {
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
			p.code, p.failed = p.c.misused(err), p.adopted+1
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
func (p *pool) adopt(t *transfer) {
	p.adopted++
	t.place = p.adopted
	t.portion = p.output.portion()
	t.settle()
}

// mayStart reports whether the server of t has room and nobody writes to its
// file.
func (p *pool) mayStart(t *transfer) bool {
	if t.err != nil {
		return true // it only has to be told of
	}
	if p.files[t.file] {
		return false
	}
	h := p.hosts[t.server]
	if h == nil {
		return true
	}
	running, most := int(h.running.Load()), p.c.global.parallelMaxHost
	limit := int(h.limit.Load())
	return (most == 0 || running < most) && (limit == 0 || running < limit) && (h.width == 0 || running < h.width)
}

// start performs t beside the others.
func (p *pool) start(ctx context.Context, t *transfer) {
	p.running++
	if t.err == nil {
		h := p.hosts[t.server]
		if h == nil {
			h = new(host)
			if !p.c.global.parallelImmediate {
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
	go func() {
		if t.pause(ctx); t.err == nil {
			t.perform(ctx)
		}
		if errors.Is(t.err, fetch.ErrCanceled) && context.Cause(ctx) == errAborted {
			t.err = &codedError{exitAborted, errAborted}
		}
		if !t.crowded {
			t.report()
			if err := t.portion.close(); err != nil && t.code == exitOK {
				t.code = exitWrite
			}
		}
		p.ended <- t
	}()
}

// end takes account of a transfer that has come to its end, or is to be put
// back.
func (p *pool) end(t *transfer) {
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
		if t.code == exitOK {
			h.served.Store(true)
			h.alone.Store(0)
		}
		if h.running.Load() == 0 && h.limit.Load() == 0 && !p.awaited(h) {
			delete(p.hosts, t.server)
		}
	}
	p.tally.count(t.code == exitOK)
	if t.code != exitOK && t.code != exitAborted && t.place > p.failed {
		p.code, p.failed = t.code, t.place
	}
}

// awaited reports whether a transfer that is held back knows h.
func (p *pool) awaited(h *host) bool {
	return slices.ContainsFunc(p.held, func(t *transfer) bool { return t.host == h })
}

// putBack has t done again when its server has room: as many as it serves now
// are what it serves. One that serves none is given time.
func (p *pool) putBack(t *transfer) {
	h := t.host
	wait := t.retryAfter
	running := h.running.Load()
	h.limit.Store(max(1, running))
	if running == 0 {
		wait = max(wait, aloneWait<<(h.alone.Add(1)-1))
	}
	if t.op.verbose {
		newNarrator(t.std.err).remark("%s: %v; going on with %d at once", t.locator.Redacted(), t.err, max(1, running))
	}
	t.reset()
	t.wait = wait
	t.putBacks++
	p.held = slices.Insert(p.held, 0, t)
}

// errAborted is why transfers end after --fail-early.
var errAborted = errors.New("given up because another transfer failed")

// settle finds out what the transfer needs for itself. It fails as it is
// prepared.
func (t *transfer) settle() {
	if t.err = t.prepare(); t.err != nil {
		return
	}
	t.server, t.file = t.serverOf(t.locator).HostPort, ""
	t.server.Host = strings.ToLower(t.server.Host)
	if path := t.sink.path; path != "" && !isSpecial(path) {
		t.file = placeOfFile(path)
	}
}

// placeOfFile is the one path of a file, whatever links and spellings lead to it.
func placeOfFile(path string) string {
	if file, err := filepath.EvalSymlinks(path); err == nil {
		path = file
	} else if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return filepath.Clean(path)
}

// isSpecial reports whether a path leads to what many may write to at once, such
// as /dev/null.
func isSpecial(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular()
}

// pause waits before a transfer that was put back.
func (t *transfer) pause(ctx context.Context) {
	if t.wait == 0 {
		return
	}
	if pace.Sleep(ctx, t.wait) != nil {
		t.err = fetch.Fail(fetch.OpTransfer, t.locator, fetch.ErrCanceled, context.Cause(ctx))
	}
}

// patient reports whether a transfer rather waits for room at its server than
// takes its refusal: while the server serves others, and for some time after it
// did.
func (t *transfer) patient() bool {
	return t.besideOthers() || t.host != nil && t.putBacks < maxPutBack &&
		(t.host.served.Load() || t.host.limit.Load() > 0) && t.host.alone.Load() < maxAlone
}

// besideOthers reports whether the server is being asked for something else.
func (t *transfer) besideOthers() bool {
	return t.host != nil && t.putBacks < maxPutBack && t.host.running.Load() > 1
}

// turnedAway reports whether a failure is for lack of room that the transfer
// waits for. For an HTTP status judge has decided that: whether the server
// serves others may have changed since.
func (t *transfer) turnedAway(err error) bool {
	t.crowded = err != nil && (t.crowded || t.patient() && t.tooMany(err))
	return t.crowded
}

// crowds reports whether an HTTP status is for lack of room that the transfer
// waits for. A longer wait than that requires --retry.
func (t *transfer) crowds(status int, wait time.Duration) bool {
	switch {
	case !isHTTP(t.locator), t.account.moved.Load() > 0, wait > longestPutBack:
		return false
	case status == http.StatusTooManyRequests:
		return t.patient()
	}
	return status == http.StatusServiceUnavailable && t.besideOthers()
}

// tooMany reports whether a failure says that a server has too many connections.
func (t *transfer) tooMany(err error) bool {
	known, ok := errors.AsType[*fetch.Error](err)
	if !ok || t.account.moved.Load() > 0 {
		return false
	}
	wording := strings.ToLower(known.Reply)
	saysSo := strings.Contains(wording, "too many") || strings.Contains(wording, "maximum") || strings.Contains(wording, "limit")
	switch {
	case known.Kind == fetch.ErrUnreachable, known.Kind == fetch.ErrConnectionFailed && t.account.heard == 0:
		return t.host.served.Load()
	case isHTTP(t.locator):
		return false // see crowds
	case known.Code == 421: // FTP: "Service not available, closing control connection"
		return true
	case isNews(t.locator):
		return (known.Code == 400 || known.Code == 502) && saysSo
	}
	return known.Code == 530 && saysSo
}

// idleSessions is how many sessions of a scheme are kept for another transfer, 0
// for the usual number.
func (g *global) idleSessions() int {
	if !g.parallel {
		return 0
	}
	return g.parallelMax
}

// A placing is what a pool and a transfer of its know of each other.
type placing struct {
	place    int      // among the transfers, from 1
	portion  *portion // of standard output
	server   locator.HostPort
	file     string        // that is written; "" is none
	host     *host         // nil before the transfer was started
	crowded  bool          // the host had no room, for which the transfer waits
	putBacks int           // how often it did
	wait     time.Duration // before it starts
}

// out is where the transfer's words on standard output go.
func (t *transfer) out() io.Writer {
	if t.portion != nil {
		return t.portion
	}
	return t.std.out
}
