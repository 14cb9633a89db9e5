package deploy

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/sync/filter"
)

// A batch is files of one directory, which one worker sends. They are sent one after the other, and
// then get their names together: the commands for that are sent at once where the server bears it.
type batch struct {
	dir   string
	files []*file
}

const (
	maxBatch  = 32      // files
	fewOctets = 8 << 20 // of a batch of more than one file
)

// batches divides files, so that all workers have something to do.
func batches(files []*file, workers int) (all []batch) {
	if len(files) > 8*workers {
		workers *= 2 // two batches for each, because some take longer than others
	}
	most := min(maxBatch, max(0, len(files)-1)/workers+1)
	slices.SortStableFunc(files, func(a, b *file) int { return strings.Compare(a.dir(), b.dir()) })
	octets := int64(0)
	for _, f := range files {
		last := len(all) - 1
		if last < 0 || all[last].dir != f.dir() || len(all[last].files) == most || octets+f.size > fewOctets {
			all, octets, last = append(all, batch{dir: f.dir()}), 0, last+1
		}
		all[last].files = append(all[last].files, f)
		octets += f.size
	}
	return all
}

// A scheduler sends many files, in their order.
type scheduler struct {
	*placer
	order []filter.Filter
}

// send sends the files that differ: in the groups of Order, and in each the new files first. So a
// page that is replaced finds what it refers to. Once a file has failed, the later groups are not
// sent.
func (s *scheduler) send(ctx context.Context, d *differences) {
	for _, f := range slices.Concat(d.fresh, d.changed) {
		s.refusals.Expect(f.spot(), f.size)
	}
	type step struct{ files, links []*file } // some servers create only links that lead to something
	groups := make([][2]step, len(s.order)+1)
	for i, files := range [][]*file{d.fresh, d.changed} {
		for _, f := range files {
			if s := &groups[s.group(f)][i]; f.link == "" {
				s.files = append(s.files, f)
			} else {
				s.links = append(s.links, f)
			}
		}
	}
	for g, steps := range groups {
		if g > 0 && s.HasFailed() {
			s.note("files that Upload.Order puts last are not sent, because others have failed")
			break
		}
		for _, files := range [][]*file{steps[0].files, steps[1].files, steps[0].links, steps[1].links} {
			s.sendAll(ctx, files)
		}
	}
}

// group returns the number of the group of Order that a file belongs to; 0 if it matches none.
func (s *scheduler) group(f *file) int {
	for i, only := range slices.Backward(s.order) {
		if only.File(components(f.path)) {
			return i + 1
		}
	}
	return 0
}

var errNoDirectory = errors.New("the directory could not be created or listed")

// sendAll sends files, several batches at once.
func (s *scheduler) sendAll(ctx context.Context, files []*file) {
	batches := batches(files, s.pool.Size())
	// The port of a large file would wait for its checksum, perhaps longer than the server does.
	large := slices.ContainsFunc(files, func(f *file) bool { return f.size > small })
	s.each(ctx, len(batches), func(i int, more func() bool) error {
		return s.sendBatch(ctx, batches[i], func() bool { return !large && more() })
	}, func(i int, err error) {
		for _, f := range batches[i].files {
			switch {
			case f.placed || f.failed:
			case errors.Is(err, errNoDirectory) && s.isSaid(f.dir()):
				f.failed = true // it is missing at the end
			default:
				s.failFile(ctx, f, err)
			}
		}
	})
}

// sendOne sends one file.
func (s *scheduler) sendOne(ctx context.Context, f *file) error {
	return s.sendBatch(ctx, batch{dir: f.dir(), files: []*file{f}}, nil)
}

// sendBatch sends the files of a batch and gives them their names. If it returns an error that says
// that there are too many connections, it is called again.
func (s *scheduler) sendBatch(ctx context.Context, b batch, more func() bool) error {
	if _, ok := s.listing.dirs[b.dir]; !ok && !s.Web {
		return driver.Fail(fetch.OpMirror, s.At(components(b.dir), true), fetch.ErrNotFound, errNoDirectory)
	}
	for i, f := range b.files {
		if f.part != "" || f.placed || f.failed {
			continue
		}
		if !f.tried {
			s.refusals.Try(f.size)
			f.tried = true
		}
		if s.isHopeless(f) {
			f.failed = true // it is missing at the end
			continue
		}
		s.Tell(s.of(Started, f))
		more := func() bool { // not after a large file: it would be sent again if the server does not bear it
			return f.size < resumable && i < len(b.files)-1 && b.files[i+1].size < resumable
		}
		err := s.sendFile(ctx, f, more)
		switch {
		case err == nil:
			s.refusals.Stored()
		case s.pool.Crowded(err):
			return err
		case s.refusesPart(f, err):
			s.storeDirect(ctx, f)
		case err != nil:
			s.failFile(ctx, f, s.refused(ctx, f, err))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return s.place(ctx, b.dir, b.files, more)
}
