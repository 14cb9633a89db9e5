package crawl

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// A run is the state of one call of Run. One goroutine decides what is asked next and changes the
// frontier; each request has a goroutine of its own.
type run struct {
	*Crawl
	frontier *frontier
	gates    gates
	starts   map[string]bool // names of the hosts of Start
	due      dueHosts        // hosts with something to ask, by time
	known    int             // how many of frontier.byID are scheduled
	busy     int             // requests that are being made
	done     chan *job
	writing  sync.RWMutex // a job reads from the moment before its records are written until it is done
	stopped  bool         // by Continue or Claim
	err      error        // the first error of a URL in Start
	refused  error        // the first refusal of a link by the policy
	waiting  Event        // the last one about a wait
}

func newRun(c *Crawl) (*run, error) {
	r := &run{Crawl: c, starts: make(map[string]bool), done: make(chan *job, c.Connections)}
	r.gates.by = make(map[string]*gate)
	for _, l := range c.Start {
		name := hostOf(c, l)
		switch l.(type) {
		case *locator.Gopher, *locator.FTP, *locator.NNTP, *locator.News, *locator.WAIS, *locator.Prospero, *locator.HTTP:
		default:
			name = ""
		}
		if name == "" {
			return nil, driver.Fail(fetch.OpCheck, l, fetch.ErrUnsupported, fmt.Errorf("a crawl cannot begin with a URL of the scheme %s", l.Scheme()))
		}
		r.starts[name] = true
	}
	f, err := openFrontier(c.Dir, c.MaxHosts, c.NoSync)
	if err != nil {
		return nil, err
	}
	r.frontier = f
	if err := f.rewind(c); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return r, nil
}

// do asks until nothing is left.
func (r *run) do(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := r.frontier.begin(r.Crawl)
	r.report(Event{})
	for {
		if failed == nil && ctx.Err() == nil && !r.stopped {
			r.schedule()
			failed = r.dispatch(ctx)
		}
		if failed != nil {
			cancel()
		}
		r.stopped = r.stopped || failed == nil && ctx.Err() == nil && r.mustWait()
		if r.busy == 0 {
			switch {
			case failed != nil:
				return failed
			case r.stopped:
				return cmp.Or(r.frontier.unmark(r.Crawl), ctx.Err(), ErrStopped)
			case ctx.Err() != nil, len(r.due) == 0:
				return r.frontier.unmark(r.Crawl)
			}
		}
		r.sayWait(ctx)
		switch jobs := r.await(ctx); {
		case failed != nil: // the frontier may no longer be what is on the disk
			for _, j := range jobs {
				r.release(j)
			}
		case len(jobs) > 0:
			failed = r.finish(ctx, jobs)
		}
	}
}

// mustWait reports whether the time until the next request is too long for Continue.
func (r *run) mustWait() bool {
	if r.Continue == nil || r.busy > 0 || len(r.due) == 0 {
		return false
	}
	wait := time.Until(r.due[0].due)
	return wait > 0 && !r.Continue(wait)
}

// dispatch begins the requests that are due.
func (r *run) dispatch(ctx context.Context) error {
	for r.busy < r.Connections && len(r.due) > 0 {
		now := time.Now()
		if r.due[0].due.After(now) {
			return nil
		}
		h := heap.Pop(&r.due).(*host)
		h.turn = false
		if again, ok := r.gates.enter(h, now); !ok {
			if h.turn = again.IsZero(); !h.turn {
				r.push(h, again)
			}
			continue
		}
		j, err := r.job(h)
		if err != nil {
			return err
		}
		if j == nil || r.Continue != nil && !r.Continue(0) {
			r.wake(r.gates.leave(h.gates(), time.Time{}), now)
			if r.stopped = j != nil; r.stopped {
				return nil
			}
			continue
		}
		j.held = h.gates()
		r.busy++
		h.turn = true // until the job is finished
		go func() {
			j.do(ctx)
			r.done <- j
			j.recording.end()
		}()
	}
	return nil
}

// job returns the next request to a host, or nil if a limit leaves none.
func (r *run) job(h *host) (*job, error) {
	e, ok, err := r.frontier.next(h)
	if err != nil || !ok || r.limit(r.frontier, h, e.depth) != "" {
		return nil, err
	}
	j := &job{run: r, host: h, entry: e, room: min(r.MaxOctets-r.frontier.totals.Octets, r.MaxHostOctets-h.Octets), recording: recording{writing: &r.writing}}
	if j.loc, err = parse(e.url); err != nil {
		return nil, err
	}
	if j.rules, err = r.frontier.rules(h, serverOf(j.loc)); err != nil {
		return nil, err
	}
	if j.rules == nil || time.Since(j.rules.Time) > maxAge {
		j.rules = &rules{Time: time.Now(), Left: askFor(j.loc)}
	}
	if len(j.rules.Left) > 0 {
		j.ask, j.room = j.rules.Left[0], 2*maxRobots
	}
	return j, nil
}

