package nntp

import (
	"errors"
	"io"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// fail wraps err for this access. An error of unknown kind becomes ErrConnectionFailed.
func (a *access) fail(op fetch.Op, err error) *fetch.Error {
	e := driver.Fail(op, a.loc, fetch.ErrOther, err)
	e.URL = a.loc.Redacted() // the requested URL, not that of the configured server
	if e.Kind == fetch.ErrOther {
		e.Kind = fetch.ErrConnectionFailed
	}
	return e
}

// bodyFailure wraps the error of a failed read of a block: the data is incomplete.
func (a *access) bodyFailure(op fetch.Op, err error) error {
	switch kind := fetch.KindOf(err); {
	case errors.Is(err, wire.ErrLineTooLong):
		err = &fetch.Error{Kind: fetch.ErrTooLarge, Err: err}
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = &fetch.Error{Kind: fetch.ErrTruncated, Err: errors.New("the connection ended before the final dot")}
	case kind != fetch.ErrTimeout && kind != fetch.ErrCanceled && kind != fetch.ErrTooLarge && kind != fetch.ErrProtocol:
		err = &fetch.Error{Kind: fetch.ErrTruncated, Err: err}
	}
	return a.fail(op, err)
}

// replyFailure returns the error for a failed read of a block that is part of a reply, not of a
// Body.
func replyFailure(err error) error {
	switch err {
	case io.ErrUnexpectedEOF:
		return talk.ErrClosed
	case wire.ErrLineTooLong:
		return &fetch.Error{Kind: fetch.ErrProtocol, Err: err}
	}
	return err
}

// kindOf classifies a negative reply to a command (RFC 3977 §3.2, RFC 4643).
func kindOf(verb fetch.Op, r talk.Reply) fetch.ErrorKind {
	switch r.Code {
	case 400, 403, 436:
		return fetch.ErrBusy
	case 411, 420, 421, 422, 423, 430:
		return fetch.ErrNotFound
	case 412: // no group selected, although the client has selected one
		return fetch.ErrProtocol
	case 435:
		return fetch.ErrExists
	case 437, 440, 502:
		return fetch.ErrPermission
	case 441:
		if strings.Contains(r.Text, "435") || strings.Contains(strings.ToLower(r.Text), "duplicate") {
			return fetch.ErrExists
		}
		return fetch.ErrPermission
	case 480, 481, 482:
		return fetch.ErrUnauthenticated
	case 483: // requires TLS
		return fetch.ErrPermission
	case 401, 500, 501, 503, 580:
		return fetch.ErrUnsupported
	}
	switch {
	case verb == "AUTHINFO":
		return fetch.ErrUnauthenticated
	case r.Class() == 4:
		return fetch.ErrBusy
	}
	return fetch.ErrPermission
}

// isUnsupported reports whether err is a reply that the command is not supported or not permitted.
func isUnsupported(err error) bool {
	var e *fetch.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case 500, 501, 502, 503:
		return true
	}
	return false
}

// code returns the code of the negative reply in err, or 0.
func code(err error) int {
	var e *fetch.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}
