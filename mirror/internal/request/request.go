// Package request makes the requests of a copy: it counts what they receive, and makes them again.
package request

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/internal/pace"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror/internal/local"
)

// ErrLongListing is the cause of a context that Counting has cancelled.
var ErrLongListing = errors.New("listings exceed the size limit; Mirror.Exclude skips folders")

// A Sender makes the requests of a run, and counts what they receive. It is safe for concurrent use.
type Sender struct {
	Fetcher driver.Fetcher
	Options any  // of each request; may be nil
	Hidden  bool // ask FTP servers for the files whose names begin with a dot
	// Retry reports whether to make a request again that has failed n times before, as Mirror.Retry
	// does. It may be nil.
	Retry    func(ctx context.Context, n int, err error) bool
	Pool     *pool.Pool
	Pace     *pace.Pace
	Listings int64        // the limit in bytes of all listings together
	Octets   atomic.Int64 // received
}

// Try makes a request, and retries it as Retry decides.
func (s *Sender) Try(ctx context.Context, do func() error) error {
	return s.Pool.Try(ctx, s.Retry, do)
}

// Counting returns a copy of ctx in which received bytes are counted. It is cancelled when the
// total exceeds limit, unless limit is 0.
func (s *Sender) Counting(ctx context.Context, limit int64) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	return fetch.WithTrace(ctx, &fetch.Trace{Body: func(k int64) {
		if n := s.Octets.Add(k); limit > 0 && n > limit {
			cancel(ErrLongListing)
		}
	}}), cancel
}

// Digest fetches a document or menu and returns only its digest.
func (s *Sender) Digest(ctx context.Context, req *fetch.Request) (string, error) {
	if err := s.Pool.Turn(ctx); err != nil {
		return "", err
	}
	ctx, cancel := s.Counting(ctx, 0)
	defer cancel(nil)
	res, err := s.Fetcher.Fetch(ctx, req)
	if err != nil {
		return "", err
	}
	defer res.Close()
	return local.Sum(s.Pace.Reader(ctx, res.Body), -1)
}

// OptionsFor returns the Options for a request. For FTP it returns a modified copy.
func (s *Sender) OptionsFor(l locator.Locator, change func(*ftp.Options)) any {
	if _, ok := l.(*locator.FTP); !ok {
		return s.Options
	}
	var o ftp.Options
	if given, ok := s.Options.(*ftp.Options); ok && given != nil {
		o = *given
	}
	change(&o)
	return &o
}

// OptionsForList returns the Options for a listing. more reports whether another one follows on the
// same worker; it may be nil.
func (s *Sender) OptionsForList(l locator.Locator, more func() bool) any {
	return s.OptionsFor(l, func(o *ftp.Options) { o.Facts, o.Hidden, o.More = true, s.Hidden, more })
}
