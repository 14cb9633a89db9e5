package prospero

import (
	"errors"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/ardp"
	proto "github.com/fetch1738/fetch1738/internal/prospero"
	"github.com/fetch1738/fetch1738/locator"
)

// failures are the kinds of a server's FAILURE, by its code.
var failures = map[string]fetch.ErrorKind{
	"NOT-FOUND": fetch.NotFound, "NOT-A-DIRECTORY": fetch.NotFound,
	"NOT-AUTHORIZED": fetch.Permission, "AUTHENTICATION-REQUIRED": fetch.Unauthenticated, "AUTHENTICATION-DATA": fetch.Unauthenticated,
	"ALREADY-EXISTS": fetch.Exists, "NAME-CONFLICT": fetch.Exists,
	"SERVER-FAILED": fetch.Busy, "TOO-MANY": fetch.TooLarge,
	"BAD-VALUE": fetch.BadURL, "AMBIGUOUS": fetch.BadURL, "UNIMPLEMENTED": fetch.Unsupported,
}

// kinds are those of the errors of ARDP and of the text.
var kinds = []struct {
	err  error
	kind fetch.ErrorKind
}{
	{ardp.ErrSilent, fetch.Timeout},
	{ardp.ErrRefused, fetch.Unreachable},
	{ardp.ErrFlood, fetch.Protocol},
	{ardp.ErrTooLong, fetch.BadURL},
	{ardp.ErrConflict, fetch.Protocol},
	{ardp.ErrText, fetch.Protocol},
	{ardp.ErrVersion, fetch.Protocol},
	{ardp.ErrHeader, fetch.Protocol},
	{ardp.ErrClosed, fetch.ConnectionFailed},
	{proto.ErrCut, fetch.Truncated},
	{proto.ErrLong, fetch.TooLarge},
	{proto.ErrLine, fetch.Protocol},
}

// fail makes the error of a command.
func (c *call) fail(op fetch.Op, err error) error { return failed(op, c.loc, err) }

func failed(op fetch.Op, l locator.Locator, err error) error {
	if f := (*proto.Failure)(nil); errors.As(err, &f) {
		kind, known := failures[f.Code]
		if !known {
			kind = fetch.Protocol
		}
		return &fetch.Error{Op: op, URL: l.Redacted(), Kind: kind, Reply: f.Error()}
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return fetch.Fail(op, l, k.kind, err)
		}
	}
	return own(fetch.Fail(op, l, fetch.Other, err), l)
}

// own has an error speak of the URL that was asked for, not of one that a
// server led to.
func own(e *fetch.Error, l locator.Locator) *fetch.Error {
	if url := l.Redacted(); e.URL != url {
		e = &fetch.Error{Op: e.Op, URL: url, Kind: e.Kind, Err: e}
	}
	return e
}
