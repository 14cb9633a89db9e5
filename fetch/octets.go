package fetch

import "github.com/fetch1738/fetch1738/locator"

// CheckOctets refuses a Locator with an octet that its protocol cannot carry in
// that place. Every Fetcher calls it before anything else; nothing is looked up
// or dialled for a locator that fails. The error is an *[Error] of kind
// [ErrBadURL] around a *[locator.EncodedControl].
func CheckOctets(l locator.Locator) error {
	if err := locator.CheckOctets(l); err != nil {
		return &Error{Op: OpCheck, URL: l.Redacted(), Kind: ErrBadURL, Section: "6", Err: err}
	}
	return nil
}
