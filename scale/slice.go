package scale

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/scale/internal/unitkey"
)

const (
	// maxIdle is the longest wait within a slice. For a longer one the unit is given back.
	maxIdle = time.Minute
	// maxFound is how many links to other units are collected before they are added.
	maxFound = 1000
	// retryAfter is the time until a slice is repeated that has failed on this machine.
	retryAfter = time.Minute
	// Who finds an address or account busy tries again after busyWaits times the usual wait.
	busyWaits = 5
)

// A slice is a part of the crawl of a unit.
type slice struct {
	node   *Node
	work   *Work
	cancel context.CancelCauseFunc
	dir    string
	began  time.Time

	found     map[string][]crawl.Link // of other units
	collected int                     // links in found
	documents int
	answered  atomic.Bool   // there was a document
	idle      time.Duration // the wait for which Continue has ended the crawl
	summary   crawl.Summary
	again     time.Duration // for Release and Commit

	claiming sync.Mutex
	asked    bool       // a connection was permitted
	addr     netip.Addr // of the last connection
	busy     bool       // another unit has an address
}

// do crawls until the slice is over, and commits. An error means that it is not committed.
func (s *slice) do(ctx context.Context) error {
	s.began, s.found = time.Now(), make(map[string][]crawl.Link)
	if s.work.Interrupted { // the host may have been asked just before the lease has ended
		s.again = s.pause()
		return nil
	}
	if busy, err := s.share(ctx); busy || err != nil {
		s.again = s.busyWait()
		return err
	}
	s.dir = filepath.Join(s.node.slices(), unitkey.Of(s.work.Unit)+"-"+strconv.FormatUint(s.work.Fence, 10))
	defer os.RemoveAll(s.dir)
	err := s.restore(ctx)
	if err == nil {
		err = s.crawl(ctx)
	}
	if err == nil {
		err = s.commit(ctx)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
		if !errors.Is(cause, ErrFenced) {
			err = nil // the node ends
		}
	} else if err != nil {
		s.again = retryAfter
	}
	return err
}

// share claims what the unit shares with others, before its frontier is fetched: a slot of the account
// of a news server, or the address that it had before. busy reports that another unit has it.
func (s *slice) share(ctx context.Context) (busy bool, err error) {
	var names []string
	for i := range s.node.Units.Accounts[host(s.work.Unit)] {
		names = append(names, fmt.Sprintf("account/%s/%d", host(s.work.Unit), i))
	}
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	if len(names) == 0 && s.work.State.Addr.IsValid() {
		names = []string{addressLease(s.work.State.Addr)}
	}
	if len(names) == 0 {
		return false, nil
	}
	err = s.node.Engine.Claim(ctx, s.work, names...)
	if errors.Is(err, ErrBusy) {
		return true, nil
	}
	return false, err
}

func addressLease(addr netip.Addr) string { return "address/" + addr.String() }

// pause is the time between two requests to the host.
func (s *slice) pause() time.Duration {
	return max(s.node.Crawl.Wait, s.work.State.Delay, s.summary.Delay)
}

// hold is how long nobody else may ask the host.
func (s *slice) hold() time.Duration {
	if !s.asked {
		return 0
	}
	return s.pause()
}

func (s *slice) busyWait() time.Duration {
	wait := max(busyWaits*s.node.Crawl.Wait, time.Millisecond)
	return wait/2 + rand.N(wait)
}

// crawl runs the crawl of the unit.
func (s *slice) crawl(ctx context.Context) error {
	files, err := warc.Create(s.dir, s.node.Archive)
	if err != nil {
		return err
	}
	resolver := s.node.Resolver()
	resolver.Recorder = (&archive.Recorder{Writer: files, NoRevisits: true, Skip: s.skip}).Record
	c := s.node.Crawl
	c.Resolver, c.Start, c.Dir, c.Records, c.NoSync = resolver, nil, s.dir, nil, true
	c.SameHost = false // here decides
	c.Found, c.Here = s.work.Links, s.here
	if !s.node.SameHost {
		c.Elsewhere = func(links []crawl.Link) error { return s.elsewhere(ctx, links) }
	}
	c.Claim, c.Continue, c.Report = s.claim, s.goOn, s.event
	c.MaxHosts = 1 << 16 // ports of one host
	c.MaxFailures = 1    // the node repeats
	s.summary, err = c.Run(ctx)
	// The connections are closed before the lease ends.
	err = errors.Join(ignore(err), resolver.Close(), files.Close())
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil && s.collected > 0 {
		err = s.flush(ctx)
	}
	return err
}

// skip reports whether an access is not recorded: the unit does not answer, and that is not the last
// attempt, so commit would not keep the record.
func (s *slice) skip(err error) bool {
	switch fetch.KindOf(err) {
	case fetch.ErrUnresolved, fetch.ErrUnreachable, fetch.ErrTimeout, fetch.ErrConnectionFailed, fetch.ErrBusy:
		_, last := s.node.afterFailure(s.work.State)
		return !last && !s.answered.Load()
	}
	return false
}

// ignore returns nil for the errors of a crawl whose slice can be committed.
func ignore(err error) error {
	if errors.Is(err, crawl.ErrStopped) || errors.Is(err, crawl.ErrLimit) {
		return nil
	}
	return err
}

func (s *slice) here(l locator.Locator) bool { return s.node.Units.Of(l) == s.work.Unit }