// await waits for finished jobs, or until a host is due, or the context ends. It returns all jobs
// that are finished, so that one transaction is enough for them.
func (r *run) await(ctx context.Context) (jobs []*job) {
	var due <-chan time.Time
	if r.busy < r.Connections && len(r.due) > 0 && ctx.Err() == nil && !r.stopped {
		timer := time.NewTimer(time.Until(r.due[0].due))
		defer timer.Stop()
		due = timer.C
	}
	ended := ctx.Done()
	if ctx.Err() != nil {
		ended = nil // the jobs end soon
	}
	select {
	case j := <-r.done:
		jobs = append(jobs, j)
	case <-due:
	case <-ended:
	}
	r.busy -= len(jobs)
	return append(jobs, r.others()...)
}

// others returns all jobs that are finished.
func (r *run) others() (jobs []*job) {
	for {
		select {
		case j := <-r.done:
			jobs = append(jobs, j)
			r.busy--
		default:
			return jobs
		}
	}
}

// finish enters the answers into the frontier, after their records are written, and gives the hosts
// their next turns.
func (r *run) finish(ctx context.Context, jobs []*job) error {
	r.writing.Lock() // so that all records up to the mark are those of jobs that are entered
	jobs = append(jobs, r.others()...)
	err := r.frontier.update(r.Crawl, func(ch *change) error {
		if err := ch.mark(); err != nil {
			return err
		}
		for _, j := range jobs {
			if err := j.enter(ctx, ch); err != nil {
				return err
			}
		}
		if len(ch.elsewhere) > 0 {
			if err := r.Elsewhere(ch.elsewhere); err != nil {
				return err
			}
		}
		for _, h := range ch.touched {
			h.changed = true
		}
		return nil
	})
	r.writing.Unlock()
	for _, j := range jobs {
		r.release(j)
	}
	if err != nil {
		return err
	}
	for _, h := range r.frontier.byID[:r.known] {
		if h.changed {
			h.changed = false
			r.push(h, h.next)
		}
	}
	for _, j := range jobs {
		for _, e := range j.events {
			r.report(e)
		}
	}
	return nil
}

// release ends the turn of a host.
func (r *run) release(j *job) {
	h, now := j.host, time.Now()
	var free time.Time // at once, if nothing was asked
	r.stopped = r.stopped || j.unclaimed
	if j.sent && (j.permitted || !j.crowded) {
		free = now.Add(max(r.Wait, h.Delay))
		h.next = now.Add(max(r.Wait, h.Delay, h.backoff))
	}
	if j.addr.IsValid() {
		h.addr = j.addr
	}
	r.wake(r.gates.leave(j.held, free), now)
	h.turn, h.changed = false, true
}

// firstBackoff is the wait after the first failure of a host.
const firstBackoff = 30 * time.Second

// enter enters the answer of a job into the frontier.
func (j *job) enter(ctx context.Context, ch *change) error {
	h, why := j.host, hostReason(j.err)
	switch {
	case j.err != nil && (ctx.Err() != nil || j.crowded):
		return nil // another time
	case fetch.KindOf(j.err) == fetch.ErrLocalIO:
		return j.err
	case why == "":
		h.failures, h.backoff = 0, 0
	}
	h.why = why
	ch.touched[h.Name] = h
	status, isStatus := errors.AsType[*fetch.Error](j.err)
	isStatus = isStatus && isWeb(j.loc) && status.Code != 0
	switch {
	case j.ask != "" && fetch.KindOf(j.err) == fetch.ErrRefused:
		j.refuse()
		j.dead(Refused)
	case why != "" && (!j.opened || j.ask != "" && !isStatus):
		h.backoff = firstBackoff << min(h.failures, 10)
		j.failed(why)
	case j.ask != "":
		return j.enterRules(ch, isStatus && status.Code >= 500)
	case why != "" && j.entry.tries == 0:
		h.backoff = firstBackoff
		j.tryAgain(why)
		return ch.again(h, j.entry)
	default:
		if why != "" {
			j.failed(why)
		}
		return j.enterDocument(ch)
	}
	return nil
}

// failed counts a failure of the host.
func (j *job) failed(why Reason) {
	if j.host.failures++; j.host.failures >= j.run.MaxFailures {
		j.dead(why)
	} else if j.host.backoff > 0 {
		j.tryAgain(why)
	}
}

