package client

import (
	"context"
	"errors"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/fetch"
)

// SizeThere returns the size of a file on its server: 0 if it does not exist, -1 if the server does
// not report it.
func SizeThere(ctx context.Context, r *fetch1738.Resolver, req *fetch.Request) (int64, error) {
	switch found, err := r.FindAttributes(ctx, req); {
	case errors.Is(err, fetch.ErrNotFound):
		return 0, nil
	case errors.Is(err, fetch.ErrUnsupported):
		return -1, nil
	case err != nil:
		return 0, err
	default:
		return found.Size, nil
	}
}

// HasSize fails unless a file on its server has the size want, or more than that and up to most bytes,
// after an upload that began at an offset. Some servers reply 350 to REST and append, or replace the
// file for APPE. A server that does not report the size is not checked.
func HasSize(ctx context.Context, r *fetch1738.Resolver, req *fetch.Request, want, most int64) error {
	size, err := SizeThere(ctx, r, req)
	if err == nil && size >= 0 && (size < want || size > max(want, most)) {
		err = localerr.Errorf(localerr.Partial, "%s has %d bytes instead of %d: another client has written to it, or the server ignores the offset", req.Locator.Redacted(), size, want)
	}
	return err
}

// RefusesListing reports whether an FTP server does not permit the listing of a directory.
func RefusesListing(err error) bool {
	known, ok := errors.AsType[*fetch.Error](err)
	return ok && known.Code >= 500 && (known.Op == "LIST" || known.Op == "NLST" || known.Op == "MLSD")
}
