package prospero

import (
	"errors"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/codec/ardp"
	proto "github.com/fetch1738/fetch1738/internal/codec/prospero"
	"github.com/fetch1738/fetch1738/locator"
)

// failures maps the code of a server's FAILURE to an error kind.
var failures = map[string]fetch.ErrorKind{
	"NOT-FOUND": fetch.ErrNotFound, "NOT-A-DIRECTORY": fetch.ErrNotFound,
	"NOT-AUTHORIZED": fetch.ErrPermission, "AUTHENTICATION-REQUIRED": fetch.ErrUnauthenticated, "AUTHENTICATION-DATA": fetch.ErrUnauthenticated,
	"ALREADY-EXISTS": fetch.ErrExists, "NAME-CONFLICT": fetch.ErrExists,
	"SERVER-FAILED": fetch.ErrBusy, "TOO-MANY": fetch.ErrTooLarge,
	"BAD-VALUE": fetch.ErrBadURL, "AMBIGUOUS": fetch.ErrBadURL, "UNIMPLEMENTED": fetch.ErrUnsupported,
}

// kinds maps the errors of packages ardp and internal/codec/prospero to error kinds.
var kinds = []struct {
	err  error
	kind fetch.ErrorKind
}{
	{ardp.ErrSilent, fetch.ErrTimeout},
	{ardp.ErrRefused, fetch.ErrUnreachable},
	{ardp.ErrFlood, fetch.ErrProtocol},
	{ardp.ErrTooLong, fetch.ErrBadURL},
	{ardp.ErrConflict, fetch.ErrProtocol},
	{ardp.ErrText, fetch.ErrProtocol},
	{ardp.ErrVersion, fetch.ErrProtocol},
	{ardp.ErrHeader, fetch.ErrProtocol},
	{ardp.ErrClosed, fetch.ErrConnectionFailed},
	{proto.ErrCut, fetch.ErrTruncated},
	{proto.ErrLong, fetch.ErrTooLarge},
	{proto.ErrLine, fetch.ErrProtocol},
}

// fail wraps the error of a command.
func (c *call) fail(op fetch.Op, err error) error { return wrapError(op, c.loc, err) }

// wrapError wraps the error of a request about l, and determines its kind.
func wrapError(op fetch.Op, l locator.Locator, err error) error {
	if f := (*proto.Failure)(nil); errors.As(err, &f) {
		kind, known := failures[f.Code]
		if !known {
			kind = fetch.ErrProtocol
		}
		return &fetch.Error{Op: op, URL: l.Redacted(), Kind: kind, Reply: f.Error()}
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return driver.Fail(op, l, k.kind, err)
		}
	}
	return forURL(driver.Fail(op, l, fetch.ErrOther, err), l)
}

// forURL makes an error name the requested URL instead of one that a server led to.
func forURL(e *fetch.Error, l locator.Locator) *fetch.Error {
	if url := l.Redacted(); e.URL != url {
		e = &fetch.Error{Op: e.Op, URL: url, Kind: e.Kind, Err: e}
	}
	return e
}
