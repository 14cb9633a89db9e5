package mirror

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
)

// Some FTP servers list a symbolic link to a directory as a directory. If it leads to a directory above it, the tree has no end. Then the link lists the same as that directory,
// and so does the directory to which the same way leads from there. A real directory may list the same
// as the one that it is in, too. So the way is repeated: only if the directory at its end lists the same
// as well, the first one is left out. That is an error, unless the server says that there is a link: by
// the fact unique, or because systems follow at most 40 links in one path.
const (
	loopRepeats = 6  // POSIX systems follow at least 8 links in one path: that to the directory, these, and that in the listing
	linkLimit   = 41 // more than systems follow
)

// ErrLoop is the error of a Failed event for a directory of an FTP server that is left out, because it
// seems to be a link to a directory above it: it lists the same, and so does what the same way leads to,
// repeated. To copy it anyway, use its URL as that of a Mirror of its own.
var ErrLoop = errors.New("seems to be a link to a directory above it, and is not copied")

var errExclude = errors.New("with Mirror.Exclude for it, this is no error")

// A fingerprint identifies the listing of a directory, and those of the directories above it.
type fingerprint struct {
	digest
	above *fingerprint
}

// A digest is a hash of the entries of a listing, in any order.
type digest struct {
	high, low uint64
	n         int
}

// add adds an entry, with what the listing says about it.
func (d *digest) add(item fetch.Item) {
	kind := "file"
	switch {
	case item.Kind == fetch.KindDirectory:
		kind = "directory"
	case has(item, fetch.HeaderLink):
		kind = "link"
	case has(item, fetch.HeaderSpecial):
		kind = "special"
	}
	sum := idOf(fmt.Sprintf("%s %d %d %s", kind, item.Size, item.ModTime.UnixNano(), item.Name))
	d.high += binary.BigEndian.Uint64(sum[:8])
	d.low += binary.BigEndian.Uint64(sum[8:])
	d.n++
}

// digested yields the items of a listing. For a directory of an FTP server it sets the fingerprint.
func (l *listing) digested(items iter.Seq2[fetch.Item, error]) iter.Seq2[fetch.Item, error] {
	if _, isFTP := l.in.loc.(*locator.FTP); !isFTP {
		return items
	}
	own := &fingerprint{above: l.in.print}
	l.in.print = own
	return func(yield func(fetch.Item, error) bool) {
		for item, err := range items {
			if err == nil {
				own.add(item)
			}
			if !yield(item, err) {
				return
			}
		}
	}
}

// findLoop empties the listing of a directory that is a link to one above it, and sets the reason why
// it is left out.
func (r *run) findLoop(ctx context.Context, f folder, l *listing) error {
	at, isFTP := f.loc.(*locator.FTP)
	if !isFTP || l.in.print == nil || l.in.print.n == 0 {
		return nil
	}
	own, levels := l.in.print.digest, 1
	above := l.in.print.above
	for ; above != nil && above.digest != own; above = above.above {
		levels++
	}
	if above == nil {
		return nil
	}
	way := f.path[len(f.path)-levels:]
	again, err := r.digestAt(ctx, f, repeated(at, way, loopRepeats), own.n)
	if err != nil || again != own {
		return ctx.Err() // a real directory, as far as is known: the levels below it are tried, too
	}
	reason := errLink
	if !l.climbs && !r.refusesLinks(ctx, f, repeated(at, way, linkLimit)) {
		end := *at
		end.CWD = at.CWD[:len(at.CWD)-levels]
		reason = fetch.Fail(fetch.OpList, at, fetch.ErrTruncated, fmt.Errorf("lists the same as %s, also %d levels below: %w; %w", end.Redacted(), levels*loopRepeats, ErrLoop, errExclude))
	}
	*l = listing{batch: &batch{in: f}, loop: reason}
	return ctx.Err()
}

// repeated returns the locator of a directory below at: the same way n times.
func repeated(at *locator.FTP, way []string, n int) *locator.FTP {
	below := *at
	below.CWD = append(slices.Clip(at.CWD), slices.Repeat(way, n)...)
	return &below
}

// digestAt lists a directory that is not a part of the copy, up to the first entry after most.
func (r *run) digestAt(ctx context.Context, f folder, at *locator.FTP, most int) (d digest, err error) {
	options := r.optionsOf(at, func(o *ftp.Options) { o.Facts, o.Hidden = true, !r.NoHidden })
	err = r.try(ctx, func() error {
		d = digest{}
		ctx, cancel := r.counting(ctx, max(maxListings, perEntry*r.maxEntries))
		defer cancel(nil)
		res, err := r.Fetcher.Fetch(ctx, &fetch.Request{Locator: at, From: f.from, Options: options})
		if err != nil {
			return err
		}
		defer res.Close()
		for item, err := range res.Items {
			if err != nil {
				return err
			}
			if d.add(item); d.n > most {
				break
			}
		}
		return nil
	})
	return d, err
}

// refusesLinks reports whether the server refuses a path because of the symbolic links in it.
func (r *run) refusesLinks(ctx context.Context, f folder, at *locator.FTP) bool {
	_, err := r.digestAt(ctx, f, at, 0)
	failed, ok := errors.AsType[*fetch.Error](err)
	return ok && tooManyLinks.MatchString(failed.Reply)
}

// tooManyLinks matches the texts of the error ELOOP of systems and languages.
var tooManyLinks = regexp.MustCompile(`(?i)too many (levels of )?symbolic links|symbolic link loop`)
