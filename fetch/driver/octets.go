package driver

import (
	"errors"
	"net/url"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// CheckOctets returns an error if l contains an octet that its protocol cannot carry in that place,
// such as an encoded line end. Every Fetcher with a grammar in package locator calls it first, so
// that no name is looked up for such a Locator; that of a [locator.Opaque] calls [Decode]. The error
// is an *[fetch.Error] of kind [fetch.ErrBadURL] that wraps a *[locator.EncodedControl].
func CheckOctets(l locator.Locator) error {
	if err := locator.FindControl(l); err != nil {
		return &fetch.Error{Op: fetch.OpCheck, URL: l.Redacted(), Kind: fetch.ErrBadURL, Section: "6", Err: err}
	}
	return nil
}

// Decode decodes the "%XX" of part of the Path of l, which CheckOctets cannot check: only the
// Fetcher of its scheme knows which parts there are. If part contains CR, LF or NUL, or a "%" that
// begins no octet, the error is an *[fetch.Error] of kind [fetch.ErrBadURL].
func Decode(l *locator.Opaque, part string) (string, error) {
	decoded, err := url.PathUnescape(part)
	if err == nil && strings.ContainsAny(decoded, "\r\n\x00") {
		err = errors.New("the URL contains an encoded CR, LF or NUL")
	}
	if err != nil {
		e := Fail(fetch.OpCheck, l, fetch.ErrBadURL, err)
		e.Section = "6"
		return "", e
	}
	return decoded, nil
}
