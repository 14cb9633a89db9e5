package driver

import (
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// CheckOctets returns an error if l contains an octet that its protocol cannot carry in that place,
// such as an encoded line end. Every Fetcher calls it first, so that no name is looked up for such
// a Locator. The error is an *[fetch.Error] of kind [fetch.ErrBadURL] that wraps a
// *[locator.EncodedControl].
func CheckOctets(l locator.Locator) error {
	if err := locator.FindControl(l); err != nil {
		return &fetch.Error{Op: fetch.OpCheck, URL: l.Redacted(), Kind: fetch.ErrBadURL, Section: "6", Err: err}
	}
	return nil
}
