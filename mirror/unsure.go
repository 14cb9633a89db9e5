package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/locator"
)

// An ending is how the end of an answer was known.
type ending uint8

const (
	checked  ending = iota // by the protocol: an answer that is cut is an error
	marked                 // by the mark that a gopher server may set
	unmarked               // not at all: an answer that is cut looks whole
)

// endOf reports how the end of a Resource was known, once it has been read.
func endOf(res *fetch.Resource) ending {
	info, isGopher := res.Info.(*gopher.Info)
	switch {
	case !isGopher:
		return checked
	case info.Complete:
		return marked
	}
	return unmarked
}

// The reasons for which an answer without a marked end does not replace a copy.
var (
	errMarkMissing = errors.New("the answer lacks the end mark that the copy came with")
	errBeginning   = errors.New("the answer is only the beginning of the copy")
	errTwoAnswers  = errors.New("two requests got different answers, none with a marked end")
	errKept        = errors.New("the copy stays; remove it to take what the server sends, or use --exclude")
	errUnmarked    = errors.New("the server does not mark the end")
)

// confirm reports why an answer whose end is not marked must not replace the
// copy that done describes; nil if it may. What a cut leaves is never accepted
// when the copy shows the cut, and otherwise only if a second request, made by
// again, gets the same octets.
func (r *run) confirm(l locator.Locator, done Record, size int64, digest string, again func() (string, error)) error {
	if done.SHA256 == "" || done.SHA256 == digest || r.stat(done.File) == nil {
		return nil
	}
	why := errTwoAnswers
	switch {
	case done.Marked:
		why = errMarkMissing
	case r.isBeginning(done, size, digest):
		why = errBeginning
	default:
		second, err := again()
		if err != nil || second == digest {
			return err
		}
	}
	return fetch.Fail(fetch.OpRead, l, fetch.ErrTruncated, fmt.Errorf("%w; %w", why, errKept))
}

// isBeginning reports whether the copy begins with size octets of this digest
// and has more.
func (r *run) isBeginning(done Record, size int64, digest string) bool {
	if size >= done.Size {
		return false
	}
	file, err := r.root.Open(done.File)
	if err != nil {
		return false
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.CopyN(sum, file, size); err != nil {
		return false
	}
	return hex.EncodeToString(sum.Sum(nil)) == digest
}

// digestOf fetches a document, or the octets of a menu, and keeps only the
// digest.
func (r *run) digestOf(ctx context.Context, req *fetch.Request) (string, error) {
	if err := r.pool.turn(ctx); err != nil {
		return "", err
	}
	ctx, cancel := r.counting(ctx, 0)
	defer cancel(nil)
	res, err := r.Fetcher.Fetch(ctx, req)
	if err != nil {
		return "", err
	}
	defer res.Close()
	sum := sha256.New()
	if err := r.copy(ctx, sum, res.Body); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// failUnmarked is the failure to delete files that seem to have disappeared, but
// that a menu could have named whose end is not marked.
func (r *run) failUnmarked(ctx context.Context, s *survey, vanished int) {
	start := r.tree.start().loc
	r.fail(ctx, start.Redacted(), "", fetch.Fail(fetch.OpList, start, fetch.ErrTruncated, fmt.Errorf(
		"%d files are in no menu any more but were not deleted: the server does not mark the end of %d menus, and a menu that is cut looks whole; delete them by hand",
		vanished, s.unmarked)))
}
