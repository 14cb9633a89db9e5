package fetch

import "github.com/fetch1738/fetch1738/locator"

// CheckOctets returns an error if l contains an octet that its protocol cannot carry in that place,
// such as an encoded line end. Every Fetcher calls it first, so that no name is looked up for such a
// Locator. The error is an *[Error] of kind [ErrBadURL] that wraps a *[locator.EncodedControl].
func CheckOctets(l locator.Locator) error {
	if err := locator.FindControl(l); err != nil {
		return &Error{Op: OpCheck, URL: l.Redacted(), Kind: ErrBadURL, Section: "6", Err: err}
	}
	return nil
}