// tryAgain reports that the host is asked again after its backoff.
func (j *job) tryAgain(why Reason) {
	wait := max(j.run.Wait, j.host.Delay, j.host.backoff)
	j.events = append(j.events, Event{Host: j.host.Name, Reason: why, Err: j.err, Next: time.Now().Add(wait)})
}

// dead gives the host up.
func (j *job) dead(why Reason) {
	h := j.host
	h.Dead, h.Error = why, j.err.Error()
	if j.entry.from == 0 {
		j.run.startFailed(j.err)
	}
	j.events = append(j.events, Event{Host: h.Name, Reason: why, Err: j.err})
}

func (r *run) startFailed(err error) {
	if r.err == nil {
		r.err = err
	}
}

// maxHops is how many redirects of a robots.txt are followed (RFC 9309 §2.3.1.2).
const maxHops = 5

// enterRules enters what a robots.txt or caps.txt says. An error of a web server forbids everything;
// an answer that there is no such file forbids nothing.
func (j *job) enterRules(ch *change, broken bool) error {
	switch r := j.rules; {
	case broken:
		r.Nothing, r.Left = true, nil
	case j.to != nil && r.Hops < maxHops:
		r.Hops++
		r.Left[0] = unified(j.to).String()
	default:
		r.answer(j.text)
	}
	j.host.Delay = max(j.host.Delay, j.rules.Delay)
	return putJSON(ch.Bucket(bucketRules), rulesKey(j.host, serverOf(j.loc)), j.rules)
}

func isWeb(l locator.Locator) bool {
	_, web := l.(*locator.HTTP)
	return web
}

// enterDocument enters that a document is done, with its links.
func (j *job) enterDocument(ch *change) error {
	h, t := j.host, &ch.totals
	event := Event{URL: j.loc.Redacted(), Host: h.Name, Octets: j.octets, Err: j.err}
	if err := ch.drop(h, j.entry); err != nil {
		return err
	}
	switch kind := fetch.KindOf(j.err); {
	case j.err == nil:
		h.Documents++
		t.Documents++
	case errors.Is(j.err, errRobots):
		event.Reason = Robots
	case kind == fetch.ErrRefused:
		event.Reason = Refused
		j.refuse()
	case kind == fetch.ErrNoOctets:
		event.Reason = Search
	default:
		event.Reason = Failed
		h.Failed++
		t.Failed++
	}
	if event.Reason != "" && event.Reason != Failed {
		t.Skipped[event.Reason]++
	}
	h.Octets += j.octets
	t.Octets += j.octets
	for why, n := range j.found.skipped {
		t.Skipped[why] += n
	}
	t.Cut += j.found.cut
	if j.err != nil && j.entry.from == 0 {
		j.run.startFailed(j.err)
	}
	err := ch.keepFailed(h, j.entry, event.Reason)
	if err != nil {
		return err
	}
	event.Links, err = j.enterLinks(ch)
	j.events = append(j.events, event)
	return err
}

// enterLinks adds the links of a document to the frontier, and returns how many are new.
func (j *job) enterLinks(ch *change) (added int, err error) {
	if j.to != nil {
		if why := j.run.Skips(j.to); why != "" {
			ch.totals.Skipped[why]++
		} else {
			j.add(j.to)
		}
	}
	for _, l := range j.found.inside {
		isNew, err := ch.add(l.host, l.url, l.similar, j.entry.depth+1, j.entry.seq)
		if err != nil {
			return added, err
		}
		if isNew {
			added++
		}
	}
	return added, ch.addElsewhere(j.found.outside)
}

// limit returns the limit that keeps a host from being asked for its next entry, or "".
func (c *Crawl) limit(f *frontier, h *host, depth uint16) Reason {
	switch {
	case f.totals.Octets >= c.MaxOctets || h.Octets >= c.MaxHostOctets:
		return LimitOctets
	case h.Documents+h.Failed >= c.MaxDocuments:
		return LimitDocuments
	case int(depth) > c.Depth:
		return LimitDepth
	}
	return ""
}

// hostReason returns the reason for which an error says something about the host, not about the
// document; "" if it does not.
func hostReason(err error) Reason {
	switch fetch.KindOf(err) {
	case fetch.ErrUnresolved:
		return Unresolved
	case fetch.ErrUnreachable:
		return Unreachable
	case fetch.ErrTimeout:
		return Timeout
	case fetch.ErrConnectionFailed, fetch.ErrBusy:
		return Broken
	}
	return ""
}
