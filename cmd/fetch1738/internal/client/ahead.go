package client

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// Limits of the documents that wait for their turn. More bytes would not help: a line of 100 Mbit/s
// and 50 ms holds 600 KB, and what is received early delays the document whose turn it is.
const (
	mostEarly      = 32      // documents
	mostEarlyEach  = 1 << 20 // bytes of one
	mostEarlyBytes = 4 << 20 // bytes of all
)

// An Ahead requests the documents of the next calls while one is received, if the server speaks HTTP/2:
// they are streams of one connection. The calls must be made one after the other. The caller must close
// it.
type Ahead struct {
	ctx    context.Context    // of the requests
	cancel context.CancelFunc // of ctx

	scheme string           // of the server; "" if none is known to speak HTTP/2
	server locator.HostPort // that of the last call
	size   int64            // bytes of its document

	users  sync.WaitGroup // goroutines that receive documents
	taken  atomic.Int64   // bytes of them
	failed atomic.Bool    // one has failed, which may be a limit of the server for requests at once
}

// NewAhead returns an Ahead whose requests the end of ctx cancels.
func NewAhead(ctx context.Context) *Ahead {
	a := new(Ahead)
	a.ctx, a.cancel = context.WithCancel(ctx)
	return a
}

// Close cancels what has not been received.
func (a *Ahead) Close() {
	a.cancel()
	a.users.Wait()
}

// IsShared reports whether a response has come over a connection that other calls with its server
// share.
func IsShared(web *fetchhttp.Info) bool {
	return web != nil && web.Proto == "HTTP/2.0" && len(web.Redirects) == 0
}

// Ended sees the end of a call. web is the response, or nil, and size the number of bytes of its
// document.
func (a *Ahead) Ended(c *Call, web *fetchhttp.Info, size int64) {
	a.scheme = ""
	if IsShared(web) && c.Op.MayGoAhead() {
		a.scheme, a.server, a.size = c.Locator.Scheme(), c.ServerOf(c.Locator).HostPort, size
	}
}

// depth returns how many documents may wait for their turn, if they are like the last one.
func (a *Ahead) depth() int {
	if a.scheme == "" || a.size > mostEarlyEach || a.failed.Load() {
		return 0
	}
	return int(min(mostEarly, mostEarlyBytes/max(a.size, 1)))
}

// May reports whether the document of c may be requested early: its server is that of the last call.
func (a *Ahead) May(c *Call) bool {
	l := c.Locator
	return a.depth() > 0 && l.Scheme() == a.scheme && c.ServerOf(l).HostPort == a.server && c.AskedProxy(l) == nil && c.Op.Gateways[a.scheme] == ""
}

// Requesting yields the elements of list, in order. It calls request for those whose turn comes next,
// until request reports false because an element is not requested early.
func Requesting[T any](a *Ahead, list iter.Seq[T], request func(T) bool) iter.Seq[T] {
	return func(yield func(T) bool) {
		next, stop := iter.Pull(list)
		defer stop()
		var queue []T
		for early := false; ; queue = queue[1:] {
			for len(queue) == 0 || early && len(queue) < a.depth() {
				t, ok := next()
				if !ok {
					break
				}
				early = request(t)
				queue = append(queue, t)
			}
			if len(queue) == 0 || !yield(queue[0]) {
				return
			}
		}
	}
}
