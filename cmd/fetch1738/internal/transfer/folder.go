package transfer

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// A Folder says whether a file that an FTP server refused is a directory.
type Folder int

// The values.
const (
	NoFolder    Folder = iota
	MaybeFolder        // the server could not be asked
	IsFolder
)

// folderLimit is the time limit of findFolder.
const folderLimit = 5 * time.Second

// findFolder finds out, by CWD, whether a file that an FTP server refused is a
// directory. It is for a hint only, and does nothing if there would be none.
func findFolder(ctx context.Context, t *Transfer, err error) {
	refused, ok := errors.AsType[*fetch.Error](err)
	path, isFTP := t.Locator.(*locator.FTP)
	switch {
	case !ok || t.Op.Silent || !isFTP || path.Name == "":
		return
	case refused.Code != 550 && refused.Code != 553, !slices.Contains([]fetch.Op{"RETR", "SIZE", "STOR", "APPE"}, refused.Op):
		return
	case t.Gateway() != "" || t.AskedProxy(t.Locator) != nil:
		return
	}
	t.Folder = MaybeFolder
	req, err := client.Request(t.Op, t.AsFolder())
	if err != nil || len(t.Op.FTP.Quotes) > 0 { // must not be sent twice
		return
	}
	ctx, cancel := context.WithTimeout(traced(ctx, t), folderLimit)
	defer cancel()
	switch _, err := t.Resolver.FindAttributes(ctx, req); {
	case err == nil:
		t.Folder = IsFolder
	case errors.As(err, &refused) && refused.Code >= 500:
		t.Folder = NoFolder
	}
}
