package transfer

import (
	"context"
	"errors"
	"math"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// resumeUpload uploads the rest of the source, for -C. It compares the sizes of the source and
// of the file on the server before and after.
func resumeUpload(ctx context.Context, r *Result, req *fetch.Request, body *source) error {
	path, isFTP := req.Locator.(*locator.FTP)
	if isFTP && (path.Type == 'a' || r.Op.FTPSession.CRLF) {
		return localerr.New(localerr.Resume, errors.New("cannot resume an ASCII upload: line-ending conversion changes the size"))
	}
	present, err := client.SizeThere(ctx, r.Resolver, req)
	if err != nil {
		return err
	}
	at := max(present, 0)
	if r.Op.Ask.Resume == plan.ResumeGiven {
		at = r.Op.Ask.ResumeAt
	} else if present < 0 {
		r.Warn("the server does not report the size of the existing file; uploading the whole file")
	}
	whole := body.Size()
	switch {
	case present >= 0 && at > present:
		return localerr.Errorf(localerr.Resume, "the file on the server has only %d bytes; cannot resume at byte %d", present, at)
	case whole >= 0 && at > whole:
		return localerr.Errorf(localerr.Resume, "cannot resume at byte %d: the file to upload has only %d bytes", at, whole)
	case whole >= 0 && at == whole && present == whole && whole > 0:
		return nil // it is complete; an empty source must still create a file (see client.SizeThere)
	}
	if err := body.Skip(at); err != nil {
		return err
	}
	if isFTP && at > 0 && at == present { // APPE, as in curl
		if _, err := r.Resolver.Update(ctx, req, body); err != nil {
			return err
		}
		return client.HasSize(ctx, r.Resolver, req, at+r.Account.Moved.Load(), present)
	}
	req.Offset = at
	if _, err = r.Resolver.Replace(ctx, req, body); err != nil || !isFTP || at == 0 {
		return err
	}
	req.Offset = 0 // of the request for the size
	// The old end of the file may stay.
	return client.HasSize(ctx, r.Resolver, req, at+r.Account.Moved.Load(), present)
}

// appendUpload appends the source to a file, or sends it where there is no other upload, as to a
// newsgroup.
func appendUpload(ctx context.Context, r *Result, req *fetch.Request, body *source) error {
	present := int64(-1)
	if path, isFTP := req.Locator.(*locator.FTP); isFTP && path.Type != 'a' && !r.Op.FTPSession.CRLF {
		if n, err := client.SizeThere(ctx, r.Resolver, req); err == nil {
			present = n
		}
	}
	if _, err := r.Resolver.Update(ctx, req, body); err != nil || present < 0 {
		return err
	}
	// Other clients may append, too.
	return client.HasSize(ctx, r.Resolver, req, present+r.Account.Moved.Load(), math.MaxInt64)
}
