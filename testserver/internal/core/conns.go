package core

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// Conns are what a server has open, and its goroutines. They end with the server.
type Conns struct {
	root   context.Context // ends with the server
	cancel context.CancelFunc
	wg     sync.WaitGroup
	ended  chan struct{}
	epoch  atomic.Pointer[epoch]
	resets sync.Mutex

	mu      sync.Mutex
	open    map[io.Closer]bool // nil once the server is closed; true means a client
	counted int                // accepted connections that count as open
	serving int                // accepted connections that have not ended
	quiet   sync.Cond          // signals, under mu, that serving is 0 again
}

// epoch is the time between two resets.
type epoch struct {
	ctx context.Context
	end context.CancelFunc
}

// Begin prepares for connections until ctx ends or End is called.
func (c *Conns) Begin(ctx context.Context) {
	c.root, c.cancel = context.WithCancel(ctx)
	c.begin()
	c.open = make(map[io.Closer]bool)
	c.ended = make(chan struct{})
	c.quiet.L = &c.mu
}

// begin begins an epoch.
func (c *Conns) begin() {
	e := new(epoch)
	e.ctx, e.end = context.WithCancel(c.root)
	c.epoch.Store(e)
}

// Serve runs serve, which returns when what it listens on is closed, in a goroutine. From then on the
// context of Begin may end the server.
func (c *Conns) Serve(serve func()) {
	c.wg.Go(serve)
	context.AfterFunc(c.root, c.End)
}

// Ctx returns a context that ends with the server, and at the next reset.
func (c *Conns) Ctx() context.Context { return c.epoch.Load().ctx }

// Go runs f in a goroutine, for whose end End waits.
func (c *Conns) Go(f func()) { c.wg.Go(f) }

// Track registers something to be closed with the server. It returns false if the server is closed
// already.
func (c *Conns) Track(closer io.Closer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		return false
	}
	c.open[closer] = false
	return true
}

// Untrack closes what Track or Admit registered.
func (c *Conns) Untrack(closer io.Closer) {
	c.mu.Lock()
	delete(c.open, closer)
	c.mu.Unlock()
	_ = closer.Close()
}

// Admit registers the connection of a client, which is served until Leave, and counts as open until
// Release. It returns false if there may not be another one beside limit others.
func (c *Conns) Admit(nc net.Conn, limit int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil || c.counted >= limit || c.Ctx().Err() != nil {
		return false
	}
	c.counted++
	c.serving++
	c.open[nc] = true
	return true
}

// Release records that a connection does not count as open any more. It precedes the end of the
// connection, because a client that has seen that may come again before the server does anything else.
func (c *Conns) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counted--
}

// Leave records that the connection of a client is no longer served.
func (c *Conns) Leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.serving--; c.serving == 0 {
		c.quiet.Broadcast()
	}
}

// WaitIdle returns when no client is served, or with an error when ctx ends.
func (c *Conns) WaitIdle(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.quiet.Broadcast()
	})()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.serving > 0 && ctx.Err() == nil {
		c.quiet.Wait()
	}
	return ctx.Err()
}

// Restart closes all connections of clients and waits until they are no longer served; meanwhile
// others are closed at once. Then it calls fresh and returns its error. A new server on the same port
// would lose that to another program now and then.
func (c *Conns) Restart(fresh func() error) error {
	c.resets.Lock()
	defer c.resets.Unlock()
	c.epoch.Load().end()
	c.mu.Lock()
	for closer, client := range c.open {
		if client {
			_ = closer.Close()
		}
	}
	for c.serving > 0 {
		c.quiet.Wait()
	}
	c.mu.Unlock()
	err := fresh()
	c.begin()
	return err
}

// End closes everything and waits for the goroutines. A second call waits for the first one.
func (c *Conns) End() {
	c.mu.Lock()
	open := c.open
	c.open = nil
	c.mu.Unlock()
	if open == nil {
		<-c.ended
		return
	}
	c.cancel()
	for closer := range open {
		_ = closer.Close()
	}
	c.wg.Wait()
	close(c.ended)
}

// Wait returns when the server has ended.
func (c *Conns) Wait() { <-c.ended }
