package transfer

import (
	"context"
	"errors"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/source"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// goOn uploads what is missing of the source, for -C. The server is asked how
// much there is, before and after: what is put behind it must fit.
func goOn(ctx context.Context, t *Transfer, req *fetch.Request, body *source.Source) error {
	path, isFTP := req.Locator.(*locator.FTP)
	if isFTP && (path.Type == 'a' || t.Op.FTP.Session.CRLF) {
		return fault.New(fault.Resume, errors.New("an upload of text cannot be gone on with: it has one size here and another there"))
	}
	present, err := sizeThere(ctx, t, req)
	if err != nil {
		return err
	}
	at := present
	if t.Op.Ask.Resume == plan.ResumeGiven {
		at = t.Op.Ask.ResumeAt
	}
	whole := body.Size()
	switch {
	case at < 0:
		return fetch.Fail(fetch.OpAttributes, req.Locator, fetch.ErrBadRange, errors.New("the server does not tell the size of what is there"))
	case present >= 0 && at > present:
		return fault.Errorf(fault.Resume, "there are only %d octets, not %d, to put the rest behind", present, at)
	case whole >= 0 && at > whole:
		return fault.Errorf(fault.Resume, "there are %d octets already, and only %d to upload", at, whole)
	case whole >= 0 && at == whole && present == whole && whole > 0:
		return nil // it is there
	}
	if err := body.Skip(at); err != nil {
		return err
	}
	if isFTP && at > 0 && at == present {
		if _, err := t.Resolver.Update(ctx, req, body); err != nil {
			return err
		}
		return grownTo(ctx, t, req, at+t.Account.Moved.Load())
	}
	req.Offset = at
	_, err = t.Resolver.Replace(ctx, req, body)
	return err
}

// sizeThere is the size of what is there: 0 where there is nothing, -1 where
// that is not told.
func sizeThere(ctx context.Context, t *Transfer, req *fetch.Request) (int64, error) {
	switch found, err := t.Resolver.FindAttributes(ctx, req); {
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

// grownTo wants what was appended to end where it should: somebody else may have
// written to the file in the meantime.
func grownTo(ctx context.Context, t *Transfer, req *fetch.Request, want int64) error {
	size, err := sizeThere(ctx, t, req)
	if err == nil && size >= 0 && size != want {
		err = fault.Errorf(fault.Partial, "%s has %d octets and should have %d: it was changed in the meantime", req.Locator.Redacted(), size, want)
	}
	return err
}
