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

// findFolder finds out, by CWD, whether a file that an FTP server refused with err is a
// directory. It is for a hint only, and does nothing if there would be none.
func findFolder(ctx context.Context, c *client.Call, err error) Folder {
	refused, ok := errors.AsType[*fetch.Error](err)
	path, isFTP := c.Locator.(*locator.FTP)
	switch {
	case !ok || c.Op.Silent || !isFTP || path.Name == "":
		return NoFolder
	case refused.Code != 550 && refused.Code != 553, !slices.Contains([]fetch.Op{"RETR", "SIZE", "STOR", "APPE"}, refused.Op):
		return NoFolder
	case c.Op.Gateways[path.Scheme()] != "" || c.AskedProxy(path) != nil:
		return NoFolder
	}
	req, err := client.Request(c.Op, c.AsFolder())
	if err != nil || len(c.Op.FTP.Quotes) > 0 { // must not be sent twice
		return MaybeFolder
	}
	ctx, cancel := context.WithTimeout(ctx, folderLimit)
	defer cancel()
	switch _, err := c.Resolver.FindAttributes(ctx, req); {
	case err == nil:
		return IsFolder
	case errors.As(err, &refused) && refused.Code >= 500:
		return NoFolder
	}
	return MaybeFolder
}
