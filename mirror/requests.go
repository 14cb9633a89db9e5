package mirror

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

// The limit in bytes of all listings together, menus included, is the greater of maxListings and
// perEntry times the maximum number of entries.
const (
	maxListings = 256 << 20
	perEntry    = 256
)

var errLongListing = errors.New("listings exceed the size limit; Mirror.Exclude skips folders")

// requests makes the requests of a run, and counts what they receive.
type requests struct {
	fetcher  driver.Fetcher
	options  any  // of each request; may be nil
	hidden   bool // ask FTP servers for the files whose names begin with a dot
	retry    func(ctx context.Context, n int, err error) bool
	pool     *pool.Pool
	pace     *pace.Pace
	listings int64 // the limit in bytes of all listings together
	octets   atomic.Int64
}

// try makes a request, and retries it as Mirror.Retry decides.
func (q *requests) try(ctx context.Context, do func() error) error {
	for n := 0; ; n++ {
		if err := q.pool.Turn(ctx); err != nil {
			return err
		}
		err := do()
		if err == nil {
			q.pool.Worked()
			return nil
		}
		if meaning, _ := pool.Unmark(err); meaning == pool.Ends || ctx.Err() != nil || q.pool.Crowded(err) {
			return err
		}
		if q.pool.Again(err) {
			continue
		}
		if q.retry == nil || !q.retry(ctx, n, err) {
			return q.pool.Failed(err)
		}
	}
}

// counting returns a copy of ctx in which received bytes are counted. It is cancelled when the
// total exceeds limit, unless limit is 0.
func (q *requests) counting(ctx context.Context, limit int64) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	return fetch.WithTrace(ctx, &fetch.Trace{Body: func(k int64) {
		if n := q.octets.Add(k); limit > 0 && n > limit {
			cancel(errLongListing)
		}
	}}), cancel
}

// digestOf fetches a document or menu and returns only its digest.
func (q *requests) digestOf(ctx context.Context, req *fetch.Request) (string, error) {
	if err := q.pool.Turn(ctx); err != nil {
		return "", err
	}
	ctx, cancel := q.counting(ctx, 0)
	defer cancel(nil)
	res, err := q.fetcher.Fetch(ctx, req)
	if err != nil {
		return "", err
	}
	defer res.Close()
	return local.Sum(q.pace.Reader(ctx, res.Body), -1)
}

// optionsOf returns the Options for a request. For FTP it returns a modified copy.
func (q *requests) optionsOf(l locator.Locator, change func(*ftp.Options)) any {
	if _, ok := l.(*locator.FTP); !ok {
		return q.options
	}
	var o ftp.Options
	if given, ok := q.options.(*ftp.Options); ok && given != nil {
		o = *given
	}
	change(&o)
	return &o
}

// optionsForList returns the Options for a listing. more reports whether another one follows on the
// same worker; it may be nil.
func (q *requests) optionsForList(l locator.Locator, more func() bool) any {
	return q.optionsOf(l, func(o *ftp.Options) { o.Facts, o.Hidden, o.More = true, q.hidden, more })
}
