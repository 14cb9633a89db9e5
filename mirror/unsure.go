package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/locator"
)

// An ending says how the end of a response was recognized.
type ending uint8

const (
	checked  ending = iota // by the protocol: a truncated response is an error
	marked                 // by the optional end mark of gopher
	unmarked               // not at all: a truncated response looks complete
)

// endOf returns how the end of a Resource was recognized. Its Body must have been read.
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

// The reasons why a response without an end mark does not replace a copy.
var (
	errMarkMissing = errors.New("no end mark, although the copy had one")
	errBeginning   = errors.New("no end mark, and the response is only the beginning of the copy")
	errTwoAnswers  = errors.New("no end mark, and two requests returned different documents")
	errKept        = errors.New("the copy is kept; remove it to accept the new version, or use Mirror.Exclude")
	errUnmarked    = errors.New("no end mark, may be truncated")
)

// confirm decides whether a response without an end mark may replace the copy that done describes.
// It returns nil if it may, otherwise the reason. If the copy shows that the response may be
// truncated, it is never accepted. Otherwise it is accepted only if a second request, made by
// refetch, returns the same bytes.
func (r *run) confirm(l locator.Locator, done ManifestLine, size int64, digest string, refetch func() (string, error)) error {
	if done.SHA256 == "" || done.SHA256 == digest {
		return nil
	}
	if info, err := r.stat(done.File); err == nil && info == nil {
		return nil
	}
	why := errTwoAnswers
	switch {
	case done.Marked:
		why = errMarkMissing
	case r.isBeginning(done, size, digest):
		why = errBeginning
	default:
		second, err := refetch()
		if err != nil || second == digest {
			return err
		}
	}
	return driver.Fail(fetch.OpRead, l, fetch.ErrTruncated, fmt.Errorf("%w; %w", why, errKept))
}

// confirmSize decides whether a file may have another size than the listing says, if only that says it: the
// transfer may have been cut, the file changed since, or the listing counts differently. It may if a second
// request, made by again, returns the same bytes.
func confirmSize(e *entry, p *part, again func() (string, error)) error {
	second, err := again()
	if err != nil || second == p.digest {
		return err
	}
	return driver.Fail(fetch.OpRead, e.loc, fetch.ErrTruncated, fmt.Errorf("the listing says %d bytes, two requests returned different documents, and the first one had %d bytes", e.size, p.size))
}

// isBeginning reports whether the copy is longer than size bytes and its first size bytes have the
// given digest.
func (r *run) isBeginning(done ManifestLine, size int64, digest string) bool {
	if size >= done.Size {
		return false
	}
	file, err := r.root.OpenFile(done.File, os.O_RDONLY, 0)
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

// digestOf fetches a document or menu and returns only its digest.
func (r *run) digestOf(ctx context.Context, req *fetch.Request) (string, error) {
	if err := r.pool.Turn(ctx); err != nil {
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
	if _, err := io.Copy(sum, r.pace.Reader(ctx, res.Body)); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// failUnmarked reports that files are in no menu but were not deleted, because a menu without an
// end mark may be truncated and may have listed them.
func (r *run) failUnmarked(ctx context.Context, s *survey, vanished int) {
	start := r.tree.start().loc
	r.fail(ctx, start.Redacted(), "", driver.Fail(fetch.OpList, start, fetch.ErrTruncated, fmt.Errorf(
		"%d files are no longer in any menu but were not deleted: %d menus have no end mark and may be truncated; delete the files by hand",
		vanished, s.unmarked)))
}
