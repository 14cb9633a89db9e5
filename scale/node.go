package scale

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/policy"
)

// The defaults of a Node.
const (
	DefaultSlots          = 100
	DefaultSliceTime      = 10 * time.Minute
	DefaultSliceDocuments = 10_000
	DefaultBackoff        = 10 * time.Minute
	DefaultMaxBackoff     = 7 * 24 * time.Hour
	DefaultDeadAfter      = 30 * 24 * time.Hour
)

// A Node takes units from an Engine and crawls them. Engine, Store and Dir must be set. For all other
// fields the zero value is a useful default. A Node must not be copied after its first use.
type Node struct {
	// Name is shown in the status; "" means the name of the machine and the number of the process.
	Name   string
	Engine Engine
	Store  Store
	// Crawl has the limits, waits and the policy of the crawl of each unit. Its Resolver, Start,
	// Found, Dir, Records, NoSync, SameHost, MaxHosts, MaxFailures, Here, Elsewhere, Claim,
	// Continue and Report are not used. All URLs come from messages, so Links applies to all of
	// them, also to those that a user has added.
	Crawl crawl.Crawl
	// Resolver returns the Resolver of one slice, to which the Node sets a Recorder, and which it
	// closes. If nil, it is a new one. It is called concurrently.
	Resolver func() *fetch1738.Resolver
	// Units has the accounts of news servers.
	Units Units
	// SameHost does not follow links to other units.
	SameHost bool
	// Dir is the folder for the files of slices, on the disk of this machine. It is created if it does
	// not exist. Another Node in it is an error.
	Dir string
	// Slots is how many units are asked at once. 0 means DefaultSlots.
	Slots int
	// A slice ends after SliceTime, or when SliceDocuments were fetched. 0 means DefaultSliceTime and
	// DefaultSliceDocuments.
	SliceTime      time.Duration
	SliceDocuments int
	// A unit that does not answer is asked again after Backoff. That doubles up to MaxBackoff. When it
	// adds up to DeadAfter, the unit is dead: the time in which a crawl is stopped does not count. 0
	// means the defaults.
	Backoff, MaxBackoff, DeadAfter time.Duration
	// Archive has the version, the size and the software of the WARC files.
	Archive warc.Options
	// Report, if not nil, is called for each Event. Calls are never concurrent.
	Report func(Event)

	reporting sync.Mutex
	once      sync.Once // for fill
	activity  activity
	drained   chan struct{}
}

// activity is what a Node is doing.
type activity struct {
	started   time.Time
	busy      atomic.Int64 // units
	documents atomic.Int64
	octets    atomic.Int64
	draining  atomic.Bool
	failing   atomic.Bool // Take has failed, and not succeeded since
}

// info returns the activity for the status.
func (a *activity) info() NodeInfo {
	return NodeInfo{
		Busy: int(a.busy.Load()), Documents: a.documents.Load(), Octets: a.octets.Load(),
		Draining: a.draining.Load(), Started: a.started,
	}
}

// An Event is what happened to a URL, to a unit, or to the node.
type Event struct {
	// Unit is "" for an error of the node itself.
	Unit string
	// Event is that of the crawl; its zero value if Err is set.
	crawl.Event
	// Err is why a slice was not committed, or why no unit could be taken. The slice is repeated.
	Err error
}

// NodeInfo is what the status has about a node. The counts are since it has started.
type NodeInfo struct {
	Name      string    `json:"name"`
	Slots     int       `json:"slots"`
	Busy      int       `json:"busy"` // units that are being asked
	Documents int64     `json:"documents"`
	Octets    int64     `json:"octets"`
	Draining  bool      `json:"draining"`
	Started   time.Time `json:"started"`
}

var errIncomplete = errors.New("scale: Engine, Store and Dir must be set")

// takePause is the time until the next attempt after the engine has failed.
const takePause = time.Second

// Run takes units and crawls them until Drain is called, or ctx ends. Then connections are closed at
// once, and what was not committed is lost to the next owner; the error is that of ctx.
func (n *Node) Run(ctx context.Context) error {
	if n.Engine == nil || n.Store == nil || n.Dir == "" {
		return errIncomplete
	}
	n.once.Do(n.fill)
	lock, err := n.open()
	if err != nil {
		return err
	}
	defer lock.Close()
	taking, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	var slots sync.WaitGroup
	for range n.Slots {
		slots.Go(func() { n.slot(ctx, taking) })
	}
	select {
	case <-n.drained:
		stop()
	case <-ctx.Done():
	}
	slots.Wait()
	return ctx.Err()
}

