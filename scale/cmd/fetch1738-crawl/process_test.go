package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/policy"
	"github.com/fetch1738/fetch1738/scale"
	"github.com/fetch1738/fetch1738/scale/nats"
)

// envNode is the environment variable with the nodeConfig of a process of a test.
const envNode = "FETCH1738_TEST_NODE"

// A nodeConfig says what a process of a test does.
type nodeConfig struct {
	// Args are the arguments of the program. Without them the process is a server of NATS.
	Args   []string
	Server nats.ServerOptions
	// Local is the address that its connections come from.
	Local netip.Addr
	// The times of a node, which are much shorter than those of a real one. Reply is how long it waits
	// for a server.
	TTL, Reply, Backoff, MaxBackoff, DeadAfter, SliceTime time.Duration
	// Clock is how far the clock of the node is off.
	Clock time.Duration
	// StopAtPut stops the process when it is about to store its first WARC file.
	StopAtPut bool

	lost io.Writer // gets a line with lostText for each slice that is lost
}

// hooks returns the hooks of the process. If dial is nil, the network is that of the machine, of which
// it may reach 127.0.0.0/8 only.
func (c *nodeConfig) hooks(dial func(context.Context, string, string) (net.Conn, error)) hooks {
	return hooks{
		nats: func(o *nats.Options) { o.TTL = c.TTL },
		node: func(n *scale.Node) {
			n.Backoff, n.MaxBackoff, n.DeadAfter, n.SliceTime = c.Backoff, c.MaxBackoff, c.DeadAfter, c.SliceTime
			if c.Clock != 0 {
				n.Archive.Now = func() time.Time { return time.Now().Add(c.Clock) }
			}
			if c.StopAtPut {
				s := new(stop)
				n.Store, n.Engine = &stoppingStore{n.Store, s}, &stoppingEngine{n.Engine, s}
			}
			n.Engine = &countingEngine{Engine: n.Engine, lost: c.lost, again: c.MaxBackoff}
			usual := n.Resolver
			n.Resolver = func() *fetch1738.Resolver {
				r := new(fetch1738.Resolver)
				if usual != nil {
					r = usual()
				}
				r.Env.Limits.Reply, r.Env.Limits.Idle, r.Env.Dial = c.Reply, c.Reply, dial
				if dial == nil {
					r.Env.Dial, r.Env.Allow = c.dial, loopback
				}
				return r
			}
			if dial == nil {
				n.Crawl.Links = loopback
			}
		},
	}
}

// loopback is a policy that permits 127.0.0.0/8 besides public addresses.
func loopback(ctx context.Context, t fetch.Target) error {
	rules := policy.Rules{PublicOnly: true, AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	return rules.Allow(ctx, t)
}

// dial connects from the address of the process.
func (c *nodeConfig) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{ControlContext: fetch.DialControl}
	if c.Local.IsValid() {
		d.LocalAddr = &net.TCPAddr{IP: c.Local.AsSlice()}
	}
	return d.DialContext(ctx, network, address)
}

// A stop stops the process before it stores its first WARC file. When the process is continued, it
// stores that and commits as if it had not noticed: as a process does that was stopped a moment later.
type stop struct{ done atomic.Bool }

// stoppingStore is the Store of a node with a stop.
type stoppingStore struct {
	scale.Store
	stop *stop
}

func (s *stoppingStore) Put(ctx context.Context, name string, r io.Reader) error {
	if !s.stop.done.Swap(true) {
		stopSelf()
	}
	return s.Store.Put(context.WithoutCancel(ctx), name, r)
}

// stoppingEngine is the Engine of a node with a stop.
type stoppingEngine struct {
	scale.Engine
	stop *stop
}

func (e *stoppingEngine) Commit(ctx context.Context, w *scale.Work, s scale.State, again time.Duration) error {
	if e.stop.done.Load() {
		ctx = context.WithoutCancel(ctx)
	}
	return e.Engine.Commit(ctx, w, s, again)
}

// lostText is printed for each slice that was not committed.
const lostText = "slice lost: "

// countingEngine reports which slices were lost: their host was asked, and they were not committed.
// They are repeated after the time again, not after a minute.
type countingEngine struct {
	scale.Engine
	again time.Duration
	lost  io.Writer
	asked sync.Map // *scale.Work
}

func (e *countingEngine) Claim(ctx context.Context, w *scale.Work, names ...string) error {
	err := e.Engine.Claim(ctx, w, names...)
	if err == nil {
		e.asked.Store(w, true)
	}
	return err
}

func (e *countingEngine) Commit(ctx context.Context, w *scale.Work, s scale.State, again time.Duration) error {
	err := e.Engine.Commit(ctx, w, s, again)
	if err == nil {
		e.asked.Delete(w)
	}
	return err
}

func (e *countingEngine) Release(w *scale.Work, hold, again time.Duration) {
	if _, lost := e.asked.LoadAndDelete(w); lost {
		fmt.Fprintf(e.lost, "%s%s %d\n", lostText, w.Unit, w.Fence)
	}
	e.Engine.Release(w, hold, min(again, e.again))
}

// testNode is the process of a test.
func testNode() int {
	var c nodeConfig
	if err := json.Unmarshal([]byte(os.Getenv(envNode)), &c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	if len(c.Args) > 0 {
		c.lost = os.Stderr
		code := run(ctx, c.Args, streams{os.Stdin, os.Stdout, os.Stderr}, c.hooks(nil))
		fmt.Fprintf(os.Stderr, "%s%d\n", memoryText, peakMemory())
		return code
	}
	server, err := nats.Start(c.Server)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(server.URL())
	<-ctx.Done()
	server.Close()
	return 0
}

// memoryText is what comes before the peak of the memory that a process has used, in bytes.
const memoryText = "peak memory "
