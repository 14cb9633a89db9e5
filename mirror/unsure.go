package mirror

import (
	"errors"
	"fmt"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror/internal/local"
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
func confirm(d *local.Dir, l locator.Locator, done ManifestLine, size int64, digest string, refetch func() (string, error)) error {
	if done.SHA256 == "" || done.SHA256 == digest {
		return nil
	}
	if info, err := d.Stat(done.File); err == nil && info == nil {
		return nil
	}
	why := errTwoAnswers
	switch {
	case done.Marked:
		why = errMarkMissing
	case isBeginning(d, done, size, digest):
		why = errBeginning
	default:
		second, err := refetch()
		if err != nil || second == digest {
			return err
		}
	}
	return driver.Fail(fetch.OpRead, l, fetch.ErrTruncated, fmt.Errorf("%w; %w", why, errKept))
}

// isBeginning reports whether the copy is longer than size bytes and its first size bytes have the
// given digest.
func isBeginning(d *local.Dir, done ManifestLine, size int64, digest string) bool {
	if size >= done.Size {
		return false
	}
	sum, err := d.Sum(done.File, size)
	return err == nil && sum == digest
}
