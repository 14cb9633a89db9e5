// Package scale crawls with several processes, on one machine or many. What a process does is the
// crawl of package crawl; an [Engine] tells it which hosts it may ask.
//
// The unit of work is the host, not the URL: politeness, logins, robots.txt and the knowledge of
// what was fetched belong to a host. A [Node] takes a unit, fetches its frontier from a [Store],
// crawls for some minutes, stores the WARC files and the frontier, and commits. So a host moves
// between machines, and a process that dies repeats at most one such slice.
//
// Nobody's clock decides who may speak to a host. An owner has a lease, which the Engine ends if it
// is not renewed, and a fence: a number that is larger than that of each earlier owner. The files of
// a slice have the fence in their names, and count only if their owner could commit.
package scale

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/netip"
	"time"

	"github.com/fetch1738/fetch1738/crawl"
)

// An Engine distributes the units of a crawl. Its methods are called concurrently.
type Engine interface {
	// Add gives links to units, by their names. A unit that is new is created. It becomes due, unless
	// it is dead; a link of depth 0 brings a dead one to life. When Add returns nil, no link can be
	// lost.
	Add(ctx context.Context, links map[string][]crawl.Link) error
	// Take waits until a unit is due, and returns it. The caller must Release it.
	Take(ctx context.Context) (*Work, error)
	// Claim takes the first of some more leases that is free: they have names, and are those of an
	// address or of the slots of an account. It is for as long as the Work. The error is ErrBusy if
	// all are taken.
	Claim(ctx context.Context, w *Work, names ...string) error
	// Commit replaces the State of the unit, and forgets the links that the Work had. The unit is due
	// again after a time; if that is negative, only when it gets links. The error is ErrFenced if
	// another owner has taken the unit; then nothing has changed.
	Commit(ctx context.Context, w *Work, s State, again time.Duration) error
	// Release ends a Work. Its leases remain for a time, in which nobody may ask the host. Without
	// Commit the unit has the State and the links it had, and is due after another time.
	Release(w *Work, hold, again time.Duration)
	// Units yields all units, in no order.
	Units(ctx context.Context) iter.Seq2[Unit, error]
}

var (
	// ErrBusy is the error of Claim if another Work has the leases.
	ErrBusy = errors.New("another host with this address, or another user of this account, is being asked")
	// ErrFenced is the error of a Work whose lease has ended.
	ErrFenced = errors.New("another process may ask this host now")
)

// A Work is a unit that was taken.
type Work struct {
	// Unit is its name, and Fence the number of this owner.
	Unit  string
	Fence uint64
	// State is that of the last Commit, and Links what was added since then.
	State State
	Links []crawl.Link
	// Interrupted means that the owner before has not released it, so the host may have been asked
	// just before.
	Interrupted bool
	// Lost is closed when the lease has ended. Held reports, by the time that has passed, whether the
	// owner may still begin a request.
	Lost <-chan struct{}
	Held func() bool
	// Private is for the Engine.
	Private any
}

// A Status says what will become of a unit.
type Status string

// The statuses.
const (
	New     Status = "new"     // it was never taken
	Active  Status = "active"  // it is being asked
	Waiting Status = "waiting" // it will be asked again
	Done    Status = "done"    // nothing is left of it
	Dead    Status = "dead"    // it has not answered for DeadAfter
)

// A State is what is known about a unit between two slices. Its JSON is stored.
type State struct {
	Status Status `json:"status"`
	// Frontier is the name of the object with its frontier; "" means that it has no frontier.
	Frontier string `json:"frontier,omitempty"`
	// Slices are those that have files, in the order of their fences.
	Slices []Slice `json:"slices,omitempty"`
	// Summary is that of the crawl of this unit.
	Summary crawl.Summary `json:"summary"`
	// Addr is the address of the last connection.
	Addr netip.Addr `json:"addr,omitzero"`
	// Delay is the time between requests that its servers ask for, if it is longer than the usual one.
	Delay time.Duration `json:"delay,omitempty"`
	// Failures counts the slices in turn in which the host did not answer, Down adds the times between
	// them, and Error is the last error.
	Failures int           `json:"failures,omitempty"`
	Down     time.Duration `json:"down,omitempty"`
	Error    string        `json:"error,omitempty"`
	// Seen is when it last answered, and Failed when the first of Failures was, by the clock of the
	// node. They are only shown.
	Seen   time.Time `json:"seen,omitzero"`
	Failed time.Time `json:"failed,omitzero"`
}

// A Slice is what one owner has stored.
type Slice struct {
	Fence uint64 `json:"fence"`
	// Files is the number of WARC files. Each has an index beside it.
	Files int `json:"files"`
	// Octets is the size of the files.
	Octets int64 `json:"octets"`
}

// A Unit is a unit with its State.
type Unit struct {
	Name  string
	State State
}

// A Store keeps files, by names of letters, digits and "/-_.=". Its methods are called concurrently.
type Store interface {
	// Put stores a file as a whole, or not at all.
	Put(ctx context.Context, name string, r io.Reader) error
	// Get returns a file. The caller closes it.
	Get(ctx context.Context, name string) (io.ReadCloser, error)
	// Delete removes a file. One that does not exist is no error.
	Delete(ctx context.Context, name string) error
}