// slices is the folder of the files of slices. What a killed process has left there is removed.
func (n *Node) slices() string { return filepath.Join(n.Dir, "slices") }

// open creates and locks the folder.
func (n *Node) open() (io.Closer, error) {
	if err := os.MkdirAll(n.Dir, 0o777); err != nil {
		return nil, err
	}
	d, name := disk.Or(nil), filepath.Join(n.Dir, "lock")
	lock, err := disk.Lock(func() (disk.File, error) { return d.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666) },
		func() (fs.FileInfo, error) { return d.Lstat(name) })
	if errors.Is(err, disk.ErrBusy) {
		return nil, fmt.Errorf("%s: another node uses this folder", n.Dir)
	}
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(n.slices()); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// fill replaces zero fields by their defaults.
func (n *Node) fill() {
	if n.Name == "" {
		n.Name = DefaultName()
	}
	if n.Resolver == nil {
		n.Resolver = func() *fetch1738.Resolver { return new(fetch1738.Resolver) }
	}
	if n.Crawl.Links == nil {
		n.Crawl.Links = policy.Public
	}
	n.Slots = cmp.Or(n.Slots, DefaultSlots)
	n.SliceTime = cmp.Or(n.SliceTime, DefaultSliceTime)
	n.SliceDocuments = cmp.Or(n.SliceDocuments, DefaultSliceDocuments)
	n.Backoff = cmp.Or(n.Backoff, DefaultBackoff)
	n.MaxBackoff = cmp.Or(n.MaxBackoff, DefaultMaxBackoff)
	n.DeadAfter = cmp.Or(n.DeadAfter, DefaultDeadAfter)
	n.Crawl.Wait = cmp.Or(n.Crawl.Wait, crawl.DefaultWait)
	n.Crawl.Depth = cmp.Or(n.Crawl.Depth, crawl.DefaultDepth)
	n.activity.started, n.drained = time.Now(), make(chan struct{})
}

// DefaultName returns the name of a Node without one.
func DefaultName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return fmt.Sprintf("%s-%d", host, os.Getpid())
}

// Drain ends Run: no unit is taken any more, and those that are being asked are committed after their
// next document.
func (n *Node) Drain() {
	n.once.Do(n.fill)
	if !n.activity.draining.Swap(true) {
		close(n.drained)
	}
}

// Info returns what the node is doing.
func (n *Node) Info() NodeInfo {
	n.once.Do(n.fill)
	info := n.activity.info()
	info.Name, info.Slots = n.Name, n.Slots
	return info
}

// slot takes one unit after the other.
func (n *Node) slot(ctx, taking context.Context) {
	for taking.Err() == nil {
		w, err := n.Engine.Take(taking)
		if err == nil {
			n.activity.failing.Store(false)
			n.activity.busy.Add(1)
			n.work(ctx, w)
			n.activity.busy.Add(-1)
			continue
		}
		if taking.Err() != nil {
			return
		}
		if !n.activity.failing.Swap(true) { // once, not by each slot
			n.report(Event{Err: err})
		}
		select {
		case <-time.After(takePause):
		case <-taking.Done():
		}
	}
}

// work crawls a slice of a unit. When the lease ends, the slice does.
func (n *Node) work(ctx context.Context, w *Work) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-w.Lost:
			cancel(ErrFenced)
		case <-ctx.Done():
		}
	}()
	s := &slice{node: n, work: w, cancel: cancel}
	err := s.do(ctx)
	cancel(nil)
	<-watched
	n.Engine.Release(w, s.hold(), s.again)
	if err != nil {
		n.report(Event{Unit: w.Unit, Err: err})
	}
}

func (n *Node) report(e Event) {
	if n.Report == nil {
		return
	}
	n.reporting.Lock()
	defer n.reporting.Unlock()
	n.Report(e)
}

// afterFailure returns the time until a unit is asked again if it does not answer now, and whether it
// is dead then.
func (n *Node) afterFailure(s State) (again time.Duration, dead bool) {
	again = n.backoff(s.Failures + 1)
	return again, s.Down+again > n.DeadAfter
}

// backoff returns the time until a unit is asked again after a number of failures.
func (n *Node) backoff(failures int) time.Duration {
	wait := n.Backoff
	for range failures - 1 {
		if wait *= 2; wait >= n.MaxBackoff {
			break
		}
	}
	return min(wait, n.MaxBackoff)
}
