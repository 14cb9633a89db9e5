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

// goOn uploads the rest of the source, for -C. It compares the sizes of the source and
// of the file on the server before and after.
func goOn(ctx context.Context, t *Transfer, req *fetch.Request, body *source.Source) error {
	path, isFTP := req.Locator.(*locator.FTP)
	if isFTP && (path.Type == 'a' || t.Op.FTP.Session.CRLF) {
		return fault.New(fault.Resume, errors.New("cannot resume an ASCII upload: line-ending conversion changes the size"))
	}
	present, err := sizeThere(ctx, t, req)
	if err != nil {
		return err
	}
	at := max(present, 0)
	if t.Op.Ask.Resume == plan.ResumeGiven {
		at = t.Op.Ask.ResumeAt
	} else if present < 0 {
		t.Warn("the server does not report the size of the existing file; uploading the whole file")
	}
	whole := body.Size()
	switch {
	case present >= 0 && at > present:
		return fault.Errorf(fault.Resume, "the file on the server has only %d bytes; cannot resume at byte %d", present, at)
	case whole >= 0 && at > whole:
		return fault.Errorf(fault.Resume, "cannot resume at byte %d: the file to upload has only %d bytes", at, whole)
	case whole >= 0 && at == whole && present == whole && whole > 0:
		return nil // it is complete
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

// sizeThere returns the size of the file on the server: 0 if it does not exist, -1 if the
// server does not report it.
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

// grownTo fails if the file on the server does not have the expected size after the
// upload: another client may have written to it.
func grownTo(ctx context.Context, t *Transfer, req *fetch.Request, want int64) error {
	size, err := sizeThere(ctx, t, req)
	if err == nil && size >= 0 && size != want {
		err = fault.Errorf(fault.Partial, "%s has %d bytes instead of %d: it was changed during the upload", req.Locator.Redacted(), size, want)
	}
	return err
}
