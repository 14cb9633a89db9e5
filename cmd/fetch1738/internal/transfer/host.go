package transfer

import (
	"errors"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/fetch"
)

// Limits of the transfers that a server refuses because of others.
const (
	maxPutBack     = 8               // how often a transfer is put back
	maxAlone       = 5               // attempts on a server that refuses even one connection
	aloneWait      = 1 * time.Second // before the first of them, doubled each time
	longestPutBack = aloneWait << (maxAlone - 1)
)

// A host is the state of a server in a pool. Transfers read it, the pool changes it.
type host struct {
	running atomic.Int32
	limit   atomic.Int32 // of running; 0 means no limit
	alone   atomic.Int32 // successive refusals of a single connection
	served  atomic.Bool  // a transfer has succeeded
	shared  atomic.Bool  // it speaks HTTP/2: transfers are streams of one connection

	// For the pool only. Short transfers release their connections soon: to wait for one
	// is cheaper than a new connection.
	width int  // limit of running for that reason; 0 means no limit
	ended bool // a transfer has ended since the last tick
}

// hosted says how a transfer stands with its server in a pool. The zero value means that it is in no pool.
type hosted struct {
	host     *host // nil before the transfer is started
	putBacks int   // how often the transfer was put back
}

// mayPutBack reports whether a transfer that its server refuses is put back: while the
// server serves others, and for some time afterwards.
func (s hosted) mayPutBack() bool {
	return s.besideOthers() || s.host != nil && s.putBacks < maxPutBack &&
		(s.host.served.Load() || s.host.limit.Load() > 0) && s.host.alone.Load() < maxAlone
}

// besideOthers reports whether other transfers with the server are running.
func (s hosted) besideOthers() bool {
	return s.host != nil && s.putBacks < maxPutBack && s.host.running.Load() > 1
}

// crowds reports whether an HTTP status of the response to r means too many connections, and the
// transfer is put back. A wait longer than longestPutBack requires --retry.
func (s hosted) crowds(r *Result, status int, wait time.Duration) bool {
	switch {
	case !client.IsHTTP(r.Locator), r.Account.Moved.Load() > 0, wait > longestPutBack:
		return false
	case status == http.StatusTooManyRequests:
		return s.mayPutBack()
	}
	return status == http.StatusServiceUnavailable && s.besideOthers() // alone, it means that it is down
}

// isRefused reports whether a transfer that failed with err is put back because its server has too
// many connections. For an HTTP status see crowds.
func (s hosted) isRefused(r *Result, err error) bool {
	known, ok := errors.AsType[*fetch.Error](err)
	if !ok || !s.mayPutBack() || r.Account.Moved.Load() > 0 {
		return false
	}
	broken := known.Kind == fetch.ErrConnectionFailed || errors.Is(err, syscall.ECONNRESET) // perhaps before it was established
	if unheard := broken && r.Account.Facts().Heard == 0; unheard || known.Kind == fetch.ErrUnreachable {
		return s.host.served.Load() || unheard && s.besideOthers()
	}
	return client.SaysTooMany(r.Locator, known)
}