// elsewhere collects links to other units, without those that the policy refuses already by the name.
func (s *slice) elsewhere(ctx context.Context, links []crawl.Link) error {
	for _, l := range links {
		ref, err := locator.Parser{Tolerate: locator.TolerateUsual}.Parse(l.URL)
		if err != nil {
			continue
		}
		unit := s.node.Units.Of(ref.Locator)
		if unit == "" || s.refused(ctx, ref.Locator) {
			continue
		}
		s.found[unit] = append(s.found[unit], l)
		s.collected++
	}
	if s.collected < maxFound {
		return nil
	}
	return s.flush(ctx)
}

// refused reports whether the policy refuses a link before its name is looked up.
func (s *slice) refused(ctx context.Context, l locator.Locator) bool {
	at, _ := locator.ServerOf(l)
	target := fetch.Target{Locator: l, From: fetch.Provenance{Kind: fetch.OriginRemote}, Network: "tcp", Host: at.Host, Port: at.Port}
	if addr, err := netip.ParseAddr(at.Host); err == nil {
		target.Addr = netip.AddrPortFrom(addr, at.Port)
	}
	return s.node.Crawl.Links(ctx, target) != nil
}

// flush adds the links to other units.
func (s *slice) flush(ctx context.Context) error {
	err := s.node.Engine.Add(ctx, s.found)
	if err == nil {
		s.found, s.collected = make(map[string][]crawl.Link), 0
	}
	return err
}

// claim is called before each connection.
func (s *slice) claim(ctx context.Context, addr netip.Addr) error {
	if !s.work.Held() {
		s.cancel(ErrFenced)
		return ErrFenced
	}
	var err error
	if s.node.Units.Accounts[host(s.work.Unit)] == 0 {
		err = s.node.Engine.Claim(ctx, s.work, addressLease(addr))
	}
	if err == nil && !s.work.Held() { // that may have taken long
		s.cancel(ErrFenced)
		err = ErrFenced
	}
	s.claiming.Lock()
	defer s.claiming.Unlock()
	s.addr = addr
	s.busy = s.busy || errors.Is(err, ErrBusy)
	s.asked = s.asked || err == nil
	return err
}

// goOn is called before each request, and before a wait.
func (s *slice) goOn(wait time.Duration) bool {
	if !s.work.Held() { // such as in a process that was stopped and continued
		s.cancel(ErrFenced)
		return false
	}
	if s.node.activity.draining.Load() || wait > maxIdle || s.documents >= s.node.SliceDocuments || time.Since(s.began)+wait > s.node.SliceTime {
		s.idle = wait
		return false
	}
	return true
}

// event counts what was fetched.
func (s *slice) event(e crawl.Event) {
	if e.Host == "" || !e.Next.IsZero() {
		return // the unit and its waits are known
	}
	if e.URL != "" {
		s.documents++
		s.answered.Store(true)
	}
	if e.URL != "" && e.Reason == "" {
		s.node.activity.documents.Add(1)
		s.node.activity.octets.Add(e.Octets)
	}
	s.node.report(Event{Unit: s.work.Unit, Event: e})
}

// commit stores the files and replaces the State. A slice in which the host was not asked, or has not
// answered, changes the State only: the frontier has nothing new, and the links stay where they are.
func (s *slice) commit(ctx context.Context) error {
	state := s.state()
	nothing := !s.asked || s.busy || state.Failures > s.work.State.Failures
	if s.progress() || !nothing || state.Status != Waiting {
		slice, err := s.keepFiles(ctx)
		if err == nil {
			state.Frontier, err = s.keepFrontier(ctx)
		}
		if err != nil {
			return err
		}
		if slice.Files > 0 {
			state.Slices = append(slices.Clone(state.Slices), slice)
		}
		state.Summary, state.Delay = s.summary, s.summary.Delay
	}
	if err := s.node.Engine.Commit(ctx, s.work, state, s.again); err != nil {
		return err
	}
	if old := s.work.State.Frontier; old != "" && old != state.Frontier {
		return s.node.Store.Delete(ctx, old)
	}
	return nil
}

// progress reports whether the slice has settled a URL.
func (s *slice) progress() bool {
	old := s.work.State.Summary
	return s.documents > 0 || s.summary.Documents+s.summary.Failed > old.Documents+old.Failed
}

// state returns the State after the slice, and sets when the unit is due again.
func (s *slice) state() State {
	state := s.work.State
	now := time.Now()
	if s.addr.IsValid() {
		state.Addr = s.addr
	}
	if s.progress() {
		state.Failures, state.Down, state.Error, state.Failed = 0, 0, "", time.Time{}
		state.Seen = now
	}
	dead := slices.DeleteFunc(slices.Clone(s.summary.Dead), func(d crawl.Dead) bool { return d.Reason == crawl.Refused })
	state.Status, s.again = Waiting, s.idle
	switch left := s.summary.Left[crawl.Stopped] > 0; {
	case left && s.busy:
		s.again = s.busyWait()
	case left:
	case len(dead) == 0:
		state.Status, s.again = Done, -1
	default:
		if state.Failures == 0 {
			state.Failed = now
		}
		again, last := s.node.afterFailure(state)
		state.Failures++
		state.Down += again
		state.Error = dead[0].Error
		if s.again = again; last {
			state.Status, s.again = Dead, -1
		}
	}
	if s.again >= 0 {
		// The lease ends after hold. If the unit came back then, it would still be taken.
		s.again = max(s.again, s.hold()+min(s.hold()/4, time.Second))
	}
	return state
}
