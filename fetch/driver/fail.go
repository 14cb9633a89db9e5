package driver

import (
	"errors"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// Fail returns the *[fetch.Error] of a failed operation on l, which may be nil. If err is or
// wraps an *Error, Fail returns a copy of that, with Op and URL filled in where they
// are missing. Else, if kind is ErrOther, the kind is derived from err (see [fetch.KindOf]).
func Fail(op fetch.Op, l locator.Locator, kind fetch.ErrorKind, err error) *fetch.Error {
	var e *fetch.Error
	if errors.As(err, &e) {
		c := *e
		if c.Op == "" {
			c.Op = op
		}
		if c.URL == "" && l != nil {
			c.URL = l.Redacted()
		}
		return &c
	}
	e = &fetch.Error{Op: op, Kind: kind, Err: err}
	if l != nil {
		e.URL = l.Redacted()
	}
	if kind == fetch.ErrOther {
		e.Kind = fetch.KindOf(err)
	}
	return e
}
