package gateway

import (
	"errors"
	"slices"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
)

// After a URL of FTP has failed, the server is asked whether it has what another spelling names: a
// directory without its slash, or a file whose name ends like a type code.

// respelt returns the URL that the client should have asked for instead of the Locator, whose access has
// failed with err; nil if the server has no such thing.
func (v documentPages) respelt(err error) locator.Locator {
	if e, ok := errors.AsType[*fetch.Error](err); ok && e.Op == "RETR" && e.Code/100 == 5 { // it may be a directory
		if dir := v.folder(); dir != nil {
			return dir
		}
	}
	return v.withType(err)
}

// folder asks the server of the Locator whether the file is a directory. If so, it returns the URL with a
// slash behind it, otherwise nil.
func (v documentPages) folder() locator.Locator {
	l, ok := v.req.loc.(*locator.FTP)
	if !ok || !place.IsDocument(l) {
		return nil
	}
	dir := *l
	dir.CWD, dir.Name, dir.Type = append(slices.Clone(l.CWD), l.Name), "", 0
	return v.present(&dir)
}

// withType returns the URL of the file whose name ends in what was taken for the type code of FTP,
// such as ";type=a", if there is such a file and err says that there is no other; otherwise nil.
func (v documentPages) withType(err error) locator.Locator {
	l, ok := v.req.loc.(*locator.FTP)
	if !ok || l.Type == 0 || v.req.native || fetch.KindOf(err) != fetch.ErrNotFound {
		return nil
	}
	file := *l
	file.Name, file.Type = l.Name+";type="+string(l.Type), 0
	return v.present(&file)
}

// present asks the server whether it has l, and returns l or nil.
func (v documentPages) present(l locator.Locator) locator.Locator {
	req := v.up.request(l)
	if _, err := v.up.attributes(req); err != nil {
		return nil
	}
	return l
}
