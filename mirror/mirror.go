// Package mirror keeps a copy of a tree of resources on disk: the files below
// an ftp or file directory, the menus and documents of a gopher hole, the
// articles of a newsgroup.
//
// A run lists the tree, compares it with what the run before left, and fetches
// what is new or has changed. What was fetched is put down in a manifest, a line
// of JSON for each file, as soon as it is there, so that a run that is cut off,
// be it by kill -9, is gone on with by the next one: files that are whole are
// not fetched again, and a large one resumes where it ended, unless it has
// changed on the server since.
//
// The other side is not trusted. Names are made safe before they touch the
// disk, everything is written below the directory by an [os.Root], links are
// neither followed nor made, only the server that was named is asked, and the
// number of entries, the depth and the length of listings have bounds.
package mirror

import (
	"context"
	"errors"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// Defaults of a Mirror's bounds.
const (
	DefaultDepth       = 64
	DefaultMaxEntries  = 1_000_000
	DefaultConnections = 4
)

// A Mirror is a copy to be made or brought up to date. Fetcher, Start and Dir
// must be set; the zero value of every other field is what most callers want.
// It must not be changed while Run is at work.
type Mirror struct {
	// Fetcher retrieves; a *fetch1738.Resolver does. It is called concurrently.
	Fetcher fetch.Fetcher
	// Start is where the tree begins: a directory (ftp, file), a menu (gopher,
	// gophers) or a newsgroup (news, nntp, nntps, snews).
	Start locator.Locator
	// From says who wrote Start; the zero value is the user.
	From fetch.Provenance
	// Options go with every request, such as *ftp.Options; nil for none.
	Options any
	// Dir is the directory for the copy. It is made if it does not exist.
	Dir string

	// Aliases are other names of the server of Start, HOST or HOST:PORT, in whose
	// name the menus of a gopher site may speak of it. What they name there is
	// fetched from the server of Start. Without a port it is that of Start.
	Aliases []string

	// Include and Exclude are patterns of paths below the start. A file is wanted
	// if it matches one of Include, or if there is none, and none of Exclude; a
	// directory that matches one of Exclude is not entered. In a pattern "*", "?"
	// and "[a-z]" are as in [path.Match] and stop at a "/", "**" stands for any
	// number of components. A pattern without a "/" is for the last component
	// alone, one that ends in "/" is for directories.
	Include, Exclude []string
	// Depth is how many levels of directories or menus are entered; 1 is the start
	// alone. 0 is DefaultDepth; what lies deeper than that is an error.
	Depth int
	// MaxEntries bounds how many entries all listings together may have; 0 is
	// DefaultMaxEntries.
	MaxEntries int

	// Connections is how many requests are under way at a time; 0 is
	// DefaultConnections. A server that does not want so many gets fewer.
	Connections int
	// Wait is the least time between the beginnings of two requests.
	Wait time.Duration
	// Rate is how many octets of bodies in a second all connections together may
	// take; 0 is any number.
	Rate int64
	// Again decides what is to be done about a request that failed for the n-th
	// time, from 0: it waits as long as it likes and returns true to have it made
	// again. nil does not. It is called concurrently.
	Again func(ctx context.Context, n int, err error) bool

	// Delete removes files that have disappeared from the tree, if they are as
	// the mirror left them. Otherwise they stay and are told of. It is a failure of
	// kind ErrTruncated if files of a gopher site seem to have disappeared, but the
	// server does not mark the ends of its menus.
	Delete bool
	// NewOnly takes what is there already for unchanged.
	NewOnly bool
	// DryRun lists and compares, but fetches no files and writes nothing.
	DryRun bool

	// Report is told what happens; nil is not. It is called by one goroutine at a
	// time, and what it does holds the mirror up.
	Report func(Event)
}

// A Summary counts what a run did.
type Summary struct {
	New, Changed, Unchanged int
	// Gone are files that have disappeared from the tree since the last run.
	Gone int
	// Failed are the files, and the listings, that could not be had.
	Failed int
	// Skipped are entries that are not mirrored: links, devices, other servers.
	Skipped int
	// Unsure are gopher menus and new documents whose end the server has not
	// marked, so that a cut would not show. A document is asked for again by the
	// next run; what a menu does not name is not taken for gone.
	Unsure int
	// Octets were received of files and menus.
	Octets int64
}

var errIncomplete = errors.New("a Mirror needs a Fetcher, a Start and a Dir")

// Run makes the copy or brings it up to date. A file that fails does not stop
// the others. The error is the first that occurred, a *[fetch.Error] where it
// has to do with a resource; when ctx ends, Run does soon, and its error is that
// of ctx. Two runs at once on one Dir are refused.
func (m *Mirror) Run(ctx context.Context) (Summary, error) {
	if m.Fetcher == nil || m.Start == nil || m.Dir == "" {
		return Summary{}, errIncomplete
	}
	r, err := newRun(m)
	if err != nil {
		return Summary{}, err
	}
	if err := r.open(); err != nil {
		return Summary{}, err
	}
	err = r.do(ctx)
	if closeErr := r.close(ctx); err == nil {
		err = closeErr
	}
	return r.sum, err
}
