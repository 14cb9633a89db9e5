package deploy

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
	"github.com/fetch1738/fetch1738/internal/sync/site"
)

// A server makes the requests of a run: several at once, and again as Upload.Retry decides.
type server struct {
	site.Site
	pool  *pool.Pool
	retry func(ctx context.Context, n int, err error) bool
}

// try makes a request, and retries it.
func (s *server) try(ctx context.Context, do func() error) error { return s.pool.Try(ctx, s.retry, do) }

// each calls do for 0 to n-1, several at once, and failed if it returns an error; see [pool.Each].
func (s *server) each(ctx context.Context, n int, do func(i int, more func() bool) error, failed func(i int, err error)) {
	pool.Each(ctx, s.pool, pool.Indices(n), do, failed)
}

// list lists a directory.
func (s *server) list(ctx context.Context, dir string) (d site.Directory, err error) {
	err = s.try(ctx, func() error { d, err = s.List(ctx, components(dir)); return err })
	return d, err
}

// edit performs edits in a directory, and retries those that have no results.
func (s *server) edit(ctx context.Context, dir string, edits []fetch.Edit) error {
	return s.editThen(ctx, dir, edits, nil)
}

// editThen is like edit. more reports whether an upload follows; if nil, none does.
func (s *server) editThen(ctx context.Context, dir string, edits []fetch.Edit, more func() bool) error {
	return s.try(ctx, func() error {
		var left []fetch.Edit
		var at []int
		for i, e := range edits {
			if !e.Done {
				left, at = append(left, e), append(at, i)
			}
		}
		err := s.Edit(ctx, components(dir), left, more)
		for i, e := range left {
			edits[at[i]] = e
		}
		return err
	})
}

// isRefused reports whether a server has refused a directory: some say so of one that does not
// exist.
func isRefused(err error) bool {
	e, ok := errors.AsType[*fetch.Error](err)
	return ok && e.Op == "CWD" && e.Code >= 500
}

// limitations are what the server has turned out not to do.
type limitations struct {
	refused     atomic.Bool // it has not renamed a file, and stored it under its name
	renames     atomic.Bool // it has renamed a file
	removeFirst atomic.Bool // it does not replace a file by renaming another one
	noTime      atomic.Bool // it does not set modification times
	noMode      atomic.Bool // it does not set permissions
	noSize      atomic.Bool // it does not state sizes but in listings
	noRest      atomic.Bool // it does not continue files
	noDirs      atomic.Bool // it is a web server on which directories cannot be created
}

// direct reports whether files are stored under their names, because the server does not rename.
func (l *limitations) direct() bool { return l.refused.Load() && !l.renames.Load() }
